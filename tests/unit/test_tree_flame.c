/*
 * The flame graph against a slow reference, which builds a tree sample by sample and lays out all nodes by name. On
 * random profiles, inverted or not.
 */
#include "slow_tree_check.h"
#include "tree/flame.h"
#include "tree/name_order.h"

enum { PROFILES = 1500, MOST_CHILDREN = 128, MOST_SLOW_RECTS = 20000 };

struct slow_rect {
    const struct slow_node *node; /* NULL: a run */
    size_t depth, count;
    double start, end;
    double total;   /* this and the following: of a run */
    uint32_t funcs; /* a bit for each */
    bool matches;
};

struct slow_flame {
    const struct slow_query *query;
    bool inverted;
    double least;
    struct slow_rect rects[MOST_SLOW_RECTS]; /* callers before callees */
    size_t length;
};

#define SWAP(array, at)                                                                                                \
    do {                                                                                                               \
        __typeof__(*(array)) left = (array)[(at)-1];                                                                   \
        (array)[(at)-1] = (array)[at];                                                                                 \
        (array)[at] = left;                                                                                            \
    } while (0)

static const char *name_of(const struct profile *profile, uint32_t func)
{
    size_t funcs = profile->funcs.length;
    return strings_text(&profile->strings,
                        func < funcs ? profile->funcs.name[func] : profile->resources.data[func - funcs].name);
}

static bool comes_before(const struct profile *profile, uint32_t a, uint32_t b)
{
    int order = strcmp(name_of(profile, a), name_of(profile, b));
    return order < 0 || (order == 0 && a < b);
}

static bool stands_before(const struct slow_flame *flame, const struct slow_node *a, const struct slow_node *b)
{
    if (flame->inverted && fabs(a->total) != fabs(b->total))
        return fabs(a->total) > fabs(b->total);
    return comes_before(flame->query->profile, a->func, b->func);
}

/* The leaf functions of the tail stand by library, the heaviest first. */
static void order_tail(const struct slow_flame *flame, double whole, const struct slow_node **children, size_t count)
{
    size_t first = 0;
    while (first < count && fabs(children[first]->total) >= FLAME_TAIL * whole)
        first++;
    double weights[MOST_CHILDREN];
    uint32_t libraries[MOST_CHILDREN];
    for (size_t i = first; i < count; i++) {
        libraries[i] = get_func_resource(flame->query->profile, children[i]->func);
        weights[i] = 0;
        for (size_t j = first; j < count; j++)
            if (get_func_resource(flame->query->profile, children[j]->func) == libraries[i])
                weights[i] += fabs(children[j]->total);
    }
    for (size_t i = first + 1; i < count; i++)
        for (size_t at = i; at > first; at--) {
            bool is_before =
                weights[at] != weights[at - 1] ? weights[at] > weights[at - 1] : libraries[at] > libraries[at - 1];
            if (!is_before)
                break;
            SWAP(weights, at);
            SWAP(libraries, at);
            SWAP(children, at);
        }
}

static size_t children_in_order(const struct slow_flame *flame, const struct slow_node *node,
                                const struct slow_node **children)
{
    size_t count = 0;
    for (const struct slow_node *c = node->child; c; c = c->sibling) {
        if (!c->alive)
            continue;
        size_t at = count++;
        for (; at > 0 && stands_before(flame, c, children[at - 1]); at--)
            children[at] = children[at - 1];
        children[at] = c;
    }
    return count;
}

/* An excluded term marks no rect. */
static bool slow_rect_func_matches(const struct slow_query *query, uint32_t func)
{
    bool has_wanted = false;
    for (const char *at = query->search; *at;) {
        size_t length = strcspn(at, ",");
        struct slow_term term;
        slow_term_read(&term, at, length);
        if (length && !term.excluded) {
            has_wanted = true;
            if (slow_term_matches_func(query->profile, func, &term))
                return true;
        }
        at += length + (at[length] == ',');
    }
    return !has_wanted;
}

/* Of those that stand side by side from `first` to before `last`. */
static struct slow_rect aggregate_of(const struct slow_flame *flame, const struct slow_node *const *children,
                                     size_t first, size_t last)
{
    struct slow_rect aggregate = {.count = last - first};
    for (size_t i = first; i < last; i++) {
        aggregate.total += fabs(children[i]->total);
        aggregate.funcs |= UINT32_C(1) << children[i]->func;
        aggregate.matches |= slow_rect_func_matches(flame->query, children[i]->func);
    }
    return aggregate;
}

static void add_rect(struct slow_flame *flame, struct slow_rect rect)
{
    if (rect.end - rect.start < flame->least || rect.end <= 0 || rect.start >= 1)
        return;
    assert_true(flame->length < MOST_SLOW_RECTS);
    flame->rects[flame->length++] = rect;
}

static void lay_out(struct slow_flame *flame, const struct slow_node *node, size_t depth, double whole, double start,
                    double end)
{
    const struct slow_node *children[MOST_CHILDREN];
    size_t count = children_in_order(flame, node, children);
    double edges[MOST_CHILDREN + 1] = {start}, sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += fabs(children[i]->total);
    double scale = (end - start) / fmax(sum, fabs(whole));
    bool is_root = flame->inverted && depth == 0;
    if (is_root)
        order_tail(flame, fmax(sum, fabs(whole)), children, count);
    double least = is_root && flame->least > 0 ? fmax(flame->least, FLAME_TAIL) : flame->least;
    for (size_t i = 0; i < count; i++)
        edges[i + 1] = edges[i] + fabs(children[i]->total) * scale;
    for (size_t i = 0, last; i < count && fmax(sum, fabs(whole)) > 0; i = last) {
        for (last = i; last < count && edges[last + 1] - edges[last] < least;) {
            uint32_t library = get_func_resource(flame->query->profile, children[i]->func);
            if (is_root && get_func_resource(flame->query->profile, children[last]->func) != library)
                break;
            last++;
        }
        if (last > i + 1) {
            struct slow_rect aggregate = aggregate_of(flame, children, i, last);
            aggregate.depth = depth;
            aggregate.start = edges[i];
            aggregate.end = edges[last];
            add_rect(flame, aggregate);
        }
        if (last > i + 1)
            continue;
        size_t before = flame->length;
        add_rect(flame, (struct slow_rect){
                            .node = children[i], .depth = depth, .count = 1, .start = edges[i], .end = edges[i + 1]});
        if (flame->length > before)
            lay_out(flame, children[i], depth + 1, children[i]->total, edges[i], edges[i + 1]);
        last = i + 1;
    }
}

/* ---- comparing ---- */

/* That of the nodes of `funcs` below a rect, if they have one in common. */
static uint32_t category_below(struct engine *engine, uint32_t node, uint32_t funcs)
{
    struct tree_rows rows = {0};
    struct error err;
    uint32_t category = PROFILE_NONE;
    assert_int_equal(engine_list_children(engine, node, &rows, &err), 0);
    for (size_t i = 0; i < rows.length; i++) {
        if (!(funcs >> rows.func[i] & 1))
            continue;
        category = category == PROFILE_NONE || category == rows.category[i]
                       ? rows.category[i]
                       : engine_get_stacks(engine)->default_category;
        if (category != rows.category[i])
            break;
    }
    tree_rows_destroy(&rows);
    return category;
}

static void assert_same_rect(struct engine *engine, const struct slow_query *query, const struct flame_rects *rects,
                             size_t at, const struct slow_rect *slow, bool inverted)
{
    const struct flame_rect *rect = &rects->data[at];
    uint32_t below = rect->depth ? rects->data[rect->parent].node : NODE_NONE;
    assert_true(rect->start == slow->start && rect->end == slow->end);
    assert_int_equal(rect->depth, slow->depth);
    assert_int_equal(rect->count, slow->count);
    if (!slow->node) {
        assert_int_equal(rect->node, NODE_NONE);
        assert_int_equal(rect->func, PROFILE_NONE);
        assert_true(rect->total == slow->total && rect->self == 0);
        assert_int_equal(rect->matches, slow->matches);
        assert_int_equal(rect->category, category_below(engine, below, slow->funcs));
        return;
    }
    assert_int_equal(rect->category, category_below(engine, below, UINT32_C(1) << rect->func));
    assert_int_equal(rect->func, slow->node->func);
    assert_true(rect->total == slow->node->total);
    assert_true(rect->self == (!inverted ? slow->node->self : slow->depth == 0 ? slow->node->total : 0));
    assert_int_equal(rect->matches, slow_rect_func_matches(query, rect->func));
}

static void assert_parent_is_below(const struct flame_rects *rects, size_t at)
{
    const struct flame_rect *rect = &rects->data[at];
    if (rect->depth == 0) {
        assert_int_equal(rect->parent, FLAME_NO_RECT);
        return;
    }
    const struct flame_rect *parent = &rects->data[rect->parent];
    assert_int_equal(parent->depth + 1, rect->depth);
    assert_true(parent->start <= rect->start + 1e-9 && rect->end <= parent->end + 1e-9);
}

static void assert_handle_is_of_path(struct engine *engine, const struct flame_rects *rects, size_t at)
{
    struct node_path path = {0};
    struct error err;
    uint32_t rect = (uint32_t)at;
    assert_int_equal(engine_read_path(engine, rects->data[at].node, &path, &err), 0);
    assert_int_equal(path.length, rects->data[at].depth + 1);
    for (size_t i = path.length; i-- > 0; rect = rects->data[rect].parent)
        assert_int_equal(path.data[i], rects->data[rect].func);
    struct flame_part part;
    assert_int_equal(engine_find_flame_part(engine, path.data, path.length, &part, &err), 0);
    struct flame_request request = {.part = part};
    struct flame_rects zoomed = {0};
    assert_int_equal(engine_compute_flame(engine, &request, &zoomed, &err), 0);
    size_t found = 0;
    while (part.to > part.from && found < zoomed.length && zoomed.data[found].node != rects->data[at].node)
        found++;
    if (part.to > part.from) {
        assert_true(found < zoomed.length);
        assert_float_equal(zoomed.data[found].start, 0, 1e-6);
        assert_float_equal(zoomed.data[found].end, 1, 1e-6);
    }
    array_free(&zoomed);
    array_free(&path);
}

static void check_flame(struct engine *engine, const struct slow_query *query, struct random *random, bool inverted)
{
    static const double least[] = {0, 0.013, 0.07, 0.3};
    struct slow_node root = {0}, turned = {0};
    uint32_t path[MAX_DEPTH];
    slow_each_sample(query, grow_tree, &root);
    slow_sum(&root);
    grow_inverted_tree(&root, path, 0, &turned);
    slow_sum(&turned);
    show_all(&turned);
    ask(engine, query, inverted);

    static struct slow_flame slow;
    slow.query = query;
    slow.inverted = inverted;
    slow.least = least[random_below(random, 4)];
    slow.length = 0;
    double from = random_below(random, 2) ? 0 : random_below(random, 60) / 100.0;
    double to = random_below(random, 2) ? 1 : from + (1 + random_below(random, 60)) / 100.0, length = to - from;
    lay_out(&slow, inverted ? &turned : &root, 0, slow_root_total(&root), -from / length, (1 - from) / length);

    struct flame_request request = {.part = {from, to}, .least = slow.least};
    struct flame_rects rects = {0};
    struct error err;
    assert_int_equal(engine_compute_flame(engine, &request, &rects, &err), 0);
    assert_int_equal(rects.length, slow.length);
    size_t at = 0;
    for (size_t depth = 0; at < rects.length; depth++)
        for (size_t i = 0; i < slow.length; i++)
            if (slow.rects[i].depth == depth) {
                assert_same_rect(engine, query, &rects, at, &slow.rects[i], inverted);
                assert_parent_is_below(&rects, at++);
            }
    if (rects.length) {
        at = random_below(random, (uint32_t)rects.length);
        if (rects.data[at].node != NODE_NONE)
            assert_handle_is_of_path(engine, &rects, at);
    }
    array_free(&rects);
    slow_free(&root);
    slow_free(&turned);
}

static void test_rects_are_those_of_the_reference(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < PROFILES; seed++) {
        struct profile reference;
        struct random random = {seed * 3 + 5};
        struct slow_query query;
        struct engine *engine = random_engine(&reference, seed);
        for (int i = 0; i < 3; i++) {
            slow_random_query(&query, &reference, &random);
            check_flame(engine, &query, &random, false);
            check_flame(engine, &query, &random, true);
        }
        engine_free(engine);
        profile_destroy(&reference);
    }
}

/* ---- names ---- */

static void assert_ranks_follow_names(const struct profile *profile)
{
    uint32_t *ranks;
    struct error err;
    size_t count = profile->funcs.length + profile->resources.length;
    assert_int_equal(rank_funcs_by_name(profile, &ranks, &err), 0);
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = 0; b < count; b++)
            assert_int_equal(ranks[a] < ranks[b], a != b && comes_before(profile, a, b));
    free(ranks);
}

static void test_names_that_begin_alike_are_told_apart_where_they_differ(void **state)
{
    (void)state;
    static const char *const names[] = {"std::sort",
                                        "std::sort<int>",
                                        "std::sort<int>(int*, int*)",
                                        "std",
                                        "",
                                        "std::swap",
                                        "std::sort",
                                        "\xff\xfe",
                                        "a",
                                        "abcdef",
                                        "abcdefa",
                                        "abcdef",
                                        "abcdeg",
                                        "Z",
                                        "~thing",
                                        "abcdefabcdef"};
    struct profile profile;
    profile_init(&profile);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        profile_add_func(&profile, strings_add_z(&profile.strings, names[i]), PROFILE_NONE);
    assert_ranks_follow_names(&profile);
    profile_destroy(&profile);
    for (uint64_t seed = 0; seed < 50; seed++) {
        random_profile(&profile, seed);
        assert_ranks_follow_names(&profile);
        profile_destroy(&profile);
    }
}

/* Names of a megabyte that differ in their last letter. */
static void test_long_names_take_time_by_their_length_only(void **state)
{
    (void)state;
    enum { LENGTH = 1 << 20, NAMES = 8 };
    struct profile profile;
    profile_init(&profile);
    char *name = malloc(LENGTH + 1);
    assert_non_null(name);
    memset(name, 'x', LENGTH);
    name[LENGTH] = '\0';
    for (int i = 0; i < NAMES; i++) {
        name[LENGTH - 1] = (char)('z' - i);
        profile_add_func(&profile, strings_add(&profile.strings, name, LENGTH), PROFILE_NONE);
    }
    uint32_t *ranks;
    struct error err;
    assert_int_equal(rank_funcs_by_name(&profile, &ranks, &err), 0);
    for (uint32_t i = 0; i < NAMES; i++)
        assert_int_equal(ranks[i], NAMES - 1 - i);
    free(ranks);
    free(name);
    profile_destroy(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rects_are_those_of_the_reference),
        cmocka_unit_test(test_names_that_begin_alike_are_told_apart_where_they_differ),
        cmocka_unit_test(test_long_names_take_time_by_their_length_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
