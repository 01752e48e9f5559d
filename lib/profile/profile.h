/*
 * A profile in memory: the tables of the Firefox Profiler's processed format, version 70, in columns.
 *
 * All threads share one stack, frame and func table. A stack is a (prefix, frame) pair whose prefix comes earlier in
 * the table, so a pass from first to last visits callers before callees. A frame is an address (or a source line) in a
 * func; each inline call is a frame at the same address. A func is a name in a library: call trees merge by func. Texts
 * are indexes into `strings`.
 *
 * profile_reader_feed() fills the tables from JSON, and the assembler from a recording. lib/tree reads the tables, and
 * profile_write() saves them.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "base/strings.h"

#define PROFILE_NONE           UINT32_MAX /* no index, in all index columns */
#define PROFILE_VERSION        70         /* format version that prof writes */
#define PROFILE_NEWEST_VERSION 75         /* newest format version that prof fully supports */
#define PROFILE_OLDEST_VERSION 1          /* oldest supported version */

/* ---- shared tables; every column of a table has `length` entries ---- */

struct stack_table {
    uint32_t *prefix; /* the caller's stack, whose index is smaller, or PROFILE_NONE for roots */
    uint32_t *frame;
    size_t length, capacity;
};

struct frame_table {
    int64_t *address;      /* library-relative, or -1 for none */
    uint32_t *lib;         /* index into libs, or PROFILE_NONE */
    uint8_t *inline_depth; /* 0: the physical frame; 1 and up: inlined calls at the same address */
    uint32_t *category;    /* PROFILE_NONE: category of the caller */
    uint32_t *subcategory; /* PROFILE_NONE if and only if category is PROFILE_NONE */
    uint32_t *func;
    uint32_t *native_symbol; /* PROFILE_NONE */
    uint32_t *line, *column; /* 1-based; 0 unknown */
    size_t length, capacity;
};

enum func_flags { FUNC_IS_JS = 1, FUNC_RELEVANT_FOR_JS = 2 };

struct func_table {
    uint32_t *name;          /* string */
    uint32_t *resource;      /* PROFILE_NONE */
    uint32_t *source;        /* index into sources, or PROFILE_NONE */
    uint32_t *line, *column; /* line of the declaration, 1-based; 0 unknown */
    uint8_t *flags;          /* enum func_flags */
    size_t length, capacity;
};

struct resource {
    uint32_t name; /* string */
    uint32_t host; /* string, or PROFILE_NONE */
    uint32_t type; /* 0 unknown, 1 library, 2 add-on, 3 web host, 4 other host, 5 URL */
};

struct native_symbol {
    uint32_t lib;
    int64_t address; /* library-relative start */
    uint32_t name;   /* string */
    uint32_t size;   /* bytes; 0 unknown */
};

struct source {
    uint32_t filename; /* string */
    uint32_t id;       /* string, or PROFILE_NONE: for scripts only */
    uint32_t start_line, start_column;
    uint32_t content;        /* string with the whole text of the file, or PROFILE_NONE */
    uint32_t source_map_url; /* string, or PROFILE_NONE */
};

struct library { /* texts are strings; PROFILE_NONE where the file has null */
    uint32_t arch, name, path, debug_name, debug_path, breakpad_id, code_id;
};

struct category {
    uint32_t name, color;          /* strings */
    ARRAY(uint32_t) subcategories; /* strings; [0] is "Other" */
};

/* ---- threads ---- */

enum weight_type { WEIGHT_SAMPLES, WEIGHT_TRACING_MS, WEIGHT_BYTES };

struct sample_table {
    uint32_t *stack;   /* PROFILE_NONE: no stack */
    double *time;      /* ms after meta.start_time, non-decreasing */
    double *weight;    /* if NULL, the weight of each sample is 1 */
    double *cpu_delta; /* CPU time since the previous sample, in µs, or NAN if unknown, or NULL for no such column */
    uint32_t *waker;   /* waker of the wait that ends at the row: string, or PROFILE_NONE (unknown, or the row ends no
                          wait); NULL for no such column */
    uint32_t *waker_stack; /* stack of `waker` at the moment of the wakeup, or PROFILE_NONE; NULL for no such column */
    double *address;       /* address of an allocation, or NAN if unknown, or NULL for no such column */
    uint32_t *partner;     /* row of the matching deallocation or allocation, or PROFILE_NONE if unknown, or NULL if and
                            * only if `address` is NULL */
    enum weight_type weight_type;
    size_t length;
    size_t capacity; /* allocated rows of the columns, or 0 (`length`) */
    size_t joins;    /* in a part of a growing profile (append.h): 1 + the number of the part's first row in the whole
                        table, or 0 for no rows */
};

enum { PROFILE_EVENTS_MAX = 16 };

/* The sample tables of a thread. Weights of allocations are bytes, negative for native deallocations. The table of
 * event `i` of meta.events is TABLE_EVENTS + i; the weights of this table are the numbers of events for which the
 * samples stand. */
enum sample_table_kind {
    TABLE_SAMPLES,
    TABLE_JS_ALLOCATIONS,
    TABLE_NATIVE_ALLOCATIONS,
    TABLE_EVENTS,
    SAMPLE_TABLES = TABLE_EVENTS + PROFILE_EVENTS_MAX
};

/* The times in which a thread ran on one CPU, sorted by start. Only prof writes and reads slices (cpuSlices). */
struct slice_table {
    uint32_t *cpu;
    double *start, *end; /* ms */
    double *off_cpu;     /* ms between start and end in which the thread was off the CPU */
    size_t length, capacity;
};

/* Markers with unparsed payloads: data[i] is the payload's JSON text (string index), or PROFILE_NONE. */
struct marker_table {
    uint32_t *name;
    double *start, *end; /* ms, or NAN if unused */
    uint8_t *phase;      /* 0 instant, 1 interval, 2 interval start, 3 interval end */
    uint32_t *category;
    uint32_t *data;
    size_t length;
};

/* A pause of the recording. */
struct paused_range {
    double start, end; /* ms; infinite: the start or the end of the recording */
    uint32_t reason;   /* string: "profiler-paused", "collecting", or PROFILE_NONE */
};

/* The sides of a comparison (compare.h). */
enum profile_side { SIDE_BASE, SIDE_NEW, PROFILE_SIDES };

struct thread {
    uint32_t name;         /* string */
    uint32_t process_name; /* string, or PROFILE_NONE */
    uint32_t process_type; /* string */
    uint32_t pid;          /* string: "123", "123.1" */
    uint32_t tid;          /* string: number or text, as in the file */
    bool is_main;
    double process_start, process_end; /* ms, or NAN (null) */
    double start, end;                 /* register and unregister time, ms, or NAN (null) */
    ARRAY(struct paused_range) paused; /* paused ranges sorted by start, without overlaps */
    uint32_t side, run;                /* for a comparison, enum profile_side, and the number of the run on this side */
    struct sample_table samples;
    ARRAY(struct sample_table) more; /* TABLE_JS_ALLOCATIONS and later tables; empty if the thread has no such tables */
    struct slice_table slices;
    struct marker_table markers;
};

struct counter {
    uint32_t name, category, description, pid; /* strings */
    uint32_t main_thread;                      /* thread index */
    double *time, *count;                      /* ms; change since the previous sample; CPU time as in cpu_delta */
    size_t length;
    uint32_t json; /* string: the whole `display` object, or PROFILE_NONE */
};

/* ---- meta ---- */

struct extra_entry {
    uint32_t label, format, value; /* strings; value is JSON text ("12", "\"abc\"") */
};

struct extra_section { /* a block of the info panel */
    uint32_t label;
    ARRAY(struct extra_entry) entries;
};

ARRAY_TYPE(struct extra_sections, struct extra_section);

ARRAY_TYPE(struct thread_list, uint32_t); /* indexes */

/* Row counts of the shared tables. */
struct profile_rows {
    size_t stacks, frames, funcs, resources, native_symbols, sources;
};

/* A sampled event other than CPU time: meta.sampledEvents of the file, and eventSamples of its threads. Only prof
 * writes and reads events; other readers ignore them. */
struct profile_event {
    uint32_t name; /* string: "page-faults", "sched:sched_switch"; also the unit of the weights */
    double period; /* occurrences per sample, or 0 (the sampling frequency of CPU time) */
};

/* A comparison: a profile whose threads belong to two sides. Stored in meta.comparison of the file; other readers show
 * the threads of both sides. */
struct profile_comparison {
    uint32_t name[PROFILE_SIDES]; /* strings: for people */
    uint32_t runs[PROFILE_SIDES]; /* number of runs of the side, or 0 (the profile is no comparison) */
    double scale;                 /* factor for the new side */
    uint32_t scaled_by;           /* string: the counter by which `scale` makes the sides equal, or PROFILE_NONE for
                                   * none */
    bool is_one_after_other;      /* one side was recorded entirely before the other side; "oneAfterOther" */
};

struct profile_meta {
    uint32_t version;                      /* preprocessedProfileVersion of the file that was read */
    double interval;                       /* ms */
    double start_time;                     /* ms since the Unix epoch: time 0 of the profile */
    double profiling_start, profiling_end; /* ms, or NAN if the file lacks the time */
    uint32_t product, os, abi, platform, cpu_name, arguments, imported_from, misc; /* strings, or PROFILE_NONE */
    uint32_t physical_cpus, logical_cpus;                                          /* 0 unknown */
    uint64_t main_memory;                                                          /* bytes; 0 unknown */
    int symbolicated;                                                              /* 1 yes, 0 no, -1 unknown */
    bool has_cpu_delta; /* the file has sampleUnits: cpu_delta columns, and counters of category "CPU", are in µs */
    uint64_t monotonic_start_ns; /* CLOCK_MONOTONIC at start_time; 0 unknown */
    uint32_t marker_schema;      /* string: the JSON text of markerSchema, PROFILE_NONE for [] */
    uint32_t kept_strings;       /* leading strings with the same index as in the file, for marker payloads */
    uint32_t warning; /* string: a warning for the user about unknown parts of the file, or PROFILE_NONE; in a
                       * comparison's file, meta.comparison.warning */
    struct thread_list initial_visible_threads, initial_selected_threads;
    struct extra_sections extra;
    ARRAY(struct profile_event) events; /* at most PROFILE_EVENTS_MAX */
    bool has_only_events;               /* CPU time was only counted, not sampled (sampledEventsOnly) */
    bool has_no_times; /* the imported file has no times: sample times are only an order (timesAreOrder) */
    /* In a growing profile (append.h), the start of this part in the added data, or 0 for the whole profile. */
    uint64_t added_from;
    uint32_t added_next;             /* string: request for the next part, or PROFILE_NONE (the profile does not
                                      * grow) */
    struct profile_rows rows_before; /* in a part of a growing profile: rows of the shared tables before this part */
    struct profile_comparison comparison;
};

struct profile {
    struct profile_meta meta;
    struct strings strings;
    ARRAY(struct library) libs;
    ARRAY(struct category) categories;
    struct stack_table stacks;
    struct frame_table frames;
    struct func_table funcs;
    ARRAY(struct resource) resources;
    ARRAY(struct native_symbol) native_symbols;
    ARRAY(struct source) sources;
    ARRAY(struct thread) threads;
    ARRAY(struct counter) counters;
};

/* Makes an empty profile with unknown metadata (a zeroed struct is also empty, but its meta texts are string 0). Free
 * the profile with profile_destroy(), which leaves an empty profile. */
void profile_init(struct profile *profile);
void profile_destroy(struct profile *profile);

/* Clears threads, counters and metadata; keeps the shared tables. */
void profile_forget_description(struct profile *profile);

/* Append a row and return its index, or PROFILE_NONE if memory ran out; set other columns to "none". The functions of
 * intern.h first search for an equal row. */

uint32_t profile_add_stack(struct profile *profile, uint32_t prefix, uint32_t frame);
uint32_t profile_add_frame(struct profile *profile, uint32_t func, uint32_t lib, int64_t address);
uint32_t profile_add_func(struct profile *profile, uint32_t name, uint32_t resource);
struct thread *profile_add_thread(struct profile *profile); /* NULL if memory ran out; valid until the next call */

/* ---- rows of all shared tables ---- */

struct profile_rows profile_count_rows(const struct profile *profile);

/* Returns the rows after `from`, and all strings, without threads and metadata. The result borrows all columns from
 * `profile`. */
struct profile profile_borrow_rows(const struct profile *profile, const struct profile_rows *from);

/* Reserves room for `extra` more rows. False if memory ran out. */
bool profile_reserve_rows(struct profile *profile, const struct profile_rows *extra);

/* Appends the rows of `from`, which uses the strings of `profile`, to `profile`. Returns false, with no row moved, if
 * memory ran out. */
bool profile_append_rows(struct profile *profile, struct profile *from);

/* Swaps only the shared tables of two profiles. */
void profile_swap_rows(struct profile *left, struct profile *right);

uint32_t profile_add_category(struct profile *profile, const char *name, const char *color);

/* Returns the category of frames without a category: the first grey category, else 0. */
uint32_t profile_find_default_category(const struct profile *profile);

/* Checks every index, order and length on which the engine relies (profile-format: parents before children, indexes in
 * range, times non-decreasing, at least one thread). Returns 0, or -EINVAL with the first violation. */
int profile_check(const struct profile *profile, struct error *err);

/* Checks only the shared tables, from stacks to sources. */
int profile_check_tables(const struct profile *profile, struct error *err);

/* Returns the text of a string; "" for PROFILE_NONE. */
static inline const char *profile_text(const struct profile *profile, uint32_t string)
{
    return string < profile->strings.entries.length ? strings_text(&profile->strings, string) : "";
}

/* Returns the name of a function's library, or "" for none. */
static inline const char *get_func_library_name(const struct profile *profile, uint32_t func)
{
    uint32_t library = profile->funcs.resource[func];
    return library < profile->resources.length ? profile_text(profile, profile->resources.data[library].name) : "";
}

/* Returns the name of a thread; `thread` is its row. */
static inline const char *profile_thread_name(const struct profile *profile, uint32_t thread)
{
    return profile_text(profile, profile->threads.data[thread].name);
}

/* Free the columns of a table. */
void sample_table_free(struct sample_table *table);
void slice_table_free(struct slice_table *table);
/* The destroy functions leave empty structs. */
void thread_destroy(struct thread *thread);
void counter_destroy(struct counter *counter);

static inline bool profile_is_comparison(const struct profile *profile)
{
    return profile->meta.comparison.runs[SIDE_BASE] > 0;
}

/* Returns the sample table of a thread and kind; an empty table if the thread has none. */
const struct sample_table *thread_samples(const struct thread *thread, enum sample_table_kind kind);

/* Returns whether a function's name is only its address, "0x1f". */
static inline bool profile_is_address(const char *name)
{
    return strncmp(name, "0x", 2) == 0 && name[2] && strspn(name + 2, "0123456789abcdefABCDEF") == strlen(name + 2);
}
