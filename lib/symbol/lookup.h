/*
 * The lookup of one library's addresses, split into steps that different threads can run:
 *
 *     lookup_open_files   finds the files
 *     lookup_open         finds the compile units that contain the addresses
 *     lookup_symbols      matches symbol tables           \ these run in parallel
 *     lookup_unit         reads one compile unit          /
 *     lookup_answer       composes the answers
 *     lookup_describe_problems     reports missing symbols
 *     lookup_close
 */
#pragma once

#include "symbol/debug_file.h"
#include "symbol/dwarf_file.h"
#include "symbol/dwarf_frames.h"
#include "symbol/dwarf_split.h"
#include "symbol/kallsyms.h"
#include "symbol/symbol.h"
#include "symbol/symbol_table.h"

#include <stdatomic.h>

/* The symbol-table answer for an address. Texts are in lookup.arena, or NULL. */
struct lookup_symbol {
    const char *symbol;   /* demangled */
    const char *function; /* function name: the symbol without suffixes of compilers */
    uint64_t start, size;
    uint64_t from, to; /* range of rvas around the address with the same symbol-table answer; 0, 0: unknown */
};

/* A compile unit with requested addresses, or with a part of these addresses if several threads share a large unit. */
struct lookup_unit {
    uint32_t unit;
    size_t first, count;        /* range of the unit's addresses in lookup.by_unit */
    struct dwarf_frames frames; /* per address */
    enum dwarf_verdict verdict;
    const char *problem; /* reason why the unit's split debug info is missing, or NULL; in the arena of the frames */
};

struct lookup {
    const struct symbol_lib *lib;
    struct symbol_job *job;
    enum symbol_reader reader; /* set before lookup_open() */
    bool with_lines;           /* false if symbol tables are the only source of names */
    const atomic_bool *stop;   /* may be NULL; once true, reading stops early */
    unsigned threads;          /* number of threads that read units */
    struct debug_files files;
    struct dwarf_file dwarf, alternate;
    struct dwarf_split_file package; /* if has_package */
    bool has_package;
    uint64_t dwarf_base; /* vaddr of rva 0 in the file with the DWARF */
    uint32_t *by_unit;   /* indexes of addresses, grouped by unit, in ascending order */
    ARRAY(struct lookup_unit) units;
    /* frames of a Go program: per address, with frames only for addresses that no unit contains */
    struct dwarf_frames go;
    /* per address, with frames only for addresses that prof's own reader declined, or empty */
    struct dwarf_frames libdw;
    struct lookup_symbol *symbols; /* per address */
    _Atomic uint64_t work_left;    /* work budget of all units: see dwarf_count_work() */
    atomic_bool has_split_units;
    struct arena arena;
    enum dwarf_verdict file_verdict; /* verdict of the file with the debug info */
    char problem[256];
};

/* `lib` and `search` (NULL: the system's directories) must outlive the lookup. */
void lookup_open_files(struct lookup *lookup, const struct symbol_lib *lib, const struct debug_search *search);

/* `job` must be for the same library. */
int lookup_open(struct lookup *lookup, struct symbol_job *job, bool with_dwarf, struct error *err);
int lookup_match_symbols(struct lookup *lookup, const struct kallsyms *kallsyms, struct error *err);
int lookup_read_unit(struct lookup *lookup, size_t index, struct error *err);

/* Finds the file in which the function of an address begins, for units whose split debug info (with the inlined
 * functions) is missing. `files` has an element for each address of the job, which is NULL or a text in the arena of
 * a unit's frames. */
int lookup_find_function_files(struct lookup *lookup, const char **files, struct error *err);

/* Part of lookup_match_symbols(): reads a Go program's own table for addresses without a symbol or unit. */
int lookup_read_go_table(struct lookup *lookup, struct error *err);

/* Called by lookup_fill_answers(). libdw reads the units that prof's own reader declined. */
int lookup_read_with_libdw(struct lookup *lookup, struct error *err);

int lookup_fill_answers(struct lookup *lookup, struct error *err);

/* Sets answers->problem: a failure, or the reason that the answers lack names or lines. `answers` may belong to more
 * addresses than the job. */
void lookup_describe_problems(struct lookup *lookup, struct symbol_answers *answers);

/* After lookup_fill_answers(): the address ranges that share the answer of each of the job's addresses, as starts and
 * sizes without overlaps. Size 0: the range before covers the address. */
void lookup_find_valid_ranges(const struct lookup *lookup, uint64_t *starts, uint32_t *sizes);

void lookup_close(struct lookup *lookup);

/* Returns the source text that the debug info of the hit units embeds: see dwarf_lines_load_source(). */
char *lookup_find_embedded_source(const struct lookup *lookup, const char *file, size_t *length);

/* Return the estimated cost of lookup_match_symbols() and lookup_read_unit() in bytes to read, so that the longest call
 * starts first. */
uint64_t lookup_estimate_symbols_cost(const struct lookup *lookup);
uint64_t lookup_get_unit_size(const struct lookup *lookup, const struct lookup_unit *unit);
