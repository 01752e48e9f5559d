/*
 * Comparisons: every figure of both sides is that of the profile alone, every change is their difference, and no row is
 * missing, in trees of both directions, lists and butterflies. The reference is the engine of each profile by itself,
 * of which the rows are summed by names; the functions of a comparison are matched by those.
 */
#include "random_profile.h"

#include "profile/compare.h"
#include "profile/match_funcs.h"
#include "tree/engine.h"
#include "tree/flame.h"
#include "tree/unit_weights.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { PAIRS = 100, START = -40, LENGTH = 200 };

static struct error err;

/* Sums of the same numbers in another order. */
static void assert_near(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-6))
        fail_msg("%.17g is not %.17g", value, wanted);
}

/* ---- the reference: figures by the names of paths ---- */

struct named_sum {
    char name[600];
    double total, self;
};

ARRAY_TYPE(struct named_sums, struct named_sum);

static struct named_sum *sum_at(struct named_sums *sums, const char *name)
{
    for (size_t i = 0; i < sums->length; i++)
        if (strcmp(sums->data[i].name, name) == 0)
            return &sums->data[i];
    struct named_sum *sum = array_push_zero(sums);
    assert_non_null(sum);
    snprintf(sum->name, sizeof(sum->name), "%s", name);
    return sum;
}

static void append_func(char *name, size_t size, const struct profile *profile, uint32_t func)
{
    size_t length = strlen(name);
    uint32_t resource = profile->funcs.resource[func];
    const char *lib = resource == PROFILE_NONE ? "" : profile_text(profile, profile->resources.data[resource].name);
    snprintf(name + length, size - length, ";%s@%s", profile_text(profile, profile->funcs.name[func]), lib);
}

static void name_of_path(char *name, size_t size, const struct profile *profile, const uint32_t *path, size_t length)
{
    name[0] = '\0';
    for (size_t i = 0; i < length; i++)
        append_func(name, size, profile, path[i]);
}

enum { CALLERS = 1, CALLEES = 2 };

/* Rows of a tree with their paths: of the engine, or a side of a butterfly. */
struct rows_of {
    struct engine *engine;
    struct butterfly *butterfly;
    enum butterfly_side side;
    struct tree_rows rows;
    ARRAY(uint32_t) path;
};

static void read_rows(struct rows_of *of)
{
    int code = of->butterfly ? butterfly_list_descendants(of->butterfly, of->side, NODE_NONE, SIZE_MAX, &of->rows, &err)
                             : engine_list_descendants(of->engine, NODE_NONE, SIZE_MAX, &of->rows, &err);
    assert_int_equal(code, 0);
    of->path.length = 0;
}

static void name_row(struct rows_of *of, size_t row, char *name, size_t size)
{
    of->path.length = of->rows.depth[row];
    assert_true(array_push(&of->path, of->rows.func[row]));
    name_of_path(name, size, engine_get_profile(of->engine), of->path.data, of->path.length);
}

static void free_rows(struct rows_of *of)
{
    tree_rows_destroy(&of->rows);
    array_free(&of->path);
}

/* Which of the columns of the rows: total and self, or those of a side. */
static void sum_rows(struct named_sums *sums, struct rows_of *of, int side)
{
    char name[600];
    read_rows(of);
    for (size_t i = 0; i < of->rows.length; i++) {
        const struct tree_rows *rows = &of->rows;
        const double *total = side < 0 ? rows->total : side == SIDE_BASE ? rows->base_total : rows->new_total;
        const double *self = side < 0 ? rows->self : side == SIDE_BASE ? rows->base_self : rows->new_self;
        name_row(of, i, name, sizeof(name));
        struct named_sum *sum = sum_at(sums, name);
        sum->total += total[i];
        sum->self += self[i];
    }
    free_rows(of);
}

/* Rows without weight on this side may be there in the one and not in the other. */
static void assert_same_sums(const struct named_sums *sums, struct named_sums *wanted)
{
    for (size_t i = 0; i < sums->length; i++) {
        const struct named_sum *sum = &sums->data[i], *other = sum_at(wanted, sum->name);
        assert_near(sum->total, other->total);
        assert_near(sum->self, other->self);
    }
}

static void compare_sums(struct named_sums *sums, struct named_sums *wanted)
{
    assert_same_sums(sums, wanted);
    assert_same_sums(wanted, sums);
    array_free(sums);
    array_free(wanted);
}

/* ---- pairs of profiles ---- */

struct pair {
    struct engine *engine, *alone[PROFILE_SIDES];
    bool has_cpu_times;
};

static void make_profile(struct profile *profile, uint64_t seed)
{
    random_profile(profile, seed);
    profile->meta.profiling_start = START;
    profile->meta.profiling_end = START + LENGTH;
}

/* False if they cannot be compared. */
static bool make_pair(struct pair *pair, uint64_t seed)
{
    struct profile profiles[PROFILE_SIDES], compared;
    bool has_cpu_times = true;
    for (int side = 0; side < PROFILE_SIDES; side++) {
        struct profile alone;
        make_profile(&profiles[side], seed * 2 + (uint64_t)side);
        make_profile(&alone, seed * 2 + (uint64_t)side);
        has_cpu_times &= alone.meta.has_cpu_delta;
        pair->alone[side] = engine_new(&alone, &err);
        assert_non_null(pair->alone[side]);
    }
    pair->has_cpu_times = has_cpu_times;
    struct compare_input inputs[] = {{&profiles[0], "a", SIDE_BASE, -INFINITY, INFINITY, NULL},
                                     {&profiles[1], "b", SIDE_NEW, -INFINITY, INFINITY, NULL}};
    int code = profile_compare(&compared, inputs, 2, 0, &err);
    pair->engine = code ? NULL : engine_new(&compared, &err);
    if (!code)
        return true;
    assert_int_equal(code, -EINVAL);
    assert_non_null(strstr(err.text, "cannot compare"));
    engine_free(pair->alone[0]);
    engine_free(pair->alone[1]);
    return false;
}

static void free_pair(struct pair *pair)
{
    engine_free(pair->engine);
    engine_free(pair->alone[SIDE_BASE]);
    engine_free(pair->alone[SIDE_NEW]);
}

static void query(struct engine *engine, enum sample_weight weight, const char *search, bool inverted, double scale,
                  enum compared compared)
{
    uint32_t threads[16];
    size_t count = engine_get_profile(engine)->threads.length;
    for (uint32_t i = 0; i < count; i++)
        threads[i] = i;
    const struct tree_query asked = {.threads = threads,
                                     .thread_count = count,
                                     .range = whole_time,
                                     .search = search,
                                     .search_length = strlen(search),
                                     .inverted = inverted,
                                     .weight = weight,
                                     .scale = scale,
                                     .compared = compared};
    assert_int_equal(engine_set_query(engine, &asked, &err), 0);
}

typedef void check_pair(struct pair *pair);

static void each_query(check_pair *check)
{
    static const enum sample_weight weights[] = {WEIGH_RECORDED, WEIGH_SAMPLES, WEIGH_CPU_TIME, WEIGH_OFF_CPU_TIME};
    static const char *const searches[] = {"", "a"};
    for (uint64_t seed = 0; seed < PAIRS; seed++) {
        struct pair pair;
        if (!make_pair(&pair, seed))
            continue;
        for (int i = 0; i < (pair.has_cpu_times ? 4 : 2); i++)
            for (int s = 0; s < 2; s++)
                for (int inverted = 0; inverted < 2; inverted++) {
                    query(pair.engine, weights[i], searches[s], inverted, 0, COMPARED_CHANGE);
                    for (int side = 0; side < PROFILE_SIDES; side++)
                        query(pair.alone[side], weights[i], searches[s], inverted, 0, COMPARED_CHANGE);
                    check(&pair);
                }
        free_pair(&pair);
    }
}

/* ---- tests ---- */

static void check_trees(struct pair *pair)
{
    for (int side = 0; side < PROFILE_SIDES; side++) {
        struct named_sums sums = {0}, wanted = {0};
        struct rows_of compared = {.engine = pair->engine}, alone = {.engine = pair->alone[side]};
        sum_rows(&sums, &compared, side);
        sum_rows(&wanted, &alone, -1);
        compare_sums(&sums, &wanted);
    }
    struct tree_rows rows = {0};
    assert_int_equal(engine_list_descendants(pair->engine, NODE_NONE, SIZE_MAX, &rows, &err), 0);
    for (size_t i = 0; i < rows.length; i++) {
        assert_near(rows.total[i], rows.new_total[i] - rows.base_total[i]);
        assert_near(rows.self[i], rows.new_self[i] - rows.base_self[i]);
        assert_true(rows.rank[i] >= fabs(rows.total[i]));
    }
    tree_rows_destroy(&rows);
}

static void test_rows_of_trees_have_the_figures_of_both_profiles(void **state)
{
    (void)state;
    each_query(check_trees);
}

static void sum_functions(struct named_sums *sums, struct engine *engine, int side)
{
    struct func_timings functions;
    assert_int_equal(engine_list_functions(engine, FUNCS_BY_SELF, &functions, &err), 0);
    for (size_t i = 0; i < functions.length; i++) {
        const struct func_timing *row = &functions.rows[i];
        char name[600];
        name_of_path(name, sizeof(name), engine_get_profile(engine), &row->func, 1);
        struct named_sum *sum = sum_at(sums, name);
        sum->total += side < 0 ? row->total : row->sides[side].total;
        sum->self += side < 0 ? row->self : row->sides[side].self;
        if (side >= 0) {
            assert_true(row->total == row->sides[SIDE_NEW].total - row->sides[SIDE_BASE].total);
            assert_true(row->self == row->sides[SIDE_NEW].self - row->sides[SIDE_BASE].self);
            assert_true(i == 0 || fabs(row->self) <= fabs(functions.rows[i - 1].self));
        }
    }
    func_timings_destroy(&functions);
}

static void check_functions(struct pair *pair)
{
    for (int side = 0; side < PROFILE_SIDES; side++) {
        struct named_sums sums = {0}, wanted = {0};
        sum_functions(&sums, pair->engine, side);
        sum_functions(&wanted, pair->alone[side], -1);
        compare_sums(&sums, &wanted);
    }
}

static void test_functions_have_the_figures_of_both_profiles(void **state)
{
    (void)state;
    each_query(check_functions);
}

/* Blocks of time add up to what the functions count. */
static void check_units(struct pair *pair)
{
    struct func_timings functions;
    size_t funcs = engine_get_nodes(pair->engine)->func_count;
    uint32_t *group_of_func = malloc((funcs + 1) * sizeof(*group_of_func));
    assert_non_null(group_of_func);
    assert_int_equal(engine_list_functions(pair->engine, FUNCS_BY_SELF, &functions, &err), 0);
    memset(group_of_func, 0xff, (funcs + 1) * sizeof(*group_of_func));
    for (uint32_t i = 0; i < functions.length; i++)
        group_of_func[functions.rows[i].func] = i;
    for (int order = FUNCS_BY_SELF; order <= FUNCS_BY_TOTAL; order++) {
        struct unit_weights weights;
        assert_int_equal(
            unit_weights_sum(&weights, pair->engine, group_of_func, functions.length, (enum func_order)order, &err), 0);
        for (size_t i = 0; i < functions.length; i++)
            for (int side = 0; side < PROFILE_SIDES; side++) {
                double sum = 0;
                for (size_t unit = 0; unit < weights.count[side]; unit++)
                    sum += weights.of_groups[side][i * weights.count[side] + unit];
                const struct side_figures *figures = &functions.rows[i].sides[side];
                assert_near(sum, order == FUNCS_BY_SELF ? figures->self : figures->total);
            }
        unit_weights_destroy(&weights);
    }
    func_timings_destroy(&functions);
    free(group_of_func);
}

static void test_units_add_up_to_what_functions_count(void **state)
{
    (void)state;
    each_query(check_units);
}

/* The function of an engine that has this name alone; PROFILE_NONE: none, or several. */
static uint32_t only_func(const struct profile *profile, const char *wanted)
{
    uint32_t found = PROFILE_NONE;
    for (uint32_t i = 0; i < profile->funcs.length; i++) {
        char name[600];
        name_of_path(name, sizeof(name), profile, &i, 1);
        if (strcmp(name, wanted) != 0)
            continue;
        if (found != PROFILE_NONE)
            return PROFILE_NONE;
        found = i;
    }
    return found;
}

static void check_butterfly(struct pair *pair, uint32_t func, uint32_t func_alone, int side)
{
    struct butterfly compared, alone;
    const struct butterfly_focus focus = {BUTTERFLY_FUNCTION, func}, focus_alone = {BUTTERFLY_FUNCTION, func_alone};
    assert_int_equal(engine_compute_butterfly(pair->engine, focus, &compared, &err), 0);
    assert_int_equal(engine_compute_butterfly(pair->alone[side], focus_alone, &alone, &err), 0);
    assert_near(compared.side_figures[side].total, alone.total);
    assert_near(compared.side_figures[side].self, alone.self);
    for (int of = BUTTERFLY_CALLERS; of <= BUTTERFLY_CALLEES; of++) {
        struct named_sums sums = {0}, wanted = {0};
        struct rows_of rows = {pair->engine, &compared, (enum butterfly_side)of, {0}, {0}};
        struct rows_of rows_alone = {pair->alone[side], &alone, (enum butterfly_side)of, {0}, {0}};
        sum_rows(&sums, &rows, side);
        sum_rows(&wanted, &rows_alone, -1);
        compare_sums(&sums, &wanted);
    }
    butterfly_destroy(&compared);
    butterfly_destroy(&alone);
}

static void check_butterflies(struct pair *pair)
{
    const struct profile *profile = engine_get_profile(pair->engine);
    for (uint32_t func = 0; func < profile->funcs.length; func++) {
        char name[600];
        name_of_path(name, sizeof(name), profile, &func, 1);
        if (only_func(profile, name) != func)
            continue;
        for (int side = 0; side < PROFILE_SIDES; side++) {
            uint32_t alone = only_func(engine_get_profile(pair->alone[side]), name);
            if (alone != PROFILE_NONE)
                check_butterfly(pair, func, alone, side);
        }
    }
}

static void test_butterflies_have_the_figures_of_both_profiles(void **state)
{
    (void)state;
    each_query(check_butterflies);
}

/* Rects of a tree are as wide as both sides, whatever the change is. */
static void check_heaviest_path(struct pair *pair)
{
    struct tree_rows rows = {0};
    struct node_path path = {0};
    double largest = -1, taken = -1;
    assert_int_equal(engine_list_children(pair->engine, NODE_NONE, &rows, &err), 0);
    assert_int_equal(engine_find_heaviest_path(pair->engine, 1, 0, &path, &err), 0);
    for (size_t i = 0; i < rows.length; i++) {
        bool is_taken = path.length && rows.func[i] == path.data[0];
        if (is_taken)
            taken = rows.rank[i];
        /* Idle rows are passed over unless the query is about waits. */
        if (is_taken || rows.category[i] != engine_get_idle_category(pair->engine))
            largest = fmax(largest, rows.rank[i]);
    }
    if (path.length)
        assert_near(taken, largest);
    tree_rows_destroy(&rows);
    array_free(&path);
}

static void test_the_path_that_opens_leads_to_the_largest_change(void **state)
{
    (void)state;
    each_query(check_heaviest_path);
}

static void check_flame(struct pair *pair)
{
    const struct flame_request request = {{0, 1}, 0};
    struct flame_rects rects = {0};
    double whole = 0;
    assert_int_equal(engine_compute_flame(pair->engine, &request, &rects, &err), 0);
    for (size_t i = 0; i < rects.length; i++)
        if (rects.data[i].parent == FLAME_NO_RECT)
            whole += fabs(rects.data[i].base_total) + fabs(rects.data[i].new_total);
    for (size_t i = 0; i < rects.length; i++) {
        const struct flame_rect *rect = &rects.data[i];
        double width = fabs(rect->base_total) + fabs(rect->new_total);
        assert_near(rect->total, rect->new_total - rect->base_total);
        if (rect->parent == FLAME_NO_RECT && engine_get_timings(pair->engine)->root_total > 0 && whole > 0)
            assert_true(rect->end - rect->start <= width / whole + 1e-9);
        if (rect->parent != FLAME_NO_RECT)
            assert_true(rect->end <= rects.data[rect->parent].end + 1e-9);
    }
    array_free(&rects);
}

static void test_rects_are_as_wide_as_both_sides(void **state)
{
    (void)state;
    each_query(check_flame);
}

static double self_sum(const struct engine *engine)
{
    const struct timings *timings = engine_get_timings(engine);
    double sum = 0;
    for (size_t i = 0; i < timings->length; i++)
        sum += timings->self[i];
    return sum;
}

static void test_one_side_is_the_profile_alone_and_a_scale_multiplies_the_new_one(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < PAIRS; seed++) {
        struct pair pair;
        if (!make_pair(&pair, seed))
            continue;
        double sums[PROFILE_SIDES];
        for (int side = 0; side < PROFILE_SIDES; side++) {
            query(pair.alone[side], WEIGH_RECORDED, "", false, 0, COMPARED_CHANGE);
            sums[side] = self_sum(pair.alone[side]);
            query(pair.engine, WEIGH_RECORDED, "", false, 0, side == SIDE_BASE ? COMPARED_BASE : COMPARED_NEW);
            assert_null(engine_get_timings(pair.engine)->sides);
            assert_near(self_sum(pair.engine), sums[side]);
        }
        query(pair.engine, WEIGH_RECORDED, "", false, 2.5, COMPARED_CHANGE);
        assert_near(self_sum(pair.engine), 2.5 * sums[SIDE_NEW] - sums[SIDE_BASE]);
        double threads = 0;
        for (uint32_t i = 0; i < engine_get_profile(pair.engine)->threads.length; i++)
            threads += engine_get_thread_total(pair.engine, i, WEIGH_RECORDED, TABLE_SAMPLES);
        assert_near(threads, self_sum(pair.engine));
        free_pair(&pair);
    }
}

/* Three runs of one side count a third each. */
static void test_runs_of_a_side_count_their_mean(void **state)
{
    (void)state;
    struct profile profiles[4], compared;
    for (int i = 0; i < 4; i++)
        make_profile(&profiles[i], 7);
    struct compare_input inputs[] = {{&profiles[0], "a", SIDE_BASE, -INFINITY, INFINITY, NULL},
                                     {&profiles[1], "b", SIDE_NEW, -INFINITY, INFINITY, NULL},
                                     {&profiles[2], "c", SIDE_NEW, -INFINITY, INFINITY, NULL},
                                     {&profiles[3], "d", SIDE_NEW, -INFINITY, INFINITY, NULL}};
    assert_int_equal(profile_compare(&compared, inputs, 4, 0, &err), 0);
    assert_int_equal(compared.meta.comparison.runs[SIDE_BASE], 1);
    assert_int_equal(compared.meta.comparison.runs[SIDE_NEW], 3);
    struct engine *engine = engine_new(&compared, &err);
    query(engine, WEIGH_RECORDED, "", false, 0, COMPARED_CHANGE);
    const struct timings *timings = engine_get_timings(engine);
    assert_true(timings->all_total != 0);
    for (size_t i = 0; i < timings->length; i++)
        assert_near(timings->self[i], 0);
    engine_free(engine);
}

/* Profiles with these starts, ms since the epoch, of which the last two are the new side. */
static bool is_one_after_other(double a, double b, double c, double d)
{
    struct profile profiles[4], compared;
    const double starts[] = {a, b, c, d};
    struct compare_input inputs[4];
    for (int i = 0; i < 4; i++) {
        make_profile(&profiles[i], 7);
        profiles[i].meta.start_time = starts[i];
        inputs[i] = (struct compare_input){&profiles[i], "a", i < 2 ? SIDE_BASE : SIDE_NEW, -INFINITY, INFINITY, NULL};
    }
    assert_int_equal(profile_compare(&compared, inputs, 4, 0, &err), 0);
    bool is_so = compared.meta.comparison.is_one_after_other;
    profile_destroy(&compared);
    return is_so;
}

static void test_sides_that_were_not_recorded_in_turn_are_known(void **state)
{
    (void)state;
    assert_true(is_one_after_other(1e12, 1e12 + 1e4, 1e12 + 2e4, 1e12 + 3e4));
    assert_true(is_one_after_other(1e12 + 2e4, 1e12 + 3e4, 1e12, 1e12 + 1e4));
    assert_false(is_one_after_other(1e12, 1e12 + 2e4, 1e12 + 1e4, 1e12 + 3e4));
    assert_false(is_one_after_other(0, 1e12 + 1e4, 1e12 + 2e4, 1e12 + 3e4)); /* not known */
}

/* What a reader did not understand of a file does not hide that the sides were sampled at different intervals. */
static void test_warnings_of_all_inputs_are_said_once(void **state)
{
    (void)state;
    static const char *const warnings[] = {"Odd file.", NULL, "Odd file.", "Odder file."};
    struct profile profiles[4], compared;
    struct compare_input inputs[4];
    for (int i = 0; i < 4; i++) {
        make_profile(&profiles[i], 7);
        profiles[i].meta.interval = i < 2 ? 1 : 2 * i;
        profiles[i].meta.warning =
            warnings[i] ? strings_add_z(&profiles[i].strings, warnings[i]) : (uint32_t)PROFILE_NONE;
        inputs[i] = (struct compare_input){&profiles[i], "a", i < 2 ? SIDE_BASE : SIDE_NEW, -INFINITY, INFINITY, NULL};
    }
    assert_int_equal(profile_compare(&compared, inputs, 4, 0, &err), 0);
    assert_string_equal(
        profile_text(&compared, compared.meta.warning),
        "Odd file. One side was sampled every 1 ms, the other side every 4 ms: a sample stands for different "
        "times on the two sides. Odder file.");
    profile_destroy(&compared);
}

/* ---- which functions are the same ---- */

static void test_what_differs_from_build_to_build_is_forgiven(void **state)
{
    (void)state;
    static const char *const stems[][2] = {{"libc.so.6", "libc"},
                                           {"libc-2.31.so", "libc"},
                                           {"libstdc++.so.6.0.30", "libstdc++"},
                                           {"prog", "prog"},
                                           {"libfoo-bar.so", "libfoo-bar"},
                                           {"python3.11", "python3.11"},
                                           {"ld-linux-x86-64.so.2", "ld-linux-x86"},
                                           {".so", ".so"}};
    for (size_t i = 0; i < sizeof(stems) / sizeof(*stems); i++)
        assert_int_equal(measure_library_stem(stems[i][0]), strlen(stems[i][1]));
}

static uint32_t add_resource(struct profile *profile, const char *name)
{
    struct resource resource = {strings_add_z(&profile->strings, name), PROFILE_NONE, 1};
    assert_true(array_push(&profile->resources, resource));
    return (uint32_t)profile->resources.length - 1;
}

static uint32_t add_func(struct profile *profile, const char *name, uint32_t resource, const char *file, uint32_t line)
{
    uint32_t func = profile_add_func(profile, strings_add_z(&profile->strings, name), resource);
    if (file) {
        struct source source = {.filename = strings_add_z(&profile->strings, file),
                                .id = PROFILE_NONE,
                                .content = PROFILE_NONE,
                                .source_map_url = PROFILE_NONE};
        assert_true(array_push(&profile->sources, source));
        profile->funcs.source[func] = (uint32_t)profile->sources.length - 1;
    }
    profile->funcs.line[func] = line;
    return func;
}

static void test_functions_are_matched_by_name_library_and_file(void **state)
{
    (void)state;
    struct profile base, other;
    struct func_matches matches;
    profile_init(&base);
    profile_init(&other);
    uint32_t libc = add_resource(&base, "libc-2.31.so"), old = add_resource(&base, "prog.old");
    uint32_t new = add_resource(&other, "prog.new"), libc6 = add_resource(&other, "libc.so.6");
    uint32_t alien = add_resource(&other, "libother.so");
    uint32_t memcpy_base = add_func(&base, "memcpy", libc, NULL, 0);
    uint32_t main_base = add_func(&base, "main", old, "/build1/src/main.c", 10);
    uint32_t parse_a = add_func(&base, "parse", old, "/build1/src/a.c", 5);
    uint32_t parse_b = add_func(&base, "parse", old, "/build1/src/b.c", 5);
    uint32_t lambda_1 = add_func(&base, "operator()", old, "/build1/src/a.c", 20);
    uint32_t lambda_2 = add_func(&base, "operator()", old, "/build1/src/a.c", 30);
    uint32_t funcs[] = {add_func(&other, "memcpy", libc6, NULL, 0),
                        add_func(&other, "parse", new, "/build2/src/b.c", 7),
                        add_func(&other, "parse", new, "/build2/src/a.c", 9),
                        add_func(&other, "operator()", new, "/build2/src/a.c", 33),
                        add_func(&other, "operator()", new, "/build2/src/a.c", 23),
                        add_func(&other, "main", new, NULL, 0),
                        add_func(&other, "added", new, "/build2/src/a.c", 1),
                        add_func(&other, "memcpy", alien, NULL, 0)};
    const uint32_t wanted[] = {memcpy_base, parse_b,   parse_a,      lambda_2,
                               lambda_1,    main_base, PROFILE_NONE, PROFILE_NONE};
    assert_int_equal(func_matches_find(&matches, &base, &other, &err), 0);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
        assert_int_equal(matches.func[funcs[i]], wanted[i]);
    assert_int_equal(matches.resource[new], old);
    assert_int_equal(matches.resource[alien], PROFILE_NONE);
    func_matches_destroy(&matches);
    profile_destroy(&base);
    profile_destroy(&other);
}

static void test_arguments_of_templates_and_suffixes_are_forgiven_on_request(void **state)
{
    (void)state;
    static const struct {
        const char *name, *templates, *suffixes;
    } names[] = {
        {"push<int>(int)", "push<>(int)", "push<int>(int)"},
        {"map<int, vector<long>>::find", "map<>::find", "map<int, vector<long>>::find"},
        {"operator<<", "operator<<", "operator<<"},
        {"operator< <int>(A)", "operator< <int>(A)", "operator< <int>(A)"},
        {"operator->", "operator->", "operator->"},
        {"<T as core::Display>::fmt", "<T as core::Display>::fmt", "<T as core::Display>::fmt"},
        {"broken<int", "broken<int", "broken<int"},
        {"walk.isra.0", "walk.isra.0", "walk"},
        {"walk.constprop.1.cold", "walk.constprop.1.cold", "walk"},
        {"walk.llvm.1234567", "walk.llvm.1234567", "walk"},
        {"walk.py", "walk.py", "walk.py"},
        {"walk.2", "walk.2", "walk.2"},
        {".cold", ".cold", ".cold"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        for (int kind = FORGIVE_TEMPLATES; kind <= FORGIVE_SUFFIXES; kind++) {
            struct profile profile;
            profile_init(&profile);
            add_func(&profile, names[i].name, PROFILE_NONE, NULL, 0);
            assert_int_equal(forgive_func_names(&profile, (unsigned)kind, &err), 0);
            assert_string_equal(profile_text(&profile, profile.funcs.name[0]),
                                kind == FORGIVE_TEMPLATES ? names[i].templates : names[i].suffixes);
            profile_destroy(&profile);
        }
}

static void test_forgiven_functions_become_one(void **state)
{
    (void)state;
    struct profile profile;
    profile_init(&profile);
    uint32_t first = add_func(&profile, "push<int>", PROFILE_NONE, NULL, 0);
    uint32_t second = add_func(&profile, "push<long>.isra.0", PROFILE_NONE, NULL, 0);
    profile_add_frame(&profile, second, PROFILE_NONE, -1);
    assert_int_equal(forgive_func_names(&profile, FORGIVE_TEMPLATES | FORGIVE_SUFFIXES, &err), 0);
    assert_int_equal(profile.frames.func[0], first);
    profile_destroy(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_of_trees_have_the_figures_of_both_profiles),
        cmocka_unit_test(test_functions_have_the_figures_of_both_profiles),
        cmocka_unit_test(test_units_add_up_to_what_functions_count),
        cmocka_unit_test(test_butterflies_have_the_figures_of_both_profiles),
        cmocka_unit_test(test_the_path_that_opens_leads_to_the_largest_change),
        cmocka_unit_test(test_rects_are_as_wide_as_both_sides),
        cmocka_unit_test(test_one_side_is_the_profile_alone_and_a_scale_multiplies_the_new_one),
        cmocka_unit_test(test_runs_of_a_side_count_their_mean),
        cmocka_unit_test(test_sides_that_were_not_recorded_in_turn_are_known),
        cmocka_unit_test(test_warnings_of_all_inputs_are_said_once),
        cmocka_unit_test(test_what_differs_from_build_to_build_is_forgiven),
        cmocka_unit_test(test_functions_are_matched_by_name_library_and_file),
        cmocka_unit_test(test_arguments_of_templates_and_suffixes_are_forgiven_on_request),
        cmocka_unit_test(test_forgiven_functions_become_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
