/*
 * The engine against slow, obvious twins, on thousands of small random profiles: a call tree that is grown sample by
 * sample, the same with reversed stacks, and sets of funcs per sample.
 */
#include "random_profile.h"
#include "tree/engine.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { PROFILES = 4000, MAX_DEPTH = 128 };

/* ---- the slow tree ---- */

struct slow_node {
    uint32_t func;
    double self, total;
    bool alive;
    struct slow_node *child, *sibling;
};

static struct slow_node *slow_child(struct slow_node *node, uint32_t func)
{
    for (struct slow_node *c = node->child; c; c = c->sibling)
        if (c->func == func)
            return c;
    struct slow_node *child = calloc(1, sizeof(*child));
    child->func = func;
    child->sibling = node->child;
    node->child = child;
    return child;
}

static void slow_free(struct slow_node *node)
{
    while (node->child) {
        struct slow_node *child = node->child;
        node->child = child->sibling;
        slow_free(child);
        free(child);
    }
}

static void slow_sum(struct slow_node *node)
{
    node->total = node->self;
    node->alive = node->self != 0;
    for (struct slow_node *c = node->child; c; c = c->sibling) {
        slow_sum(c);
        node->total += c->total;
        node->alive |= c->alive;
    }
}

/* ---- the slow query ---- */

struct slow_query {
    const struct profile *profile;
    uint32_t threads[8];
    size_t thread_count;
    struct time_range range;
    char search[64];
};

static size_t slow_funcs(const struct profile *profile, uint32_t stack, uint32_t *leaf_first)
{
    size_t depth = 0;
    for (; stack != PROFILE_NONE; stack = profile->stacks.prefix[stack])
        leaf_first[depth++] = profile->frames.func[profile->stacks.frame[stack]];
    return depth;
}

static bool slow_contains(const char *text, const char *term, size_t length)
{
    for (; strlen(text) >= length; text++) {
        size_t i = 0;
        while (i < length && tolower((unsigned char)text[i]) == tolower((unsigned char)term[i]))
            i++;
        if (i == length)
            return true;
    }
    return false;
}

static bool slow_term_matches_func(const struct profile *profile, uint32_t func, const char *term, size_t length)
{
    const struct func_table *funcs = &profile->funcs;
    uint32_t resource = funcs->resource[func], source = funcs->source[func];
    const struct strings *strings = &profile->strings;
    return slow_contains(strings_text(strings, funcs->name[func]), term, length) ||
           (resource != PROFILE_NONE &&
            slow_contains(strings_text(strings, profile->resources.data[resource].name), term, length)) ||
           (source != PROFILE_NONE &&
            slow_contains(strings_text(strings, profile->sources.data[source].filename), term, length));
}

static bool slow_matches(const struct slow_query *query, const uint32_t *funcs, size_t depth)
{
    for (const char *term = query->search; *term;) {
        size_t length = strcspn(term, ",");
        bool found = length == 0;
        for (size_t i = 0; i < depth && !found; i++)
            found = slow_term_matches_func(query->profile, funcs[i], term, length);
        if (!found)
            return false;
        term += length + (term[length] == ',');
    }
    return true;
}

/* Calls `visit` for every sample that counts, with its funcs leaf first. */
static void slow_each_sample(const struct slow_query *query,
                             void (*visit)(void *context, uint32_t stack, const uint32_t *funcs, size_t depth,
                                           double weight),
                             void *context)
{
    uint32_t funcs[MAX_DEPTH];
    for (size_t t = 0; t < query->thread_count; t++) {
        const struct sample_table *samples = &query->profile->threads.data[query->threads[t]].samples;
        for (size_t i = 0; i < samples->length; i++) {
            if (samples->stack[i] == PROFILE_NONE || samples->time[i] < query->range.from ||
                samples->time[i] >= query->range.to)
                continue;
            size_t depth = slow_funcs(query->profile, samples->stack[i], funcs);
            if (slow_matches(query, funcs, depth))
                visit(context, samples->stack[i], funcs, depth, samples->weight ? samples->weight[i] : 1);
        }
    }
}

static void grow_tree(void *context, uint32_t stack, const uint32_t *funcs, size_t depth, double weight)
{
    (void)stack;
    struct slow_node *node = context;
    for (size_t i = depth; i-- > 0;)
        node = slow_child(node, funcs[i]);
    node->self += weight;
}

/* Grows the inverted tree from the nodes that have self time left after the samples of equal stacks were added up:
 * those are shown, even where they cancel each other out. */
static void grow_inverted_tree(const struct slow_node *node, uint32_t *path, size_t depth, struct slow_node *inverted)
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

static void show_all(struct slow_node *node)
{
    node->alive = true;
    for (struct slow_node *c = node->child; c; c = c->sibling)
        show_all(c);
}

static void random_query(struct slow_query *query, const struct profile *profile, struct random *random)
{
    static const char *const searches[] = {
        "",        "",  "",        "funca",     "FuncA", "liba", "file1",   "x::R", "b,liba",         "a,b,c",
        "nowhere", ",", "run(int", "e0.c,Func", "A:",    "func", "libA.so", "t)",   "Funcb::run(int)"};
    *query = (struct slow_query){.profile = profile, .range = whole_time};
    for (uint32_t i = 0; i < profile->threads.length; i++)
        if (random_below(random, 3))
            query->threads[query->thread_count++] = i;
    if (random_below(random, 2)) {
        query->range.from = random_below(random, 40) * 0.5;
        query->range.to = query->range.from + random_below(random, 60) * 0.5;
    }
    strcpy(query->search, searches[random_below(random, sizeof(searches) / sizeof(*searches))]);
}

static void ask(struct engine *engine, const struct slow_query *slow, bool inverted)
{
    struct tree_query query = {.threads = slow->threads,
                               .thread_count = slow->thread_count,
                               .range = slow->range,
                               .search = slow->search,
                               .search_length = strlen(slow->search),
                               .inverted = inverted};
    struct error err;
    assert_int_equal(engine_query(engine, &query, &err), 0);
}

/* ---- comparing ---- */

static void assert_same_children(struct engine *engine, uint32_t handle, const struct slow_node *slow, bool inverted)
{
    struct tree_rows rows = {0};
    struct error err;
    assert_int_equal(engine_children(engine, handle, &rows, &err), 0);
    size_t alive = 0;
    for (const struct slow_node *c = slow->child; c; c = c->sibling)
        alive += c->alive;
    assert_int_equal(rows.length, alive);
    for (size_t i = 0; i < rows.length; i++) {
        const struct slow_node *twin = slow->child;
        while (twin && twin->func != rows.func[i])
            twin = twin->sibling;
        assert_non_null(twin);
        assert_true(twin->alive);
        assert_true(rows.total[i] == twin->total);
        assert_true(rows.self[i] == (!inverted ? twin->self : handle == NODE_NONE ? twin->total : 0));
        assert_true(i == 0 || fabs(rows.total[i - 1]) >= fabs(rows.total[i]));
        bool has_children = false;
        for (const struct slow_node *c = twin->child; c; c = c->sibling)
            has_children |= c->alive;
        assert_int_equal(rows.has_children[i], has_children);
        assert_same_children(engine, rows.node[i], twin, inverted);
    }
    tree_rows_destroy(&rows);
}

static double slow_root_total(const struct slow_node *node)
{
    double sum = fabs(node->self);
    for (const struct slow_node *c = node->child; c; c = c->sibling)
        sum += slow_root_total(c);
    return sum;
}

static struct engine *random_engine(struct profile *twin, uint64_t seed)
{
    struct profile profile;
    struct error err = {""};
    random_profile(&profile, seed);
    random_profile(twin, seed);
    assert_int_equal(profile_check(&profile, &err), 0);
    struct engine *engine = engine_new(&profile, &err);
    assert_non_null(engine);
    return engine;
}

/* Runs `check` on several queries, one after another, of each of many random profiles. */
static void each_random_query(void (*check)(struct engine *engine, const struct slow_query *query))
{
    for (uint64_t seed = 0; seed < PROFILES; seed++) {
        struct profile twin;
        struct engine *engine = random_engine(&twin, seed);
        struct random random = {seed};
        for (int i = 0; i < 3; i++) {
            struct slow_query query;
            random_query(&query, &twin, &random);
            check(engine, &query);
        }
        engine_free(engine);
        profile_destroy(&twin);
    }
}

static void check_call_tree(struct engine *engine, const struct slow_query *query)
{
    struct slow_node root = {0};
    slow_each_sample(query, grow_tree, &root);
    slow_sum(&root);
    ask(engine, query, false);
    assert_same_children(engine, NODE_NONE, &root, false);
    assert_true(engine_timings(engine)->root_total == slow_root_total(&root));
    slow_free(&root);
}

static void test_call_tree_is_that_of_the_slow_twin(void **state)
{
    (void)state;
    each_random_query(check_call_tree);
}

static void check_inverted_tree(struct engine *engine, const struct slow_query *query)
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

static void test_inverted_tree_is_that_of_the_slow_twin(void **state)
{
    (void)state;
    each_random_query(check_inverted_tree);
}

struct slow_functions {
    double total[16], self[16];
};

static void add_functions(void *context, uint32_t stack, const uint32_t *funcs, size_t depth, double weight)
{
    (void)stack;
    struct slow_functions *functions = context;
    functions->self[funcs[0]] += weight;
    for (size_t i = 0; i < depth; i++) {
        bool repeated = false;
        for (size_t j = 0; j < i; j++)
            repeated |= funcs[j] == funcs[i];
        if (!repeated)
            functions->total[funcs[i]] += weight;
    }
}

static void check_functions(struct engine *engine, const struct slow_query *query)
{
    struct slow_functions slow = {0};
    slow_each_sample(query, add_functions, &slow);
    ask(engine, query, false);
    struct func_timings functions;
    struct error err;
    assert_int_equal(engine_functions(engine, FUNCS_BY_SELF, &functions, &err), 0);
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
    uint32_t path_a[MAX_DEPTH], path_b[MAX_DEPTH];
    size_t depth = slow_funcs(profile, a, path_a);
    return depth == slow_funcs(profile, b, path_b) && memcmp(path_a, path_b, depth * sizeof(*path_a)) == 0;
}

static uint32_t slow_category(const struct profile *profile, uint32_t stack)
{
    for (; stack != PROFILE_NONE; stack = profile->stacks.prefix[stack])
        if (profile->frames.category[profile->stacks.frame[stack]] != PROFILE_NONE)
            return profile->frames.category[profile->stacks.frame[stack]];
    return profile_default_category(profile);
}

static void test_stacks_share_a_node_exactly_if_their_funcs_are_equal(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < PROFILES / 4; seed++) {
        struct profile twin;
        struct engine *engine = random_engine(&twin, seed);
        const struct call_nodes *nodes = engine_nodes(engine);
        for (uint32_t a = 0; a < twin.stacks.length; a++) {
            uint32_t category = slow_category(&twin, a), node = nodes->of_stack[a];
            for (uint32_t b = 0; b < twin.stacks.length; b++) {
                bool same = same_call_path(&twin, a, b);
                assert_int_equal(same, node == nodes->of_stack[b]);
                if (same && slow_category(&twin, b) != category)
                    category = profile_default_category(&twin);
            }
            assert_int_equal(nodes->category[node], category);
        }
        engine_free(engine);
        profile_destroy(&twin);
    }
}

static void test_call_nodes_are_numbered_depth_first(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < PROFILES / 4; seed++) {
        struct profile twin;
        struct engine *engine = random_engine(&twin, seed);
        const struct call_nodes *nodes = engine_nodes(engine);
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
        profile_destroy(&twin);
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
    assert_int_equal(engine_nodes(engine)->length, 1 + WIDTH * 3);
    struct tree_rows rows = {0};
    assert_int_equal(engine_children(engine, 0, &rows, &err), 0);
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
        assert_int_equal(engine_descendants(engine, NODE_NONE, 200, &rows, &err), 0);
        for (size_t i = 0; i < rows.length; i++) {
            uint32_t node;
            assert_int_equal(engine_path(engine, rows.node[i], &path, &err), 0);
            assert_int_equal(path.length, rows.depth[i] + 1);
            assert_int_equal(engine_find(engine, path.data, path.length, false, &node, &err), 0);
            assert_int_equal(node, rows.node[i]);
            assert_true(array_push(&path, query->profile->funcs.length));
            assert_int_equal(engine_find(engine, path.data, path.length, false, &node, &err), 0);
            assert_int_equal(node, NODE_NONE);
            assert_int_equal(engine_find(engine, path.data, path.length, true, &node, &err), 0);
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

static size_t compare_descendants(struct engine *engine, uint32_t node, const struct tree_rows *all, size_t at)
{
    struct tree_rows children = {0};
    struct error err;
    assert_int_equal(engine_children(engine, node, &children, &err), 0);
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
        assert_int_equal(engine_descendants(engine, NODE_NONE, 17, &all, &err), 0);
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
    double category_total[4], category_self[4], line_total[4], line_self[4];
};

static bool path_is_on(const struct slow_details *slow, const uint32_t *leaf_first, size_t depth)
{
    if (depth < slow->path->length)
        return false;
    for (size_t i = 0; i < slow->path->length; i++)
        if (slow->path->data[i] != leaf_first[slow->inverted ? i : depth - 1 - i])
            return false;
    return true;
}

static void add_details(void *context, uint32_t stack, const uint32_t *funcs, size_t depth, double weight)
{
    struct slow_details *slow = context;
    if (!path_is_on(slow, funcs, depth))
        return;
    uint32_t category = slow_category(slow->profile, stack);
    size_t above = slow->inverted ? slow->path->length - 1 : depth - slow->path->length;
    uint32_t anchor = stack;
    for (size_t i = 0; i < above; i++)
        anchor = slow->profile->stacks.prefix[anchor];
    uint32_t line = slow->profile->frames.line[slow->profile->stacks.frame[anchor]];
    slow->category_total[category] += weight;
    slow->line_total[line] += weight;
    if (above == 0) {
        slow->category_self[category] += weight;
        slow->line_self[line] += weight;
    }
}

static void check_details(struct engine *engine, const struct slow_query *query)
{
    struct tree_rows rows = {0};
    struct node_path path = {0};
    struct error err;
    for (int inverted = 0; inverted < 2; inverted++) {
        ask(engine, query, inverted);
        assert_int_equal(engine_descendants(engine, NODE_NONE, 20, &rows, &err), 0);
        for (size_t i = 0; i < rows.length; i++) {
            assert_int_equal(engine_path(engine, rows.node[i], &path, &err), 0);
            struct slow_details slow = {.profile = query->profile, .path = &path, .inverted = inverted};
            slow_each_sample(query, add_details, &slow);
            struct node_details details = {0};
            assert_int_equal(engine_details(engine, rows.node[i], &details, &err), 0);
            for (size_t c = 0; c < details.categories_total.length; c++) {
                double *weight = &slow.category_total[details.categories_total.data[c].category];
                assert_true(details.categories_total.data[c].weight == *weight);
                *weight = 0;
            }
            for (size_t c = 0; c < details.categories_self.length; c++) {
                double *weight = &slow.category_self[details.categories_self.data[c].category];
                assert_true(details.categories_self.data[c].weight == *weight);
                *weight = 0;
            }
            for (size_t l = 0; l < details.lines.length; l++) {
                uint32_t line = details.lines.data[l].line;
                assert_int_not_equal(line, 0);
                assert_true(details.lines.data[l].total == slow.line_total[line]);
                assert_true(details.lines.data[l].self == slow.line_self[line]);
                slow.line_total[line] = slow.line_self[line] = 0;
            }
            for (int k = 0; k < 4; k++) { /* nothing is missing */
                assert_true(slow.category_total[k] == 0 && slow.category_self[k] == 0);
                assert_true(k == 0 || (slow.line_total[k] == 0 && slow.line_self[k] == 0));
            }
            node_details_destroy(&details);
        }
    }
    array_free(&path);
    tree_rows_destroy(&rows);
}

static void test_details_of_a_node_are_those_of_the_slow_twin(void **state)
{
    (void)state;
    each_random_query(check_details);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_call_tree_is_that_of_the_slow_twin),
        cmocka_unit_test(test_inverted_tree_is_that_of_the_slow_twin),
        cmocka_unit_test(test_function_list_counts_recursion_once),
        cmocka_unit_test(test_stacks_share_a_node_exactly_if_their_funcs_are_equal),
        cmocka_unit_test(test_call_nodes_are_numbered_depth_first),
        cmocka_unit_test(test_node_with_many_children_merges_like_any_other),
        cmocka_unit_test(test_a_node_is_found_again_by_its_path),
        cmocka_unit_test(test_descendants_are_the_children_of_children_up_to_the_limit),
        cmocka_unit_test(test_details_of_a_node_are_those_of_the_slow_twin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
