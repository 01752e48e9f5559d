/*
 * Sequences of transforms, applied and undone, and the paths of rows across them. test_tree.c compares the result of
 * each transform with a slow reference, together with ranges and searches.
 */
#include "slow_tree_check.h"

enum { PROFILES = 3000, STEPS = 8 };

/* Runs `check` with a query that gets one transform more each time, or loses some. */
static void each_step(void (*check)(struct engine *engine, const struct slow_query *query))
{
    for (uint64_t seed = 0; seed < PROFILES; seed++) {
        struct profile reference;
        struct engine *engine = random_engine(&reference, seed);
        struct random random = {seed};
        struct slow_query query;
        slow_random_query(&query, &reference, &random);
        query.transform_count = 0;
        for (int step = 0; step < STEPS; step++) {
            if (query.transform_count < MAX_TRANSFORMS && random_below(&random, 4))
                slow_add_transform(&query, &random);
            else if (query.transform_count)
                query.transform_count -= 1 + random_below(&random, (uint32_t)query.transform_count);
            check(engine, &query);
        }
        engine_free(engine);
        profile_destroy(&reference);
    }
}

static void test_transforms_done_and_undone_leave_the_tree_of_the_reference(void **state)
{
    (void)state;
    each_step(check_call_tree);
    each_step(check_inverted_tree);
}

/* ---- paths ---- */

static size_t path_of(const struct slow_stack *stack, bool inverted, uint32_t *path)
{
    for (size_t i = 0; i < stack->depth; i++)
        path[i] = stack->frames[inverted ? stack->depth - 1 - i : i].func;
    return stack->depth;
}

/* Whether the path tells what becomes of the frames that it stands for. */
static bool path_tells(const struct transform *transform, const struct slow_stack *after, bool inverted)
{
    switch (transform->kind) {
    case TRANSFORM_MERGE_CALL_NODE:
        return !inverted;
    case TRANSFORM_FOCUS_SUBTREE:
        return inverted == transform->inverted;
    case TRANSFORM_FOCUS_FUNCTION:
        return !inverted || after->depth;
    case TRANSFORM_DROP_CATEGORY:
    case TRANSFORM_DROP_RESOURCE:
        return after->depth > 0;
    default:
        return true;
    }
}

/* A row's path is the outer part of some stack, of an inverted tree the inner one. */
static void cut_stack(struct slow_stack *stack, struct random *random, bool inverted)
{
    size_t kept = stack->depth ? 1 + random_below(random, (uint32_t)stack->depth) : 0;
    slow_keep(stack, inverted ? stack->depth - kept : 0, inverted ? stack->depth : kept);
}

/* Where the path does not tell, it stays; a func whose self time is in focus has no callers. */
static size_t expected_path(const struct slow_query *query, const struct transform *transform,
                            const struct slow_stack *row, bool inverted, uint32_t *path)
{
    struct slow_stack after = *row;
    slow_transform(&after, query->profile, transform);
    if (row->depth && transform->kind == TRANSFORM_FOCUS_SELF) {
        *path = transform->index;
        return 1;
    }
    return path_of(path_tells(transform, &after, inverted) ? &after : row, inverted, path);
}

static void check_path(struct engine *engine, const struct slow_query *before, uint32_t stack, bool inverted)
{
    static struct random random;
    struct slow_query after = *before;
    struct slow_stack row;
    uint32_t expected[MAX_DEPTH];
    struct error err;
    slow_add_transform(&after, &random);
    const struct transform *transform = &after.transforms[before->transform_count];
    if (after.transform_count == before->transform_count || transform->kind == TRANSFORM_MERGE_CATEGORY ||
        transform->kind == TRANSFORM_FOCUS_CATEGORY) /* nodes of one func can be of several: see the next test */
        return;
    slow_stack_make(&row, before, stack);
    cut_stack(&row, &random, inverted);
    uint32_t *path = malloc((row.depth + !row.depth) * sizeof(*path)); /* so that nothing beyond it can be touched */
    assert_non_null(path);
    size_t length = path_of(&row, inverted, path);
    assert_int_equal(engine_rewrite_path(engine, transform, path, &length, &err), 0);
    assert_int_equal(length, expected_path(before, transform, &row, inverted, expected));
    assert_memory_equal(path, expected, length * sizeof(*path));
    free(path);
}

static void check_paths(struct engine *engine, const struct slow_query *query)
{
    for (int inverted = 0; inverted < 2; inverted++) {
        ask(engine, query, inverted);
        for (uint32_t stack = 0; query->transform_count < MAX_TRANSFORMS && stack < query->profile->stacks.length;
             stack += 7)
            check_path(engine, query, stack, inverted);
    }
}

static void test_path_of_a_row_becomes_that_of_its_transformed_frames(void **state)
{
    (void)state;
    each_step(check_paths);
}

static void check_category_paths_of(struct engine *engine, const struct slow_query *query, enum transform_kind kind)
{
    struct tree_rows rows = {0};
    struct node_path path = {0};
    struct error err;
    for (int inverted = 0; inverted < 2; inverted++) {
        ask(engine, query, inverted);
        assert_int_equal(engine_list_descendants(engine, NODE_NONE, 60, &rows, &err), 0);
        for (size_t i = 0; i < rows.length; i++) {
            const struct transform transform = {.kind = kind, .index = 2};
            uint32_t expected[MAX_DEPTH];
            size_t kept = 0;
            assert_int_equal(engine_read_path(engine, rows.node[i], &path, &err), 0);
            for (size_t level = 0; level < path.length; level++) {
                uint32_t node;
                assert_int_equal(engine_find_node(engine, path.data, level + 1, false, &node, &err), 0);
                struct tree_rows row = {0};
                assert_int_equal(engine_read_row(engine, node, &row, &err), 0);
                if ((row.category[0] == 2) == (kind == TRANSFORM_FOCUS_CATEGORY))
                    expected[kept++] = path.data[level];
                tree_rows_destroy(&row);
            }
            assert_int_equal(engine_rewrite_path(engine, &transform, path.data, &path.length, &err), 0);
            assert_int_equal(path.length, kept);
            assert_memory_equal(path.data, expected, kept * sizeof(*expected));
        }
    }
    array_free(&path);
    tree_rows_destroy(&rows);
}

static void check_category_paths(struct engine *engine, const struct slow_query *query)
{
    check_category_paths_of(engine, query, TRANSFORM_FOCUS_CATEGORY);
    check_category_paths_of(engine, query, TRANSFORM_MERGE_CATEGORY);
}

static void test_path_keeps_the_nodes_of_the_category_in_focus(void **state)
{
    (void)state;
    each_step(check_category_paths);
}

/* ---- recursion ---- */

struct slow_recursion {
    uint32_t func;
    enum recursion found;
};

static void look_for_recursion(const struct slow_node *node, struct slow_recursion *slow, bool inside)
{
    for (const struct slow_node *c = node->child; c; c = c->sibling) {
        if (c->alive && c->func == slow->func && node->func == slow->func && inside)
            slow->found = RECURSION_DIRECT;
        else if (c->alive && c->func == slow->func && inside && slow->found == RECURSION_NONE)
            slow->found = RECURSION_INDIRECT;
        look_for_recursion(c, slow, inside || c->func == slow->func);
    }
}

static void check_recursion(struct engine *engine, const struct slow_query *query)
{
    struct slow_node root = {.func = PROFILE_NONE};
    slow_each_sample(query, grow_tree, &root);
    slow_sum(&root);
    ask(engine, query, false);
    for (uint32_t func = 0; func < query->profile->funcs.length; func++) {
        struct slow_recursion slow = {func, RECURSION_NONE};
        look_for_recursion(&root, &slow, false);
        assert_int_equal(engine_find_recursion(engine, func), slow.found);
    }
    slow_free(&root);
}

static void test_recursion_is_direct_if_a_func_calls_itself_without_others_between(void **state)
{
    (void)state;
    each_step(check_recursion);
}

/* ---- the timeline ---- */

static double sum_of(const struct activity *activity)
{
    double sum = 0;
    for (size_t i = 0; i < (size_t)activity->row_count * activity->width; i++)
        sum += activity->shares[i];
    return sum;
}

static void check_activity(struct engine *engine, const struct slow_query *query)
{
    struct error err;
    struct activity all, matching;
    ask(engine, query, false);
    assert_int_equal(
        engine_compute_unfiltered_activity(
            engine,
            &(struct activity_query){.threads = (uint32_t[]){0}, .thread_count = 1, .range = {0, 100}, .width = 50},
            &all, &err),
        0);
    assert_int_equal(
        engine_compute_activity(
            engine,
            &(struct activity_query){.threads = (uint32_t[]){0}, .thread_count = 1, .range = {0, 100}, .width = 50},
            &matching, &err),
        0);
    bool drops = false;
    const struct sample_table *samples = &query->profile->threads.data[0].samples;
    for (size_t i = 0; i < samples->length; i++) {
        struct slow_stack stack = {.depth = 0};
        if (samples->stack[i] != PROFILE_NONE)
            slow_stack_make(&stack, query, samples->stack[i]);
        drops |= stack.depth == 0;
    }
    drops |= slow_stores_waits(samples); /* what ran beside waits may be what a transform drops */
    if (!drops || query->transform_count == 0)
        assert_true(sum_of(&all) == sum_of(&matching));
    else
        assert_true(sum_of(&matching) <= sum_of(&all) + 1e-4);
    activity_destroy(&all);
    activity_destroy(&matching);
}

static void test_activity_of_dropped_samples_is_left_out(void **state)
{
    (void)state;
    each_step(check_activity);
}

static uint32_t add_code(struct profile *profile, const char *name, const char *lib, uint32_t type)
{
    uint32_t resource = PROFILE_NONE;
    if (lib) {
        const struct resource row = {strings_add_z(&profile->strings, lib), PROFILE_NONE, type};
        resource = (uint32_t)profile->resources.length;
        assert_true(array_push(&profile->resources, row));
    }
    return profile_add_func(profile, strings_add_z(&profile->strings, name), resource);
}

static void test_kinds_of_frames_follow_from_their_library(void **state)
{
    static const struct {
        const char *name, *lib;
        uint32_t type;
        enum frame_kind kind;
    } cases[] = {
        {"sys_read", "[kernel.kallsyms]", 1, FRAME_KERNEL},
        {"nft_do_chain", "[nf_tables]", 1, FRAME_KERNEL},
        {"do_syscall_64", "vmlinux-6.1.0", 1, FRAME_KERNEL},
        {"ext4_read", "ext4.ko.xz", 1, FRAME_KERNEL},
        {"main", "kernel-bench", 1, FRAME_NATIVE},
        {"koala", "libx.kotlin.so", 1, FRAME_NATIVE},
        {"clock_gettime", "[vdso]", 1, FRAME_NATIVE},
        {"record", "perf", 1, FRAME_NATIVE},
        {"py::f", "perf-123.map", 1, FRAME_JIT},
        {"g", "jitted-123-4.so", 1, FRAME_JIT},
        {"h", "[anon:js-executable-memory]", 1, FRAME_JIT},
        {"i", "memfd:doublemapper", 1, FRAME_JIT},
        {"j", "memfd:image", 1, FRAME_NATIVE}, /* with a build id: an ELF file */
        {"0x7f0012345678", NULL, 0, FRAME_JIT},
        {"0xffffffff8100a1b2", NULL, 0, FRAME_KERNEL},
        {"0xffffffff", NULL, 0, FRAME_JIT},
        {"0x0000ffff8100a1b2", NULL, 0, FRAME_JIT},
        {"do_syscall_64_[k]", NULL, 0, FRAME_KERNEL},
        {"_[k]", NULL, 0, FRAME_JIT},
        {"read (in [kernel.kallsyms])", NULL, 0, FRAME_KERNEL},
        {"ext4_read (in /lib/modules/ext4.ko)", NULL, 0, FRAME_KERNEL},
        {"read (in /lib/libc.so.6)", NULL, 0, FRAME_JIT},
        {"f (in [unknown])", NULL, 0, FRAME_JIT},
        {"f", "[unknown]", 1, FRAME_NATIVE},
        {"(truncated)", NULL, 0, FRAME_OTHER},
        {"onClick", "https://example.org", 5, FRAME_OTHER},
    };
    struct profile profile;
    (void)state;
    profile_init(&profile);
    struct library image = {.name = strings_add_z(&profile.strings, "memfd:image"),
                            .code_id = strings_add_z(&profile.strings, "28525c4125dc12f6")};
    assert_true(array_push(&profile.libs, image));
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint32_t func = add_code(&profile, cases[i].name, cases[i].lib, cases[i].type);
        assert_int_equal(get_frame_kind(&profile, func), cases[i].kind);
        profile.funcs.flags[func] = FUNC_IS_JS;
        assert_int_equal(get_frame_kind(&profile, func), FRAME_JS);
        profile.funcs.flags[func] = 0;
    }
    assert_int_equal(get_frame_kind(&profile, get_resource_func(&profile, 0)), FRAME_KERNEL);
    assert_int_equal(get_frame_kinds(&profile), FRAME_KERNEL | FRAME_NATIVE | FRAME_JIT | FRAME_OTHER);
    profile_destroy(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds_of_frames_follow_from_their_library),
        cmocka_unit_test(test_transforms_done_and_undone_leave_the_tree_of_the_reference),
        cmocka_unit_test(test_path_of_a_row_becomes_that_of_its_transformed_frames),
        cmocka_unit_test(test_path_keeps_the_nodes_of_the_category_in_focus),
        cmocka_unit_test(test_recursion_is_direct_if_a_func_calls_itself_without_others_between),
        cmocka_unit_test(test_activity_of_dropped_samples_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
