/*
 * The unconverted contents of a profile file: columns by name, texts as in the file, per-thread tables of older files.
 * read.c fills the struct from tokens by the field lists of raw.c, with keys in any order. build.c turns the struct
 * into a struct profile.
 *
 * All texts are indexes into `texts`. Columns of strings hold the file's own indexes: see COLUMN_REF in column.h.
 */
#pragma once

#include "base/json.h"
#include "profile/column.h"
#include "profile/profile.h"

#include <stdatomic.h>

/* 1 + the `length` of a table, or 0 if the file lacks the length. */
typedef uint64_t raw_length;

struct raw_stacks {
    struct column frame, prefix, prefix_offset;
    raw_length length;
};

struct raw_frames {
    struct column address, lib, inline_depth, category, subcategory, func, native_symbol, line, column, flags;
    raw_length length;
};

struct raw_funcs {
    struct column name, is_js, relevant_for_js, resource, source, file_name, line, column, flags;
    raw_length length;
};

struct raw_resources {
    struct column name, host, type, lib;
    raw_length length;
};

struct raw_native_symbols {
    struct column lib, address, name, size;
    raw_length length;
};

struct raw_sources {
    struct column filename, id, start_line, start_column, content, source_map_url;
    raw_length length;
};

struct raw_tables {
    struct column strings;
    struct raw_stacks stacks;
    struct raw_frames frames;
    struct raw_funcs funcs;
    struct raw_resources resources;
    struct raw_native_symbols native_symbols;
    struct raw_sources sources;
};

struct raw_samples {
    struct column stack, time, time_deltas, weight, cpu_delta, address, waker, waker_stack;
    uint32_t weight_type;
    raw_length stack_table_length; /* of the stacks to which `waker_stack` refers */
    raw_length length;
};

struct raw_slices {
    struct column cpu, time, time_deltas, duration, off_cpu;
    raw_length length;
};

struct raw_event_samples {
    struct raw_samples samples;
    uint32_t event; /* name of the event */
};

/* A piece of all shared tables, and the number of earlier rows of each table. */
struct raw_added_tables {
    struct raw_tables tables;
    uint32_t stacks, frames, funcs, resources, native_symbols, sources;
};

/* Rows of a sample table of `thread`, starting at row `first`, or its next slices, or rows of the shared tables. */
struct raw_added {
    ARRAY(struct raw_added_tables *) tables; /* pointers, because their columns must not move */
    struct raw_samples samples;
    struct raw_slices slices;
    uint32_t thread, first;
    uint32_t event; /* string: the event's name, or PROFILE_NONE for the thread's own samples */
};

struct raw_markers {
    struct column data, name, start, end, phase, category;
    struct column time; /* before version 30 */
    raw_length length;
};

struct raw_thread {
    struct thread thread; /* the tables of this thread are empty */
    struct raw_samples samples, js_allocations, native_allocations;
    ARRAY(struct raw_event_samples *) events; /* pointers, because their columns must not move */
    struct raw_slices slices;
    struct raw_markers markers;
    struct raw_tables own;      /* tables of the thread, before version 60 (some before 58 or 56) */
    ARRAY(struct library) libs; /* before version 41 */
    bool has_libs;
    uint32_t *stack_map; /* after merging: stack of the thread -> stack of the profile */
    size_t stack_count;
};

struct raw_counter {
    struct counter counter; /* the columns of this counter are empty */
    struct column time, time_deltas, count;
    raw_length length;
};

struct raw_category {
    uint32_t name, color;
    struct column subcategories;
};

struct raw_meta {
    struct profile_meta meta;
    uint32_t gecko_version;
    bool has_version;
    double version; /* preprocessedProfileVersion, as in the file, or NAN for no number */
    bool present;
    uint32_t cpu_unit; /* sampleUnits.threadCPUDelta */
    bool has_categories;
    ARRAY(struct raw_category) categories;
    struct column initial_visible_threads, initial_selected_threads;
};

struct raw_profile {
    struct raw_meta meta;
    struct strings texts;
    ARRAY(struct library) libs;
    struct raw_tables shared;
    ARRAY(struct raw_thread *) threads; /* pointers, because their columns must not move */
    ARRAY(struct raw_counter *) counters;
    ARRAY(struct raw_added *) added;
    bool has_threads;
    bool has_processes;         /* a key of Gecko profiles */
    bool has_trace_events;      /* a key of Chrome's traces */
    bool has_resource_profiles; /* a key of OTLP profiles */
    const atomic_bool *stop;    /* when true, cancels the build; may be NULL */
};

void raw_profile_init(struct raw_profile *raw);
void raw_profile_destroy(struct raw_profile *raw);

/* ---- the field lists ---- */

enum field_kind {
    FIELD_TEXT,   /* uint32_t: a string, or a number as in the file */
    FIELD_DOUBLE, /* double; null is NAN */
    FIELD_COUNT,  /* uint32_t, or 0 for other values */
    FIELD_COUNT64,
    FIELD_BOOL,
    FIELD_YES_NO, /* int, set to 1 for true and 0 for false, else unchanged */
    FIELD_LENGTH, /* raw_length */
    FIELD_JSON,   /* uint32_t: the JSON text */
    FIELD_SEEN,   /* bool: the key exists; its value is skipped */
    FIELD_OBJECT, /* an object: the struct at the offset, with the fields of `schema` */
    FIELD_ARRAY,  /* an array of objects of `schema`: the ARRAY() at the offset */
    FIELD_COLUMN, /* struct column; or, with a schema, an object that holds it */
};

struct schema;

struct field {
    const char *key;
    enum field_kind kind;
    size_t offset; /* offset in the struct of the object */
    enum column_type column;
    const struct schema *schema;
    size_t seen; /* offset + 1 of a bool to set if the key exists, or 0 for none */
};

struct schema {
    const struct field *fields;
    size_t count;
    /* for FIELD_ARRAY: a new element and its size; 0: the object at the offset is the only element */
    const void *initial;
    size_t element_size;
    bool is_pointer; /* the ARRAY() has pointers to elements */
};

extern const struct schema RAW_PROFILE_SCHEMA;

/* Appends an element to the ARRAY() `list` and returns its address, or NULL if memory ran out. */
void *raw_add_element(const struct schema *schema, void *list);

/* Stores the current token of `json`, of type `type`, as the field's value at `place`. A token of another type than the
 * field's stores nothing, or an unknown value. Returns false if memory ran out. */
bool raw_store(struct raw_profile *raw, const struct field *field, void *place, const struct json *json,
               enum json_type type);
