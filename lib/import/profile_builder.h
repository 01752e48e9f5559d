/*
 * Shared by all importers: a profile to which importers add frames, stacks, samples and markers in any order of threads
 * and times. profile_builder_finish() sorts the samples, assigns times in files without times, and checks the result.
 * Functions that add an item return its index; `text` need not end with a NUL. Once memory runs out, these functions
 * set `no_memory`, add nothing, and return PROFILE_NONE; importer_read() then fails.
 */
#pragma once

#include "import/json_tree.h"
#include "profile/intern.h"

struct builder_text {
    const char *text;
    size_t length;
};

static inline struct builder_text builder_text(const char *text)
{
    return (struct builder_text){text, strlen(text)};
}

/* Returns "" if the node is no string. */
static inline struct builder_text builder_get_json_text(const struct json_tree *tree, uint32_t node)
{
    const struct string_entry *text = json_tree_get_text(tree, node);
    return text ? (struct builder_text){text->text, text->length} : (struct builder_text){"", 0};
}

static inline bool builder_text_is(struct builder_text text, const char *wanted)
{
    return text.length == strlen(wanted) && memcmp(text.text, wanted, text.length) == 0;
}

struct builder_rows { /* the rows of one sample table */
    ARRAY(uint32_t) stack;
    ARRAY(double) time, weight;
};

struct builder_marker {
    uint32_t name, category, data; /* data: payload as JSON (string), or PROFILE_NONE */
    uint8_t phase;
    double start, end; /* ms, or NAN if unused; in files without times, start is a row of the main samples */
    size_t place;      /* internal: index among the thread's markers */
};

struct builder_thread {
    uint64_t pid, tid;
    uint32_t asked_name;               /* name by which builder_add_thread() finds the thread */
    uint32_t name, process_name;       /* strings, or PROFILE_NONE */
    ARRAY(struct builder_rows) tables; /* tables of the main samples, then of each event of meta.events */
    ARRAY(struct builder_marker) markers;
    bool is_empty; /* internal: the thread is omitted */
};

enum { BUILDER_COUNTERS_MAX = 256 };

struct builder_level {
    double time, value; /* ms, and the counter's value from `time` to the next level */
    size_t place;       /* internal: position among the levels of the counter */
};

struct builder_counter {
    uint64_t pid;
    uint32_t name;    /* string */
    const char *unit; /* "bytes", "" */
    ARRAY(struct builder_level) levels;
};

struct profile_builder {
    struct profile *profile; /* borrowed */
    struct interner interner;
    bool no_memory;
    struct hash threads_by_id;
    ARRAY(struct builder_thread) threads;
    struct hash counters_by_name;
    ARRAY(struct builder_counter) counters;
    enum weight_type weight_type; /* of the main samples */
    bool has_no_times;            /* file without times: the samples get times in file order */
    double end;                   /* ms: end of the recording, on the clock of the samples, or NAN (the time of the
                                   * last sample) */
    bool drops_empty_threads;     /* omits threads without samples and markers, except one */
};

/* A frame of a function. Members that are 0 are unknown. */
struct builder_frame {
    struct builder_text name, file;
    uint32_t resource;               /* index + 1, or 0 for none */
    uint32_t lib;                    /* + 1 */
    uint32_t category;               /* + 1 */
    uint32_t line, column;           /* executed position, 1-based */
    uint32_t func_line, func_column; /* declaration of the function, 1-based */
    uint64_t address;                /* library-relative if `lib` is set */
    uint8_t inline_depth, flags;     /* flags: enum func_flags */
};

/* `profile` is empty. The page shows `from` as "Imported from". */
int profile_builder_init(struct profile_builder *builder, struct profile *profile, const char *from, struct error *err);
void profile_builder_destroy(struct profile_builder *builder);

uint32_t builder_add_string(struct profile_builder *builder, struct builder_text text);
uint32_t builder_add_category(struct profile_builder *builder, const char *name, const char *color);
uint32_t builder_add_frame(struct profile_builder *builder, const struct builder_frame *frame);
uint32_t builder_add_stack(struct profile_builder *builder, uint32_t prefix, uint32_t frame);

/* Returns the library with this path. Adds a missing library, and the resource of its name. */
uint32_t builder_add_lib(struct profile_builder *builder, struct builder_text path, struct builder_text build_id,
                         uint32_t *resource);

/* Returns the thread with these ids and this name (a string, or PROFILE_NONE), and adds a missing thread. */
uint32_t builder_add_thread(struct profile_builder *builder, uint64_t pid, uint64_t tid, uint32_t name);

/* Returns the table of an event, and adds a missing table. The tables are 1, 2 and so on, or 0 beyond the limit of
 * events. */
uint32_t builder_add_event(struct profile_builder *builder, struct builder_text name);

/* Adds a sample to table `table` (0: the main samples), at `time` ms. */
void builder_add_sample(struct profile_builder *builder, uint32_t thread, uint32_t table, uint32_t stack, double time,
                        double weight);
void builder_add_marker(struct profile_builder *builder, uint32_t thread, struct builder_marker marker);

/* Returns the counter of a process and name, and adds a missing counter. The counters are 1, 2 and so on, or 0 beyond
 * the limit of counters. `unit` must outlive the builder. */
uint32_t builder_add_counter(struct profile_builder *builder, uint64_t pid, struct builder_text name, const char *unit);

/* Sets the level of the counter from `time` (ms) until its next level; calls may have any order of times. */
void builder_add_level(struct profile_builder *builder, uint32_t counter, double time, double value);

/* Splits "name (url:line:column)" or "name(url:line:column)" in frame->name, and then sets FUNC_IS_JS. */
void builder_split_script(struct builder_frame *frame);

/* Appends a sentence to meta.warning. */
void builder_warn(struct profile_builder *builder, const char *sentence);

/* For files without names of addresses and without build ids of libraries: requests symbols from the current files at
 * the libraries' paths, with a warning. */
void builder_request_names(struct profile_builder *builder);

int profile_builder_finish(struct profile_builder *builder, struct error *err);
