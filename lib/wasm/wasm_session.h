/*
 * A session of the WebAssembly build: one profile that the page loads and queries. Each wasm_*.c exports the functions
 * of one theme, which a file of web/src/engine calls. Input goes into the buffer of session_input(), which the caller
 * fills; answers are pointers to columns, valid until the next call. Functions that can fail return 0 or a negative
 * errno value, or NULL; session_error() returns the error sentence.
 *
 * Built with clang for wasm32-wasi (the Makefile has the command); the only imports are wasi functions in the error
 * paths of the C library, which module.ts answers with "not supported".
 */
#pragma once

#include "base/json_write.h"
#include "import/import.h"
#include "profile/numbers.h"
#include "tree/address_costs.h"
#include "tree/cpu_lanes.h"
#include "tree/engine.h"
#include "tree/find_names.h"
#include "tree/flame.h"
#include "tree/library_paths.h"
#include "tree/line_costs.h"
#include "tree/marker_view.h"
#include "tree/stack_chart.h"
#include "tree/stack_view.h"
#include "tree/state_lanes.h"
#include "tree/wait_groups.h"
#include "tree/samply_waits.h"
#include "tree/weight_list.h"

enum { VIEW_COLUMNS = 12 };

/* A deferred run of numbers: see session_deferred(). */
struct deferred_run {
    uint32_t run, offset, size, bytes, type;
};

/* The answer of a call: columns, and the number of their entries. web/layout.c generates the code that reads the answer
 * and the structs in its columns. */
struct view {
    uint32_t length;
    const void *columns[VIEW_COLUMNS];
};

/* An answer of a few words, as one column. */
struct source_words {
    uint32_t words[4];
};

/* A request is the input of a call with many arguments. web/src/engine writes the fields in this order. */

struct query_request {      /* of session_query() */
    double from, to, scale; /* scale: factor for the new side of a comparison, or 0 (the scale of the profile) */
    uint32_t place;         /* below MOST_QUERIES */
    uint32_t thread_count, transform_words, search_length;
    uint32_t inverted, weight; /* weight: index in session_get_weights() */
    uint32_t compared;         /* enum compared */
    uint32_t words[];          /* indexes of the threads, transforms, bytes of the search */
};

struct matching_request { /* input of session_activity_matching() */
    double from, to;
    uint32_t width; /* pixels */
    uint32_t drawn_count, thread_count, transform_words;
    uint32_t path_length; /* 0: any path */
    uint32_t search_length, inverted;
    uint32_t words[]; /* drawn threads, threads and words of the transforms, funcs of the path, bytes of the search */
};

struct export_request { /* input of session_export() and session_export_preview() */
    double from, to;    /* of the query */
    uint32_t query, text_length;
    uint32_t table;  /* enum export_table, for format csv */
    uint32_t weight; /* of the query */
    uint32_t scope;  /* enum export_scope */
    uint32_t parts;  /* enum sanitize_part */
    char texts[];    /* format, marker search, libraries that keep their names, each with a NUL */
};

/* A query of session_query(), and its number, which later calls pass. */
enum { MOST_QUERIES = 4 }; /* limit of open queries, each in its slot */

struct open_query {
    uint32_t id; /* 0: none */
    struct engine *engine;
    ARRAY(uint32_t) stacks; /* words of the query's threads and transforms: see session_get_stacks() */
};

/* The total weight of a query, with its search and without it. */
struct query_summary {
    double root_total, samples, all_total, all_samples;
    double node_count;
    double base_total, new_total;         /* of a comparison */
    double base_intervals, new_intervals; /* number of intervals, see engine_count_intervals() */
};

/* The confidence of a function's change: see tree/changes.h. */
struct known_change {
    uint32_t func; /* PROFILE_NONE: of all */
    uint32_t is_noise;
    double low, high; /* 95 % */
};

enum { MOST_BUTTERFLIES = 4 };

/* The frames whose costs are computed, as the input selects. */
enum selection_kind { SELECT_ALL, SELECT_PATH, SELECT_INVERTED_PATH, SELECT_FUNC };

struct open_butterfly {
    uint32_t id, query; /* 0: none */
    struct butterfly butterfly;
};

struct session_loading { /* wasm_load.c */
    size_t runs_known;
    ARRAY(struct deferred_run) runs; /* of the last piece */
    struct number_columns numbers;
};

struct session_comparing {               /* wasm_compare.c */
    struct profile sides[PROFILE_SIDES]; /* for the next comparison */
    bool has_side[PROFILE_SIDES];
    ARRAY(uint8_t)
    kept[PROFILE_SIDES]; /* for each thread of a side, whether to compare the thread; empty: all threads */
    ARRAY(struct known_change) changes;
    double scale;
};

struct session_querying {       /* wasm_query.c */
    struct weight_list weights; /* empty until requested */
    uint32_t last;              /* the highest number given so far */
    bool used_closed;           /* the last call failed because it referred to a closed object */
    struct open_query open[MOST_QUERIES];
    struct open_query graphs;           /* an unnumbered query, for activity after transforms that no open query has */
    ARRAY(struct transform) transforms; /* transforms of the last call, whose paths are in the input */
};

struct session_tree { /* wasm_tree.c */
    struct query_summary summary;
    struct tree_rows rows;
    ARRAY(uint8_t) entries;     /* for each row, whether its func is_entry_frame() */
    ARRAY(uint8_t) entry_funcs; /* for each func of the profile, an enum entry of wasm_tree.c */
    struct node_path path;
    struct node_details details;
    struct func_timings functions;
    ARRAY(uint32_t) funcs;
    ARRAY(double) totals, selfs;
    ARRAY(double) side_figures[2 * PROFILE_SIDES]; /* of a comparison */
    struct func_names names;
    struct library_paths library_paths;
    struct func_inlining inlining; /* empty until requested */
};

struct session_butterflies { /* wasm_butterfly.c */
    struct open_butterfly open[MOST_BUTTERFLIES];
    uint32_t last, next; /* last: the last number */
    double weights[2 + 2 * PROFILE_SIDES];
    struct func_timings groups;
};

struct session_waits { /* wasm_waits.c */
    struct wait_groups groups;
    struct node_path paths;
    ARRAY(uint32_t) path_ends;
    ARRAY(uint32_t) runtime_callers;
};

struct session_timeline { /* wasm_timeline.c */
    struct activity activity;
    ARRAY(double) thread_times;
    struct sample_place place;
    struct state_lanes lanes;
    struct cpu_numbers cpus;
    struct cpu_place cpu_place;
    uint32_t runtime_callers; /* see count_runtime_frames() */
};

struct session_markers {      /* wasm_markers.c */
    struct marker_view *view; /* NULL before the first call about markers */
    struct marker_rects rects;
    ARRAY(float) graph_values; /* of a counter, of markers */
    ARRAY(uint32_t) graph_markers;
    double counter_numbers[4];
    double wait_totals[WAIT_STATES];
};

struct session_source { /* wasm_source.c */
    struct source_words words;
    double symbol_address;
    struct code_addresses places;
    struct line_costs line_costs;
    struct hot_lines hot_lines;
    struct address_costs address_costs;
    struct symbol_costs symbol_costs;
    struct address_lines address_lines;
};

struct session_charts { /* wasm_charts.c */
    struct flame_part flame_part;
    struct flame_rects flame;
    struct stack_rects stack_chart;
    ARRAY(double) totals; /* of the heat map */
};

struct session_finding { /* wasm_find.c */
    struct name_finder finder;
    uint32_t query; /* query whose totals rank names in the finder, or 0 for none */
    struct found_names found;
    uint32_t typed_words;
    ARRAY(int16_t) text_scores;
    ARRAY(uint8_t) text_marks;
};

/* The state of all files of this directory, and the shared state. */
struct session {
    struct import *import;
    struct engine *engine; /* of no query */
    struct error err;
    ARRAY(unsigned char) input;
    struct view view;        /* the last answer */
    struct text_buffer text; /* output of a JSON answer */
    struct byte_sink text_sink;
    struct json_writer json;
    struct session_loading loading;
    struct session_comparing comparing;
    struct session_querying querying;
    struct session_tree tree;
    struct session_butterflies butterflies;
    struct session_waits waits;
    struct session_timeline timeline;
    struct session_markers markers;
    struct session_source source;
    struct session_charts charts;
    struct session_finding finding;
};

/* Answer with columns of `length` entries, or with the elements of an array. */
#define ANSWER(session, count, ...)                                                                                    \
    ((session)->view = (struct view){(uint32_t)(count), {__VA_ARGS__}}, &(session)->view)
#define ANSWER_ARRAY(session, array) ANSWER(session, (array)->length, (array)->data)

static inline const struct view *no_memory(struct session *session)
{
    error_no_memory(&session->err);
    return NULL;
}

/* Ends the loading, and returns the profile; the caller owns it on success. (wasm_load.c) */
int session_take_import(struct session *session, struct profile *profile);

/* Fails with -EINVAL, because the loaded part continues a profile that is not open (wasm_load.c). */
int session_refuse_part(struct session *session);

/* Frees the engines and all other objects derived from the profile, and returns the profile. (wasm_load.c) */
void session_return_profile(struct session *session, struct profile *profile);

/* Begin the text session->json, and answer with the text, or NULL if `code` is an error. (wasm_info.c) */
void session_begin_json(struct session *session);
const struct view *session_answer_json(struct session *session, int code);

/* Returns the 32-bit words at the start of the input. */
static inline const uint32_t *session_get_words(const struct session *session)
{
    return (const uint32_t *)(const void *)session->input.data;
}

/* Returns the engine of an open query; NULL, with an error, if a newer query has replaced it. (wasm_query.c) */
struct engine *session_get_engine(struct session *session, uint32_t query);

/* Closes all queries, and frees their engines. (wasm_query.c) */
void session_close_queries(struct session *session);

/* Returns the weights of the profile, which calls refer to by index. NULL if memory ran out. (wasm_query.c) */
const struct weight_list *session_get_weights(struct session *session);

/* Finds a weight by its index. -EINVAL if it does not exist. (wasm_query.c) */
int session_find_weight(struct session *session, int index, const struct weight **weight);

/* Returns an engine with the stacks after transforms, for these threads. The words are as in session_query():
 * `thread_count` threads, then the transforms. NULL on failure. (wasm_query.c) */
struct engine *session_get_stacks(struct session *session, const uint32_t *words, uint32_t thread_count,
                                  uint32_t transform_words);

/* Reads transforms into session->querying.transforms. A transform consists of the words kind (enum transform_kind),
 * index, inverted, length of the path, bytes of the text, billionths of the slowest share, enum filtered_sides, the
 * path, and the text padded to whole words. (wasm_query.c)
 */
int session_read_transforms(struct session *session, const uint32_t *words, size_t count);

/* Frees the butterflies of a query. (wasm_butterfly.c) */
void session_forget_butterflies(struct session *session, uint32_t query);

/* Returns session->tree.rows, or NULL if `code` is an error. (wasm_tree.c) */
const struct view *session_get_row_view(struct session *session, int code);
