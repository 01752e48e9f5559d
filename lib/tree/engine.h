/*
 * The engine: one profile, its derived tables, and a query. Several engines, each with its own query, can share a
 * profile. All consumers of numbers call the engine: the page (through wasm_*.c), `prof report`, and the tests. The
 * engine computes derived tables once. A new query repeats only the necessary passes: the pass over samples for another
 * range or other threads, the pass over nodes for another search, none for inverting.
 */
#pragma once

#include "tree/activity.h"
#include "tree/butterfly.h"
#include "tree/compared.h"
#include "tree/details.h"
#include "tree/inverted.h"
#include "tree/path_nodes.h"
#include "tree/search_filter.h"
#include "tree/timings.h"
#include "tree/transform.h"
#include "tree/tree_rows.h"

struct tree_query {
    const uint32_t *threads; /* the engine merges several threads */
    size_t thread_count;
    struct time_range range;
    const struct transform *transforms; /* applied in order, before the search */
    size_t transform_count;
    const char *search; /* see search_filter.h; an empty text: no search */
    size_t search_length;
    bool inverted;
    enum sample_weight weight;
    enum sample_table_kind table;
    enum compared compared; /* side of a comparison: see compared.h */
    double scale;           /* factor for the new side, or 0 (the scale of the profile) */
};

ARRAY_TYPE(struct node_path, uint32_t); /* funcs from the root of the call tree or inverted tree down to a node */

struct engine;

/* Takes ownership of a checked profile, which must not move or change: the last engine destroys it, as does a failure
 * (returns NULL). Before engine_set_query() or engine_set_transforms(), only data of the profile, its stacks and its
 * activity are available. */
struct engine *engine_new(struct profile *profile, struct error *err);

/* Creates an engine that shares the profile of `engine` and has its own query. */
struct engine *engine_share(const struct engine *engine, struct error *err);

void engine_free(struct engine *engine);

/* Frees the only engine of a profile, and returns the unchanged profile. */
void engine_return_profile(struct engine *engine, struct profile *profile);

const struct profile *engine_get_profile(const struct engine *engine);

/* Returns a thread's samples after the query's marker transforms: dropped samples have no stack. */
const struct sample_table *engine_get_samples(const struct engine *engine, uint32_t thread);

/* Returns the stacks and nodes after all transforms. */
const struct stack_view *engine_get_stacks(const struct engine *engine);
const struct call_nodes *engine_get_nodes(const struct engine *engine);
const struct timings *engine_get_timings(const struct engine *engine);
/* Returns the weights of the query, for costs that are summed stack by stack. The result is valid until the next
 * query. */
struct counted_stacks engine_get_counted_stacks(const struct engine *engine);
/* Returns engine_get_counted_stacks() of one side, in a query of both sides of a comparison. */
struct counted_stacks engine_get_counted_stacks_of_side(const struct engine *engine, enum profile_side side);
bool engine_has_waits(const struct engine *engine); /* whether the profile has recorded waits (wait_rows.h) */
uint32_t engine_get_idle_category(const struct engine *engine); /* returns the category "Idle", or PROFILE_NONE */

/* Returns the full range (ms): the file's, else from the first sample to one interval after the last; without samples,
 * from the first marker to one interval after the last. */
struct time_range engine_get_full_range(const struct engine *engine);

/* Returns the part of the query's range in the full range (ms). */
struct time_range engine_get_queried_range(const struct engine *engine);

/* Returns the number of intervals whose mean a side of the query counts, or 0 if no transform splits the intervals. */
size_t engine_count_intervals(const struct engine *engine, enum profile_side side);

/* Sets the engine's query to a copy of `query`. */
int engine_set_query(struct engine *engine, const struct tree_query *query, struct error *err);

/* Sets only the query's threads and transforms, without a pass over samples: enough for engine_compute_activity() and
 * engine_find_sample(). */
int engine_set_transforms(struct engine *engine, const struct tree_query *query, struct error *err);

/* Returns the number of nodes: call nodes, or roots of the inverted tree. */
size_t engine_count_nodes(const struct engine *engine);

/* Lists the visible children of a node (NODE_NONE: the roots), heaviest first. -EINVAL for an invalid handle. */
int engine_list_children(struct engine *engine, uint32_t node, struct tree_rows *rows, struct error *err);

/* Lists the rows below a node, at most `limit`, depth first, each level heaviest first. */
int engine_list_descendants(struct engine *engine, uint32_t node, size_t limit, struct tree_rows *rows,
                            struct error *err);

/* Reads one node as a row. */
int engine_read_row(struct engine *engine, uint32_t node, struct tree_rows *rows, struct error *err);

int engine_read_path(struct engine *engine, uint32_t node, struct node_path *path, struct error *err);

/* Appends the funcs from the root down to a call node. False if memory ran out. */
bool append_call_path(const struct engine *engine, uint32_t node, struct node_path *path);

/* Stores in *node the node with this path, or NODE_NONE. With `nearest`, falls back to the longest existing prefix of
 * the path. */
int engine_find_node(struct engine *engine, const uint32_t *path, size_t length, bool nearest, uint32_t *node,
                     struct error *err);

/* Converts a path of the current tree to a path of the tree after one more transform: see transform_rewrite_path(). */
int engine_rewrite_path(struct engine *engine, const struct transform *transform, uint32_t *path, size_t *length,
                        struct error *err);

/* Follows the heaviest path: the heaviest root, then the heaviest child of each node. Stops at a node whose self
 * exceeds the total of each child, or whose children all have less than `share` (0..1) of the total of the tree; at
 * most `depth` nodes. Ignores the idle time of nodes, unless the query counts waits. */
int engine_find_heaviest_path(struct engine *engine, size_t depth, double share, struct node_path *path,
                              struct error *err);

/* The caller zeroes `details`, and destroys it with node_details_destroy(). */
int engine_compute_details(struct engine *engine, uint32_t node, struct node_details *details, struct error *err);

/* Computes the details of all nodes of a func. */
int engine_compute_function_details(struct engine *engine, uint32_t func, struct node_details *details,
                                    struct error *err);

/* Lists the functions of the query. With a search, only those whose own names match a term. */
int engine_list_functions(struct engine *engine, enum func_order order, struct func_timings *functions,
                          struct error *err);

/* Lists all functions of the query, also the callers and callees of those that match the search. */
int engine_list_all_functions(struct engine *engine, enum func_order order, struct func_timings *functions,
                              struct error *err);

/* Lists the functions of the query by self, with another weight: waits in addition to CPU time. */
int engine_list_functions_by_weight(struct engine *engine, enum sample_weight weight, enum sample_table_kind table,
                                    struct func_timings *functions, struct error *err);

/* Returns a thread's part of the query's total, with another weight. */
double engine_get_thread_total(const struct engine *engine, uint32_t thread, enum sample_weight weight,
                               enum sample_table_kind table);

/* Adds to each of `count` totals a thread's part of the query's total in one of `count` ranges. The ranges are as long
 * as `first` (ms), and each begins where the previous one ends. Time outside of the query's range counts 0, as does an
 * unknown thread. */
void engine_add_thread_totals(const struct engine *engine, uint32_t thread, struct time_range first, size_t count,
                              double *totals);

/* Calls `add` with the value of each sample of a thread for another weight, in time order (ms), with the stack of
 * engine_get_stacks() in which the sample ends. See weigh_thread(). */
typedef void engine_add_sample(void *context, uint32_t stack, double weight, double time);
void engine_weigh_thread(const struct engine *engine, uint32_t thread, enum sample_weight weight,
                         enum sample_table_kind table, engine_add_sample *add, void *context);

/* Lists libraries (`func`: resource; PROFILE_NONE: no library) or categories by self, or threads of the query
 * (`func`: thread) by their share of the total; heaviest first. */
enum group_kind { GROUP_LIBRARY, GROUP_CATEGORY, GROUP_THREAD };
int engine_list_groups(struct engine *engine, enum group_kind kind, struct func_timings *groups, struct error *err);

/* Computes the butterfly of a focus; valid until the next query. The caller destroys it with butterfly_destroy(). */
int engine_compute_butterfly(const struct engine *engine, struct butterfly_focus focus, struct butterfly *butterfly,
                             struct error *err);

enum recursion { RECURSION_NONE, RECURSION_INDIRECT, RECURSION_DIRECT };

/* Returns how a func recurses in the counted stacks: not at all, indirectly or directly. */
enum recursion engine_find_recursion(const struct engine *engine, uint32_t func);

/* A request for activity: threads, time range, pixels and a filter of samples. */
struct activity_query {
    const uint32_t *threads;
    size_t thread_count;
    struct time_range range; /* ms */
    uint32_t width;          /* columns of the graph */
    const char *search;      /* only samples that match this search (search_length bytes), or all samples if it is
                              * empty */
    size_t search_length;
    const struct tree_path *path; /* only samples of this row of the call tree or inverted tree, or NULL (all) */
};

/* Computes the summed activity of the threads from all samples, independent of the query, a search and a path. */
int engine_compute_unfiltered_activity(struct engine *engine, const struct activity_query *query,
                                       struct activity *activity, struct error *err);

/* Returns a thread's activity between two times, ms: its CPU time, or count_thread_activity() if it has no CPU times.
 * The page ranks threads by the activity of the full range. 0 for an unknown thread. */
double engine_measure_thread_activity(const struct engine *engine, uint32_t thread, struct time_range range);

/* Computes the summed activity of the threads after the transforms of the engine's query. */
int engine_compute_activity(struct engine *engine, const struct activity_query *query, struct activity *activity,
                            struct error *err);

/* A thread's state at a time. */
struct sample_place {
    bool is_known;      /* false (with invalid other members) if the state is unknown, or the time is outside of the
                         * thread's lifetime */
    uint8_t is_dropped; /* a transform dropped the sample, and the path is empty */
    uint32_t category;  /* of the sample */
    double time;        /* ms: time of the sample */
    double cpu_percent; /* NAN unknown */
    struct time_range
        wait; /* ms: the wait at this time, which is recorded if the path is not empty, or NAN if the thread ran */
    uint32_t reason; /* for a recorded wait, subcategory of "Idle", or PROFILE_NONE for none */
    uint32_t waker;  /* string: the thread that ended the wait, or PROFILE_NONE if not recorded */
    double unseen;   /* ms of the unseen waits that the wait stands for */
};

/* Finds the sample at a time. `path` gets the funcs of the sample's stack after the query's transforms, root first. */
int engine_find_sample(const struct engine *engine, uint32_t thread, double time, struct sample_place *place,
                       struct node_path *path, struct error *err);
