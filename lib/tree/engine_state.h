/*
 * The state of an engine, shared by engine.c, engine_rows.c, engine_summary.c and engine_activity.c.
 */
#pragma once

#include "tree/activity.h"
#include "tree/compared.h"
#include "tree/inverted.h"
#include "tree/search_filter.h"
#include "tree/timings.h"
#include "tree/transform.h"
#include "tree/slices_by_cpu.h"
#include "tree/order.h"
#include "tree/sample_filter.h"
#include "tree/thread_states.h"

/* The state that the engines of one profile share. */
struct engine_base {
    uint32_t users;
    struct profile profile;
    struct stack_view whole; /* the untransformed stacks and their nodes */
    struct call_nodes whole_nodes;
    uint32_t idle_category;
    bool has_waits;       /* see profile_has_waits() */
    uint32_t not_running; /* the stack "(not running)", or PROFILE_NONE for none */
    uint32_t *name_ranks; /* rank of each func by name (name_order.h), NULL until the first use */
    struct state_cache states;
    struct slices_by_cpu slices;
};

struct engine {
    struct engine_base *base;

    struct sample_filter filter;      /* samples after the query's marker transforms */
    struct transform_list transforms; /* the other transforms */
    struct stack_view transformed;    /* stacks after the transforms; empty without transforms */
    struct call_nodes transformed_nodes;
    const struct stack_view *stacks; /* the stacks of the query */
    const struct call_nodes *nodes;

    ARRAY(uint32_t) threads; /* threads of the weights */
    struct time_range range;
    enum sample_weight weight;
    enum sample_table_kind table;
    enum compared compared;
    double scale;
    bool has_weights;
    struct stack_weights weights;
    struct stack_weights sides[PROFILE_SIDES]; /* weights of each side, in a query of both sides of a comparison */

    struct matching_nodes query_search; /* nodes for the timings; unused if the search is empty */
    struct matching_nodes activity_search;
    struct matching_path activity_path;
    bool is_searching;
    bool has_timings;
    struct timings timings;

    bool is_inverted;
    bool has_inverted;
    struct inverted inverted;
};

/* The func of a node of the query. */
static inline uint32_t engine_get_node_func(const struct engine *engine, uint32_t node)
{
    return engine->is_inverted ? engine->inverted.tree.data[node].func : engine->nodes->func[node];
}

/* Returns -EINVAL for a node that the query does not have. */
int engine_check_handle(const struct engine *engine, uint32_t node, struct error *err);

/* Appends the visible children of a node (NODE_NONE: the roots), unsorted, each with the magnitude of its total. */
int engine_collect_children(struct engine *engine, uint32_t node, struct order_entries *children, struct error *err);

/* Returns the weighing (threads, range, weight) of the query. */
struct weighing engine_get_weighing(const struct engine *engine);

/* Returns how the query weighs the threads of a comparison; in other profiles, all equally. */
struct compared_request engine_get_compared_request(const struct engine *engine);

/* Returns, per call node, 0 if the search of the query excludes the node, or NULL (all nodes match). */
const uint8_t *engine_get_matching_nodes(const struct engine *engine);

/* Whether a func matches the query's search. Without a search, all funcs match. */
bool engine_func_matches(const struct engine *engine, uint32_t func);

/* Returns the rank of each func by name; see name_order.h. */
int engine_get_name_ranks(struct engine *engine, const uint32_t **ranks, struct error *err);
