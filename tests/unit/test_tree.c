/*
 * The engine against slow, obvious reference implementations, on thousands of small random profiles: a call tree that
 * is grown sample by sample, the same with reversed stacks, and sets of funcs per sample.
 */
#include "slow_tree_check.h"

enum { PROFILES = 4000 };

/* ---- trees ---- */

/* Runs `check` on several queries, one after another, of each of many random profiles. */
static void each_random_query(void (*check)(struct engine *engine, const struct slow_query *query))
{
    for (uint64_t seed = 0; seed < PROFILES; seed++) {
        struct profile reference;
        struct engine *engine = random_engine(&reference, seed);
        struct random random = {seed};
        for (int i = 0; i < 3; i++) {
            struct slow_query query;
            slow_random_query(&query, &reference, &random);
            check(engine, &query);
        }
        engine_free(engine);
        profile_destroy(&reference);
    }
}

static void test_call_tree_is_that_of_the_reference(void **state)
{
    (void)state;
    each_random_query(check_call_tree);
}

static void test_inverted_tree_is_that_of_the_reference(void **state)
{
    (void)state;
    each_random_query(check_inverted_tree);
}

struct slow_functions {
    double total[16], self[16];
};

static void add_functions(void *context, const struct slow_stack *stack, double weight)
{
    struct slow_functions *functions = context;
    functions->self[stack->frames[stack->depth - 1].func] += weight;
    for (size_t i = 0; i < stack->depth; i++) {
        uint32_t func = stack->frames[i].func;
        if (slow_first(stack, func) == i)
            functions->total[func] += weight;
    }
}

static void check_functions(struct engine *engine, const struct slow_query *query)
{
    struct slow_functions slow = {0};
    slow_each_sample(query, add_functions, &slow);
    ask(engine, query, false);
    struct func_timings functions;
    struct error err;
    assert_int_equal(engine_list_all_functions(engine, FUNCS_BY_SELF, &functions, &err), 0);
    for (size_t i = 0; i < functions.length; i++) {
        uint32_t func = functions.rows[i].func;
        assert_true(functions.rows[i].total == slow.total[func]);
        assert_true(functions.rows[i].self == slow.self[func]);
        assert_true(i == 0 || fabs(functions.rows[i - 1].self) >= fabs(functions.rows[i].self));
        slow.total[func] = slow.self[func] = 0;
    }
    for (size_t func = 0; func < 16; func++) /* nothing is missing */
        assert_true(slow.total[func] == 0 && slow.self[func] == 0);
    func_timings_destroy(&functions);
}

static void test_function_list_counts_recursion_once(void **state)
{
    (void)state;
    each_random_query(check_functions);
}

/* ---- tables ---- */

static bool same_call_path(const struct profile *profile, uint32_t a, uint32_t b)
{
    struct slow_stack left, right;
    slow_stack_read(&left, profile, a);
    slow_stack_read(&right, profile, b);
    bool same = left.depth == right.depth;
    for (size_t i = 0; same && i < left.depth; i++)
        same = left.frames[i].func == right.frames[i].func;
    return same;
}

static void test_stacks_share_a_node_exactly_if_their_funcs_are_equal(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < PROFILES / 4; seed++) {
        struct profile reference;
        struct engine *engine = random_engine(&reference, seed);
        const struct call_nodes *nodes = engine_get_nodes(engine);
        for (uint32_t a = 0; a < reference.stacks.length; a++) {
            uint32_t category = slow_category(&reference, a), node = nodes->of_stack[a];
            for (uint32_t b = 0; b < reference.stacks.length; b++) {
                bool same = same_call_path(&reference, a, b);
                assert_int_equal(same, node == nodes->of_stack[b]);
                if (same && slow_category(&reference, b) != category)
                    category = profile_find_default_category(&reference);
            }
            assert_int_equal(nodes->category[node], category);
        }
        engine_free(engine);
        profile_destroy(&reference);
    }
}

static void test_call_nodes_are_numbered_depth_first(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < PROFILES / 4; seed++) {
        struct profile reference;
        struct engine *engine = random_engine(&reference, seed);
        const struct call_nodes *nodes = engine_get_nodes(engine);
        for (uint32_t node = 0; node < nodes->length; node++) {
            uint32_t prefix = nodes->prefix[node], last = node;
            assert_int_equal(nodes->depth[node], prefix == NODE_NONE ? 0 : nodes->depth[prefix] + 1);
            if (prefix != NODE_NONE)
                assert_true(prefix < node && node < nodes->end[prefix]);
            for (uint32_t other = node + 1; other < nodes->length; other++) {
                uint32_t up = other;
                while (up != NODE_NONE && up != node)
                    up = nodes->prefix[up];
                if (up == node)
                    last = other;
            }
            assert_int_equal(nodes->end[node], last + 1);
        }
        engine_free(engine);
        profile_destroy(&reference);
    }
}

/* A root that calls `width` different funcs, each twice with another callee: more children than a list is walked for.
 */
static void test_node_with_many_children_merges_like_any_other(void **state)
{
    (void)state;
    enum { WIDTH = 3000 };
    struct profile profile;
    struct error err;
    profile_init(&profile);
    uint32_t name = strings_add_z(&profile.strings, "f");
    for (uint32_t i = 0; i <= WIDTH; i++)
        profile_add_frame(&profile, profile_add_func(&profile, name, PROFILE_NONE), PROFILE_NONE, -1);
    uint32_t root = profile_add_stack(&profile, PROFILE_NONE, WIDTH);
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < WIDTH; i++)
            profile_add_stack(&profile, profile_add_stack(&profile, root, i * 7 % WIDTH), round);
    struct thread *thread = profile_add_thread(&profile);
    for (uint32_t stack = 0; stack < profile.stacks.length; stack++)
        samples_add(&thread->samples, stack, stack);
    struct engine *engine = engine_new(&profile, &err);
    assert_non_null(engine);
    const uint32_t only = 0;
    const struct tree_query query = {.threads = &only, .thread_count = 1, .range = whole_time};
    assert_int_equal(engine_set_query(engine, &query, &err), 0);
    assert_int_equal(engine_get_nodes(engine)->length, 1 + WIDTH * 3);
    struct tree_rows rows = {0};
    assert_int_equal(engine_list_children(engine, 0, &rows, &err), 0);
    assert_int_equal(rows.length, WIDTH);
    for (size_t i = 0; i < rows.length; i++)
        assert_true(rows.total[i] == 4 && rows.self[i] == 2);
    tree_rows_destroy(&rows);
    engine_free(engine);
}

/* ---- moving about ---- */

static void check_paths(struct engine *engine, const struct slow_query *query)
{
    struct tree_rows rows = {0};
    struct node_path path = {0};
    struct error err;
    for (int inverted = 0; inverted < 2; inverted++) {
        ask(engine, query, inverted);
        assert_int_equal(engine_list_descendants(engine, NODE_NONE, 200, &rows, &err), 0);
        for (size_t i = 0; i < rows.length; i++) {
            uint32_t node;
            assert_int_equal(engine_read_path(engine, rows.node[i], &path, &err), 0);
            assert_int_equal(path.length, rows.depth[i] + 1);
            assert_int_equal(engine_find_node(engine, path.data, path.length, false, &node, &err), 0);
            assert_int_equal(node, rows.node[i]);
            assert_true(array_push(&path, PROFILE_NONE));
            assert_int_equal(engine_find_node(engine, path.data, path.length, false, &node, &err), 0);
            assert_int_equal(node, NODE_NONE);
            assert_int_equal(engine_find_node(engine, path.data, path.length, true, &node, &err), 0);
            assert_int_equal(node, rows.node[i]);
        }
    }
    array_free(&path);
    tree_rows_destroy(&rows);
}

static void test_a_node_is_found_again_by_its_path(void **state)
{
    (void)state;
    each_random_query(check_paths);
}

enum { IDLE = 3, PATH_DEPTH = 17 }; /* of random_profile() */

/* In all rows of a tree, depth first. */
static size_t subtree_end(const struct tree_rows *all, size_t row)
{
    size_t end = row + 1;
    while (end < all->length && all->depth[end] > all->depth[row])
        end++;
    return end;
}

/* `idle`: IDLE, or PROFILE_NONE where waits are what is asked for. */
static double slow_busy(const struct tree_rows *all, size_t row, uint32_t idle)
{
    double sum = 0;
    for (size_t i = row; i < subtree_end(all, row); i++)
        sum += all->category[i] == idle ? 0 : all->self[i];
    return fabs(sum);
}

static bool slow_is_about_waits(const struct slow_query *query)
{
    bool has_waits = false;
    for (size_t t = 0; t < query->profile->threads.length; t++) {
        const struct sample_table *samples = &query->profile->threads.data[t].samples;
        for (size_t i = 0; i < samples->length; i++)
            has_waits |= slow_is_wait_row(query->profile, samples, i);
    }
    return has_waits && (query->weight == WEIGH_OFF_CPU_TIME || query->weight == WEIGH_OFF_CPU);
}

static void compare_heaviest_path(const struct tree_rows *all, uint32_t idle, double share,
                                  const struct node_path *path)
{
    double whole = 0, self = 0;
    for (size_t i = 0; i < all->length; i++)
        whole += all->category[i] == idle ? 0 : fabs(all->self[i]);
    size_t depth = 0, first = 0, end = all->length;
    for (; depth < PATH_DEPTH; depth++) {
        size_t best = SIZE_MAX;
        for (size_t i = first; i < end; i = subtree_end(all, i))
            if (all->category[i] != idle && (best == SIZE_MAX || slow_busy(all, i, idle) > slow_busy(all, best, idle)))
                best = i;
        if (best == SIZE_MAX || self > slow_busy(all, best, idle) ||
            (depth && slow_busy(all, best, idle) < share * whole))
            break;
        assert_true(depth < path->length);
        assert_int_equal(path->data[depth], all->func[best]);
        self = fabs(all->self[best]);
        first = best + 1;
        end = subtree_end(all, best);
    }
    assert_int_equal(path->length, depth);
}

static void check_heaviest_path(struct engine *engine, const struct slow_query *query)
{
    struct tree_rows all = {0};
    struct node_path path = {0};
    struct error err;
    ask(engine, query, false);
    assert_int_equal(engine_list_descendants(engine, NODE_NONE, 100000, &all, &err), 0);
    for (int share = 0; share < 2; share++) {
        assert_int_equal(engine_find_heaviest_path(engine, PATH_DEPTH, share * 0.25, &path, &err), 0);
        compare_heaviest_path(&all, slow_is_about_waits(query) ? PROFILE_NONE : IDLE, share * 0.25, &path);
    }
    array_free(&path);
    tree_rows_destroy(&all);
}

static void test_heaviest_path_is_that_of_what_is_not_idle(void **state)
{
    (void)state;
    each_random_query(check_heaviest_path);
}

static size_t compare_descendants(struct engine *engine, uint32_t node, const struct tree_rows *all, size_t at)
{
    struct tree_rows children = {0};
    struct error err;
    assert_int_equal(engine_list_children(engine, node, &children, &err), 0);
    for (size_t i = 0; i < children.length && at < all->length; i++) {
        assert_int_equal(all->node[at], children.node[i]);
        at = compare_descendants(engine, children.node[i], all, at + 1);
    }
    tree_rows_destroy(&children);
    return at;
}

static void check_descendants(struct engine *engine, const struct slow_query *query)
{
    for (int inverted = 0; inverted < 2; inverted++) {
        ask(engine, query, inverted);
        struct tree_rows all = {0};
        struct error err;
        assert_int_equal(engine_list_descendants(engine, NODE_NONE, 17, &all, &err), 0);
        assert_int_equal(compare_descendants(engine, NODE_NONE, &all, 0), all.length);
        tree_rows_destroy(&all);
    }
}

static void test_descendants_are_the_children_of_children_up_to_the_limit(void **state)
{
    (void)state;
    each_random_query(check_descendants);
}

/* ---- details ---- */

struct slow_details {
    const struct profile *profile;
    const struct node_path *path;
    bool inverted;
    uint32_t func; /* of add_details_of_func() */
    double category_total[4], category_self[4], line_total[4], line_self[4];
    double truncated;
};

static bool path_is_on(const struct slow_details *slow, const struct slow_stack *stack)
{
    if (stack->depth < slow->path->length)
        return false;
    for (size_t i = 0; i < slow->path->length; i++)
        if (slow->path->data[i] != stack->frames[slow->inverted ? stack->depth - 1 - i : i].func)
            return false;
    return true;
}

static bool is_cut(const struct slow_details *slow, const struct slow_stack *stack)
{
    uint32_t root = stack->frames[0].func;
    return root < slow->profile->funcs.length &&
           strcmp(strings_text(&slow->profile->strings, slow->profile->funcs.name[root]), "(truncated)") == 0;
}

static void add_details_at(struct slow_details *slow, const struct slow_stack *stack, size_t at, double weight)
{
    bool is_library = stack->frames[at].func >= slow->profile->funcs.length;
    uint32_t line = is_library ? 0 : slow->profile->frames.line[stack->frames[at].frame];
    slow->category_total[stack->category] += weight;
    slow->line_total[line] += weight;
    if (at + 1 == stack->depth) {
        slow->category_self[stack->category] += weight;
        slow->line_self[line] += weight;
    }
    slow->truncated += is_cut(slow, stack) ? weight : 0;
}

static void add_details(void *context, const struct slow_stack *stack, double weight)
{
    struct slow_details *slow = context;
    if (path_is_on(slow, stack))
        add_details_at(slow, stack, slow->inverted ? stack->depth - slow->path->length : slow->path->length - 1,
                       weight);
}

static void add_details_of_func(void *context, const struct slow_stack *stack, double weight)
{
    struct slow_details *slow = context;
    for (size_t at = stack->depth; at-- > 0;)
        if (stack->frames[at].func == slow->func) {
            add_details_at(slow, stack, at, weight);
            break;
        }
}

static void assert_same_details(const struct node_details *details, struct slow_details *slow)
{
    for (size_t c = 0; c < details->categories_total.length; c++) {
        double *weight = &slow->category_total[details->categories_total.data[c].category];
        assert_true(details->categories_total.data[c].weight == *weight);
        *weight = 0;
    }
    for (size_t c = 0; c < details->categories_self.length; c++) {
        double *weight = &slow->category_self[details->categories_self.data[c].category];
        assert_true(details->categories_self.data[c].weight == *weight);
        *weight = 0;
    }
    for (size_t l = 0; l < details->lines.length; l++) {
        uint32_t line = details->lines.data[l].line;
        assert_int_not_equal(line, 0);
        assert_true(details->lines.data[l].total == slow->line_total[line]);
        assert_true(details->lines.data[l].self == slow->line_self[line]);
        slow->line_total[line] = slow->line_self[line] = 0;
    }
    for (int k = 0; k < 4; k++) { /* nothing is missing */
        assert_true(slow->category_total[k] == 0 && slow->category_self[k] == 0);
        assert_true(k == 0 || (slow->line_total[k] == 0 && slow->line_self[k] == 0));
    }
    assert_true(details->truncated == slow->truncated);
}

static void check_details(struct engine *engine, const struct slow_query *query)
{
    struct tree_rows rows = {0};
    struct node_path path = {0};
    struct error err;
    for (int inverted = 0; inverted < 2; inverted++) {
        ask(engine, query, inverted);
        assert_int_equal(engine_list_descendants(engine, NODE_NONE, 20, &rows, &err), 0);
        for (size_t i = 0; i < rows.length; i++) {
            assert_int_equal(engine_read_path(engine, rows.node[i], &path, &err), 0);
            struct slow_details slow = {.profile = query->profile, .path = &path, .inverted = inverted};
            slow_each_sample(query, add_details, &slow);
            struct node_details details = {0};
            assert_int_equal(engine_compute_details(engine, rows.node[i], &details, &err), 0);
            assert_same_details(&details, &slow);
            node_details_destroy(&details);
        }
    }
    array_free(&path);
    tree_rows_destroy(&rows);
}

static void test_details_of_a_node_are_those_of_the_reference(void **state)
{
    (void)state;
    each_random_query(check_details);
}

static void check_func_details(struct engine *engine, const struct slow_query *query)
{
    struct error err;
    ask(engine, query, false);
    for (uint32_t func = 0; func <= query->profile->funcs.length + query->profile->resources.length; func++) {
        struct slow_details slow = {.profile = query->profile, .func = func};
        struct node_details details = {0};
        slow_each_sample(query, add_details_of_func, &slow);
        assert_int_equal(engine_compute_function_details(engine, func, &details, &err), 0);
        assert_same_details(&details, &slow);
        node_details_destroy(&details);
    }
}

static void test_details_of_a_func_are_those_of_its_innermost_frames(void **state)
{
    (void)state;
    each_random_query(check_func_details);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_call_tree_is_that_of_the_reference),
        cmocka_unit_test(test_inverted_tree_is_that_of_the_reference),
        cmocka_unit_test(test_function_list_counts_recursion_once),
        cmocka_unit_test(test_stacks_share_a_node_exactly_if_their_funcs_are_equal),
        cmocka_unit_test(test_call_nodes_are_numbered_depth_first),
        cmocka_unit_test(test_node_with_many_children_merges_like_any_other),
        cmocka_unit_test(test_a_node_is_found_again_by_its_path),
        cmocka_unit_test(test_heaviest_path_is_that_of_what_is_not_idle),
        cmocka_unit_test(test_descendants_are_the_children_of_children_up_to_the_limit),
        cmocka_unit_test(test_details_of_a_node_are_those_of_the_reference),
        cmocka_unit_test(test_details_of_a_func_are_those_of_its_innermost_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
