/*
 * What an engine holds: for engine.c, which makes it, and engine_rows.c, which reads rows and paths out of it.
 */
#pragma once

#include "tree/activity.h"
#include "tree/compared.h"
#include "tree/inverted.h"
#include "tree/search.h"
#include "tree/timings.h"
#include "tree/transform.h"
#include "tree/order.h"
#include "tree/sample_filter.h"

/* The nodes that a search keeps, remembered because the query and every track of the timeline ask for the same. */
struct matching_nodes {
    ARRAY(char) search;
    uint8_t *matching;     /* NULL before the first search */
    uint8_t *matched_func; /* per func: some term that is looked for is in its names */
    bool valid;
};

/* What engines of one profile share. */
struct engine_base {
    uint32_t users;
    struct profile profile;
    struct stack_view whole; /* the profile's own stacks, and their nodes */
    struct call_nodes whole_nodes;
    uint32_t idle_category;
    bool has_waits;       /* see profile_has_waits() */
    uint32_t not_running; /* the stack of waits that no sample tells of; PROFILE_NONE: no such weight */
    uint32_t *name_ranks; /* see name_order.h; NULL until someone asks for names in order */
};

struct engine {
    struct engine_base *base;

    struct sample_filter filter;      /* of the transforms of the query that are about markers */
    struct transform_list transforms; /* the others of them */
    struct stack_view transformed;    /* what they leave; empty without transforms */
    struct call_nodes transformed_nodes;
    const struct stack_view *stacks; /* those that the query is about */
    const struct call_nodes *nodes;

    ARRAY(uint32_t) threads; /* of the weights */
    struct time_range range;
    enum sample_weight weight;
    enum sample_table_kind table;
    enum compared compared;
    double scale;
    bool has_weights;
    struct stack_weights weights;
    struct stack_weights sides[PROFILE_SIDES]; /* of a query about both sides of a comparison */

    struct matching_nodes query_search; /* of the timings; empty search: not used */
    struct matching_nodes activity_search;
    struct matching_path activity_path;
    bool is_searching;
    bool has_timings;
    struct timings timings;

    bool is_inverted;
    bool has_inverted;
    struct inverted inverted;
};

/* -EINVAL for a handle that the current query does not have. */
int engine_check_handle(const struct engine *engine, uint32_t node, struct error *err);

/* Appends the children of a node (NODE_NONE: the roots) that have anything to show, in no order, with the magnitude of
 * their total. */
int engine_collect_children(struct engine *engine, uint32_t node, struct order_entries *children, struct error *err);

/* What the query counts. */
struct weighing engine_weighing(const struct engine *engine);

/* How the query counts the threads of a comparison; of other profiles, all alike. */
struct compared_request engine_compared(const struct engine *engine);

/* Per call node, 0 if the search of the query excludes it; NULL: all match. */
const uint8_t *engine_matching(const struct engine *engine);

/* Whether a func is one that the search of the query looks for; without such a search, all are. */
bool engine_func_matches(const struct engine *engine, uint32_t func);

/* The rank of each func by name: see name_order.h. */
int engine_name_ranks(struct engine *engine, const uint32_t **ranks, struct error *err);
