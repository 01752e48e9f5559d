/*
 * What is compared with what: the files, ranges and threads of the two sides, for `prof diff`, `prof check` and `prof
 * load` with several files.
 */
#pragma once

#include "cmd/common/symbol_options.h"

#include "base/array.h"
#include "tree/compared.h"

#include <stdbool.h>

struct compared_side {
    ARRAY(const char *) files;
    ARRAY(const char *) threads; /* arguments of --base-thread, --new-thread */
    double from, to;             /* seconds after the start: --base-range, --new-range; NAN: none */
};

struct comparing {
    struct compared_side sides[PROFILE_SIDES];
    unsigned forgiven; /* of enum forgiven */
    enum compare_by by;
    const char *by_function;
};

#define COMPARING_DEFAULTS                                                                                             \
    {                                                                                                                  \
        .sides = { {.from = NAN, .to = NAN}, {.from = NAN, .to = NAN} }                                                \
    }

enum { OPTION_BY = 3000, OPTION_FORGIVE, OPTION_BASE_RANGE, OPTION_NEW_RANGE, OPTION_BASE_THREAD, OPTION_NEW_THREAD };
#define COMPARING_OPTIONS                                                                                              \
    {"by", required_argument, NULL, OPTION_BY}, {"forgive", required_argument, NULL, OPTION_FORGIVE},                  \
        {"base-range", required_argument, NULL, OPTION_BASE_RANGE},                                                    \
        {"new-range", required_argument, NULL, OPTION_NEW_RANGE},                                                      \
        {"base-thread", required_argument, NULL, OPTION_BASE_THREAD},                                                  \
    {                                                                                                                  \
        "new-thread", required_argument, NULL, OPTION_NEW_THREAD                                                       \
    }

/* Parses one of these options. Returns 0, or the exit status after a message; -1 if it is another one. */
int comparing_parse_option(struct comparing *comparing, const char *command, int option, const char *value);

/* How many of the arguments stand after "--", which getopt_long() leaves no trace of: call it before that. */
int comparing_count_after(int argc, char **argv);

/* Distributes the files that the command line names on the sides: BASE NEW, or BASE... -- NEW..., or one file of which
 * two ranges or groups of threads are compared. Returns 0, or the exit status after a message. */
int comparing_choose_files(struct comparing *comparing, const char *command, int count, char **files, int after);

/* Loads them all, and makes the comparison, with its scale. `symbols` is open and stays so. Returns 0, or the exit
 * status after a message. */
int comparing_load(const struct comparing *comparing, struct symbol_options *symbols, bool no_cache,
                   struct profile *out);

void comparing_destroy(struct comparing *comparing);
