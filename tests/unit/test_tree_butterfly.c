/*
 * Callers and callees of a function, a library or a category, compared with a slow reference. The reference splits each
 * sample's stack at the outermost frame of the function, or at the last entry into the library or category, and builds
 * two trees. For functions, equivalent transforms are compared, too.
 */
#include "slow_tree_check.h"

enum { PROFILES = 2000 };

struct cut {
    const struct slow_query *query;
    struct butterfly_focus focus;
    const struct engine *engine; /* for the categories of its nodes */
    struct slow_node callers, callees;
    double total, self;
};

/* The category of the call node of the first `depth` frames. */
static uint32_t category_of_node(const struct cut *cut, const struct slow_stack *stack, size_t depth)
{
    const struct call_nodes *nodes = engine_get_nodes(cut->engine);
    uint32_t node = NODE_NONE;
    for (size_t i = 0; i < depth; i++)
        for (uint32_t c = call_nodes_get_first_child(nodes, node); c < call_nodes_get_children_end(nodes, node);
             c = nodes->end[c])
            if (nodes->func[c] == stack->frames[i].func) {
                node = c;
                break;
            }
    return nodes->category[node];
}

static bool is_center(const struct cut *cut, const struct slow_stack *stack, size_t at)
{
    const struct profile *profile = cut->query->profile;
    uint32_t func = stack->frames[at].func;
    if (cut->focus.kind == BUTTERFLY_FUNCTION)
        return func == cut->focus.index;
    if (cut->focus.kind == BUTTERFLY_CATEGORY)
        return category_of_node(cut, stack, at + 1) == cut->focus.index;
    return func < profile->funcs.length ? profile->funcs.resource[func] == cut->focus.index
                                        : func == profile->funcs.length + cut->focus.index;
}

/* Where the stack is cut; its depth if the focus is not on it. */
static size_t place_of_cut(const struct cut *cut, const struct slow_stack *stack)
{
    size_t at = 0, last = stack->depth;
    if (cut->focus.kind == BUTTERFLY_FUNCTION) {
        while (at < stack->depth && !is_center(cut, stack, at))
            at++;
        return at;
    }
    while (last > 0 && !is_center(cut, stack, last - 1))
        last--;
    if (last == 0)
        return stack->depth;
    while (last > 1 && is_center(cut, stack, last - 2))
        last--;
    return last - 1;
}

static void cut_stack(void *context, const struct slow_stack *stack, double weight)
{
    struct cut *cut = context;
    size_t first = place_of_cut(cut, stack);
    if (first == stack->depth)
        return;
    cut->total += weight;
    cut->self += is_center(cut, stack, stack->depth - 1) ? weight : 0;
    struct slow_node *callees = &cut->callees, *callers = &cut->callers;
    for (size_t i = first + (cut->focus.kind == BUTTERFLY_FUNCTION); i < stack->depth; i++)
        callees = slow_child(callees, stack->frames[i].func);
    callees->self += weight;
    if (cut->focus.kind == BUTTERFLY_FUNCTION)
        return;
    for (size_t i = first; i-- > 0;)
        callers = slow_child(callers, stack->frames[i].func);
    callers->self += weight;
}

/* A caller is shown if the whole path to the focus has some weight left after equal stacks were added up. */
static void collect_callers(struct cut *cut, const struct slow_node *node, const struct slow_stack *path)
{
    struct slow_stack below = *path;
    for (const struct slow_node *c = node->child; c; c = c->sibling) {
        if (!c->alive)
            continue;
        below.frames[path->depth].func = c->func;
        below.depth = path->depth + 1;
        if (!is_center(cut, &below, path->depth)) {
            collect_callers(cut, c, &below);
            continue;
        }
        struct slow_node *caller = &cut->callers;
        for (size_t i = path->depth; c->total != 0 && i-- > 0;)
            caller = slow_child(caller, path->frames[i].func);
        caller->self += c->total;
    }
}

static bool has_negative_weights(const struct slow_query *query)
{
    bool found = false;
    for (size_t t = 0; t < query->thread_count; t++) {
        const struct sample_table *samples = &query->profile->threads.data[query->threads[t]].samples;
        for (size_t i = 0; samples->weight && i < samples->length; i++)
            found |= samples->weight[i] < 0;
    }
    return found;
}

static const struct slow_node *reference_of(const struct slow_node *slow, uint32_t func)
{
    for (const struct slow_node *c = slow->child; c; c = c->sibling)
        if (c->func == func)
            return c;
    return NULL;
}

/* Where weights are negative, a merged row may be shown though all of it cancels out, or the other way round. */
static void assert_same_side(struct butterfly *butterfly, enum butterfly_side side, uint32_t node,
                             const struct slow_node *slow, bool may_cancel)
{
    struct tree_rows rows = {0};
    struct error err;
    assert_int_equal(butterfly_list_children(butterfly, side, node, &rows, &err), 0);
    size_t alive = 0;
    for (const struct slow_node *c = slow->child; c; c = c->sibling)
        alive += c->alive;
    assert_true(may_cancel || rows.length == alive);
    for (size_t i = 0; i < rows.length; i++) {
        const struct slow_node *reference = reference_of(slow, rows.func[i]);
        assert_non_null(reference);
        assert_true(rows.total[i] == reference->total);
        assert_true(rows.self[i] == (side == BUTTERFLY_CALLEES ? reference->self : 0));
        assert_true(i == 0 || fabs(rows.total[i - 1]) >= fabs(rows.total[i]));
        bool has_children = false;
        for (const struct slow_node *c = reference->child; c; c = c->sibling)
            has_children |= c->alive;
        assert_true(rows.has_children[i] == has_children || may_cancel);
        assert_same_side(butterfly, side, rows.node[i], reference, may_cancel);
    }
    tree_rows_destroy(&rows);
}

static void check_focus(struct engine *engine, const struct slow_query *query, struct butterfly_focus focus)
{
    struct cut cut = {.query = query, .focus = focus, .engine = engine};
    struct slow_node whole = {0};
    struct slow_stack path = {.depth = 0};
    struct error err;
    slow_each_sample(query, cut_stack, &cut);
    slow_each_sample(query, grow_tree, &whole);
    slow_sum(&whole);
    if (focus.kind == BUTTERFLY_FUNCTION)
        collect_callers(&cut, &whole, &path);
    slow_sum(&cut.callers);
    slow_sum(&cut.callees);
    if (focus.kind == BUTTERFLY_FUNCTION)
        show_all(&cut.callers);
    struct butterfly made, *butterfly = &made;
    assert_int_equal(engine_compute_butterfly(engine, focus, butterfly, &err), 0);
    bool may_cancel = has_negative_weights(query);
    assert_true(butterfly->total == cut.total);
    assert_true(butterfly->self == cut.self);
    assert_same_side(butterfly, BUTTERFLY_CALLERS, NODE_NONE, &cut.callers, may_cancel);
    assert_same_side(butterfly, BUTTERFLY_CALLEES, NODE_NONE, &cut.callees, may_cancel);
    butterfly_destroy(butterfly);
    slow_free(&whole);
    slow_free(&cut.callers);
    slow_free(&cut.callees);
}

static void each_query(void (*check)(struct engine *engine, const struct slow_query *query, struct random *random))
{
    for (uint64_t seed = 0; seed < PROFILES; seed++) {
        struct profile reference;
        struct engine *engine = random_engine(&reference, seed);
        struct random random = {seed};
        struct slow_query query;
        slow_random_query(&query, &reference, &random);
        ask(engine, &query, false);
        check(engine, &query, &random);
        engine_free(engine);
        profile_destroy(&reference);
    }
}

static void check_all_centers(struct engine *engine, const struct slow_query *query, struct random *random)
{
    const struct profile *profile = query->profile;
    (void)random;
    for (uint32_t func = 0; func <= profile->funcs.length + profile->resources.length; func++)
        check_focus(engine, query, (struct butterfly_focus){BUTTERFLY_FUNCTION, func});
    for (uint32_t resource = 0; resource <= profile->resources.length; resource++)
        check_focus(engine, query, (struct butterfly_focus){BUTTERFLY_LIBRARY, resource});
    for (uint32_t category = 0; category <= profile->categories.length; category++)
        check_focus(engine, query, (struct butterfly_focus){BUTTERFLY_CATEGORY, category});
}

static void test_callers_and_callees_are_those_of_stacks_cut_at_the_center(void **state)
{
    (void)state;
    each_query(check_all_centers);
}

/* ---- as transforms ---- */

struct row_copy {
    uint32_t depth, func;
    double total, self;
};

ARRAY_TYPE(struct row_copies, struct row_copy);

static void copy_rows(struct row_copies *copies, const struct tree_rows *rows, uint32_t top_depth)
{
    copies->length = 0;
    for (size_t i = 0; i < rows->length; i++) {
        struct row_copy copy = {rows->depth[i] - top_depth, rows->func[i], rows->total[i], rows->self[i]};
        assert_true(array_push(copies, copy));
    }
}

/* Siblings of equal weight may come in another order. */
static int compare_copies(const void *left, const void *right)
{
    return memcmp(left, right, sizeof(struct row_copy));
}

static void assert_same_rows(struct row_copies *one, struct row_copies *other)
{
    assert_int_equal(one->length, other->length);
    if (one->length == 0)
        return;
    qsort(one->data, one->length, sizeof(*one->data), compare_copies);
    qsort(other->data, other->length, sizeof(*other->data), compare_copies);
    assert_memory_equal(one->data, other->data, one->length * sizeof(*one->data));
}

static void read_transformed(struct engine *engine, const struct slow_query *query, enum transform_kind kind,
                             uint32_t func, bool inverted, struct row_copies *copies)
{
    struct slow_query transformed = *query;
    struct tree_rows rows = {0};
    struct error err;
    uint32_t node;
    for (size_t i = 0; i < query->transform_count; i++)
        transformed.transforms[i].path = query->transforms[i].path;
    transformed.transforms[transformed.transform_count++] = (struct transform){.kind = kind, .index = func};
    ask(engine, &transformed, inverted);
    assert_int_equal(engine_find_node(engine, &func, 1, false, &node, &err), 0);
    if (node != NODE_NONE)
        assert_int_equal(engine_list_descendants(engine, node, SIZE_MAX, &rows, &err), 0);
    copy_rows(copies, &rows, 1);
    tree_rows_destroy(&rows);
}

static void check_transforms(struct engine *engine, const struct slow_query *query, struct random *random)
{
    uint32_t func = random_below(random, (uint32_t)query->profile->funcs.length);
    struct row_copies own = {0}, transformed = {0};
    struct tree_rows rows = {0};
    struct error err;
    /* A search looks at whole stacks: after the transform there is less to be found. */
    if (query->search[0] || query->transform_count == MAX_TRANSFORMS || has_negative_weights(query))
        return;
    for (int side = 0; side < 2; side++) {
        ask(engine, query, false);
        struct butterfly butterfly;
        assert_int_equal(
            engine_compute_butterfly(engine, (struct butterfly_focus){BUTTERFLY_FUNCTION, func}, &butterfly, &err), 0);
        assert_int_equal(
            butterfly_list_descendants(&butterfly, (enum butterfly_side)side, NODE_NONE, SIZE_MAX, &rows, &err), 0);
        copy_rows(&own, &rows, 0);
        butterfly_destroy(&butterfly);
        read_transformed(engine, query,
                         side == BUTTERFLY_CALLERS ? TRANSFORM_COLLAPSE_FUNCTION : TRANSFORM_FOCUS_FUNCTION, func,
                         side == BUTTERFLY_CALLERS, &transformed);
        assert_same_rows(&own, &transformed);
    }
    tree_rows_destroy(&rows);
    array_free(&own);
    array_free(&transformed);
}

static void test_a_function_s_callees_are_its_focus_and_its_callers_the_inverted_collapse(void **state)
{
    (void)state;
    each_query(check_transforms);
}

/* ---- handles ---- */

static void test_a_handle_of_no_row_is_refused(void **state)
{
    struct profile reference;
    struct engine *engine = random_engine(&reference, 3);
    struct tree_rows rows = {0};
    struct error err;
    (void)state;
    struct butterfly made, *butterfly = &made;
    struct slow_query query = {.profile = &reference, .range = whole_time};
    ask(engine, &query, false);
    assert_int_equal(engine_compute_butterfly(engine, (struct butterfly_focus){BUTTERFLY_FUNCTION, 0}, butterfly, &err),
                     0);
    assert_true(butterfly_list_children(butterfly, BUTTERFLY_CALLEES, 100000, &rows, &err) < 0);
    assert_true(butterfly_list_children(butterfly, BUTTERFLY_CALLERS, 0, &rows, &err) < 0);
    butterfly_destroy(butterfly);
    tree_rows_destroy(&rows);
    engine_free(engine);
    profile_destroy(&reference);
}

static void list_focus(struct engine *engine, const struct slow_query *query, struct butterfly_focus focus,
                       const struct func_timings *list)
{
    struct cut cut = {.query = query, .focus = focus, .engine = engine};
    double total = 0, self = 0;
    slow_each_sample(query, cut_stack, &cut);
    for (size_t i = 0; i < list->length; i++)
        if (list->rows[i].func == focus.index) {
            total = list->rows[i].total;
            self = list->rows[i].self;
        }
    assert_true(total == cut.total);
    assert_true(self == cut.self);
    slow_free(&cut.callees);
    slow_free(&cut.callers);
}

static void assert_lists_all_self_time(struct engine *engine, const struct func_timings *list)
{
    double self = 0, expected = 0;
    for (size_t i = 0; i < list->length; i++)
        self += list->rows[i].self;
    for (size_t node = 0; node < engine_get_nodes(engine)->length; node++)
        expected += engine_get_timings(engine)->self[node];
    assert_true(self == expected);
}

static void check_lists(struct engine *engine, const struct slow_query *query, struct random *random)
{
    struct func_timings list;
    struct error err;
    (void)random;
    assert_int_equal(engine_list_groups(engine, GROUP_LIBRARY, &list, &err), 0);
    for (uint32_t i = 0; i < query->profile->resources.length; i++)
        list_focus(engine, query, (struct butterfly_focus){BUTTERFLY_LIBRARY, i}, &list);
    list_focus(engine, query, (struct butterfly_focus){BUTTERFLY_LIBRARY, PROFILE_NONE}, &list);
    assert_lists_all_self_time(engine, &list);
    func_timings_destroy(&list);
    assert_int_equal(engine_list_groups(engine, GROUP_CATEGORY, &list, &err), 0);
    for (uint32_t i = 0; i < query->profile->categories.length; i++)
        list_focus(engine, query, (struct butterfly_focus){BUTTERFLY_CATEGORY, i}, &list);
    assert_lists_all_self_time(engine, &list);
    func_timings_destroy(&list);
}

static void test_a_sample_counts_once_for_each_library_and_category_of_its_stack(void **state)
{
    (void)state;
    each_query(check_lists);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_callers_and_callees_are_those_of_stacks_cut_at_the_center),
        cmocka_unit_test(test_a_function_s_callees_are_its_focus_and_its_callers_the_inverted_collapse),
        cmocka_unit_test(test_a_handle_of_no_row_is_refused),
        cmocka_unit_test(test_a_sample_counts_once_for_each_library_and_category_of_its_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
