/*
 * The files, ranges and threads of the two sides of a comparison, for `prof diff`, `prof check` and `prof load` with
 * several files.
 */
#pragma once

#include "cmd/common/symbol_options.h"

#include "base/array.h"
#include "tree/compared.h"

struct compared_side {
    ARRAY(const char *) files;
    struct option_texts threads; /* arguments of --base-thread, --new-thread */
    double from, to;             /* seconds after the start: --base-range, --new-range, or NAN for none */
};

struct comparing {
    struct compared_side sides[PROFILE_SIDES];
    unsigned forgiven; /* of enum forgiven */
    enum compare_by by;
    const char *by_function;
    bool splits; /* --slowest divides one file into both sides. The caller of comparing_choose_files() sets `splits` for
                  * --slowest, and the function unsets it for two files. */
    bool has_markers; /* a side counts its markers (--base-markers, --new-markers) */
};

#define COMPARING_DEFAULTS                                                                                             \
    {                                                                                                                  \
        .sides = { {.from = NAN, .to = NAN}, {.from = NAN, .to = NAN} }                                                \
    }

extern const struct option_row comparing_option_rows[];

/* Counts the arguments after "--". Call this function before getopt_long(), which removes the "--". */
int comparing_count_new_files(int argc, char **argv);

/* Assigns the files of the command line to the two sides: BASE NEW, or BASE... -- NEW..., or one file for both sides,
 * with two ranges or two groups of threads. Returns 0, or the exit status after a message. */
int comparing_choose_files(struct comparing *comparing, const char *command, int count, char **files, int after);

/* Loads all files, and makes the scaled comparison. `symbols` is open and stays open. Returns 0, or the exit status
 * after a message. */
int comparing_load(const struct comparing *comparing, struct symbol_options *symbols, bool no_cache,
                   struct profile *out);

void comparing_destroy(struct comparing *comparing);
