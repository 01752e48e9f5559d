/*
 * Asks the engine and its slow reference the same, and compares the trees.
 */
#pragma once

#include "slow_tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* ---- the slow answer ---- */

static inline void grow_tree(void *context, const struct slow_stack *stack, double weight)
{
    struct slow_node *node = context;
    for (size_t i = 0; i < stack->depth; i++)
        node = slow_child(node, stack->frames[i].func);
    node->self += weight;
}

/* Grows the inverted tree from the nodes that have self time left after the samples of equal stacks were added up:
 * those are shown, even where they cancel each other out. */
static inline void grow_inverted_tree(const struct slow_node *node, uint32_t *path, size_t depth,
                                      struct slow_node *inverted)
{
    struct slow_node *at = inverted;
    for (size_t i = depth; node->self != 0 && i-- > 0;)
        at = slow_child(at, path[i]);
    at->self += node->self;
    for (const struct slow_node *c = node->child; c; c = c->sibling) {
        path[depth] = c->func;
        grow_inverted_tree(c, path, depth + 1, inverted);
    }
}

static inline void show_all(struct slow_node *node)
{
    node->alive = true;
    for (struct slow_node *c = node->child; c; c = c->sibling)
        show_all(c);
}

static inline void ask(struct engine *engine, const struct slow_query *slow, bool inverted)
{
    struct tree_query query = {.threads = slow->threads,
                               .thread_count = slow->thread_count,
                               .range = slow->range,
                               .transforms = slow->transforms,
                               .transform_count = slow->transform_count,
                               .search = slow->search,
                               .search_length = strlen(slow->search),
                               .inverted = inverted,
                               .weight = slow->weight};
    struct error err;
    assert_int_equal(engine_set_query(engine, &query, &err), 0);
}

/* ---- comparing ---- */

static inline void assert_same_children(struct engine *engine, uint32_t handle, const struct slow_node *slow,
                                        bool inverted)
{
    struct tree_rows rows = {0};
    struct error err;
    assert_int_equal(engine_list_children(engine, handle, &rows, &err), 0);
    size_t alive = 0;
    for (const struct slow_node *c = slow->child; c; c = c->sibling)
        alive += c->alive;
    assert_int_equal(rows.length, alive);
    for (size_t i = 0; i < rows.length; i++) {
        const struct slow_node *reference = slow->child;
        while (reference && reference->func != rows.func[i])
            reference = reference->sibling;
        assert_non_null(reference);
        assert_true(reference->alive);
        assert_true(rows.total[i] == reference->total);
        assert_true(rows.self[i] == (!inverted ? reference->self : handle == NODE_NONE ? reference->total : 0));
        assert_true(i == 0 || fabs(rows.total[i - 1]) >= fabs(rows.total[i]));
        bool has_children = false;
        for (const struct slow_node *c = reference->child; c; c = c->sibling)
            has_children |= c->alive;
        assert_int_equal(rows.has_children[i], has_children);
        assert_same_children(engine, rows.node[i], reference, inverted);
    }
    tree_rows_destroy(&rows);
}

static inline double slow_root_total(const struct slow_node *node)
{
    double sum = fabs(node->self);
    for (const struct slow_node *c = node->child; c; c = c->sibling)
        sum += slow_root_total(c);
    return sum;
}

static inline struct engine *random_engine(struct profile *reference, uint64_t seed)
{
    struct profile profile;
    struct error err = {""};
    random_profile(&profile, seed);
    random_profile(reference, seed);
    assert_int_equal(profile_check(&profile, &err), 0);
    struct engine *engine = engine_new(&profile, &err);
    assert_non_null(engine);
    slow_add_not_running(reference);
    return engine;
}

static inline void check_call_tree(struct engine *engine, const struct slow_query *query)
{
    struct slow_node root = {0};
    slow_each_sample(query, grow_tree, &root);
    slow_sum(&root);
    ask(engine, query, false);
    assert_same_children(engine, NODE_NONE, &root, false);
    assert_true(engine_get_timings(engine)->root_total == slow_root_total(&root));
    slow_free(&root);
}

static inline void check_inverted_tree(struct engine *engine, const struct slow_query *query)
{
    struct slow_node root = {0}, inverted = {0};
    uint32_t path[MAX_DEPTH];
    slow_each_sample(query, grow_tree, &root);
    grow_inverted_tree(&root, path, 0, &inverted);
    slow_sum(&inverted);
    show_all(&inverted);
    ask(engine, query, true);
    assert_same_children(engine, NODE_NONE, &inverted, true);
    slow_free(&root);
    slow_free(&inverted);
}
