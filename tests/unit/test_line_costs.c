/*
 * Costs of lines, addresses and symbols against a slow, obvious reference implementation: sets of places per sample, on
 * random profiles with random transforms, ranges and searches, for all of the query, for each row of both trees, and
 * for each func.
 */
#include "slow_tree_check.h"

#include "tree/address_costs.h"
#include "tree/line_costs.h"

#include <math.h>

enum { PROFILES = 700, PLACES = 64, SOURCES = 3, SYMBOLS = 3, LINES = 4, FUNCS = 16, ADDRESS_STEP = 16 };

/* ---- what is looked at ---- */

struct looked_at {
    const struct tree_path *path;
    uint32_t func;
};

/* The frames of a stack that are looked at: *first to *last; false if there are none. */
static bool frames_of(const struct looked_at *at, const struct slow_stack *stack, size_t *first, size_t *last)
{
    *first = 0;
    *last = stack->depth;
    if (!at->path) {
        *first = at->func == PROFILE_NONE ? 0 : slow_first(stack, at->func);
        return *first < stack->depth;
    }
    size_t length = at->path->length;
    if (length > stack->depth)
        return false;
    for (size_t i = 0; i < length; i++)
        if (stack->frames[at->path->inverted ? stack->depth - 1 - i : i].func != at->path->funcs[i])
            return false;
    *first = at->path->inverted ? stack->depth - length : length - 1;
    return true;
}

/* ---- the reference: a number below PLACES for each place, by the frame at `i` ---- */

struct slow_costs {
    const struct profile *profile;
    struct looked_at at;
    bool are_calls, has_instructions;
    uint32_t wanted, func;
    uint32_t (*place)(const struct slow_costs *slow, const struct slow_stack *stack, size_t i);
    double total[PLACES], self[PLACES], any_total, any_self;
};

static void add_sample(void *context, const struct slow_stack *stack, double weight)
{
    struct slow_costs *slow = context;
    bool seen[PLACES] = {false}, any = false;
    size_t first, last;
    if (!frames_of(&slow->at, stack, &first, &last))
        return;
    for (size_t i = first + slow->are_calls; i < last; i++) {
        uint32_t place = slow->place(slow, stack, i);
        if (place == PROFILE_NONE)
            continue;
        assert_true(place < PLACES);
        if (!seen[place])
            slow->total[place] += weight;
        seen[place] = any = true;
        if (i + 1 == stack->depth) {
            slow->self[place] += weight;
            slow->any_self += weight;
        }
    }
    slow->any_total += any ? weight : 0;
}

static bool slow_is_in_file(const struct slow_costs *slow, const struct slow_frame *frame)
{
    return frame->func < slow->profile->funcs.length && slow->profile->funcs.source[frame->func] == slow->wanted &&
           (slow->func == PROFILE_NONE || slow->func == frame->func);
}

static uint32_t slow_line(const struct slow_costs *slow, const struct slow_stack *stack, size_t i)
{
    const struct slow_frame *frame = &stack->frames[i];
    return slow_is_in_file(slow, frame) ? slow->profile->frames.line[frame->frame] : PROFILE_NONE;
}

static uint32_t slow_call(const struct slow_costs *slow, const struct slow_stack *stack, size_t i)
{
    const struct frame_table *frames = &slow->profile->frames;
    const struct slow_frame *callee = &stack->frames[i], *caller = &stack->frames[i - 1];
    bool is_call = slow_is_in_file(slow, caller) && frames->address[callee->frame] == frames->address[caller->frame] &&
                   frames->inline_depth[callee->frame] > frames->inline_depth[caller->frame];
    return is_call ? frames->line[caller->frame] * FUNCS + callee->func : PROFILE_NONE;
}

static uint32_t slow_address(const struct slow_costs *slow, const struct slow_stack *stack, size_t i)
{
    const struct slow_frame *frame = &stack->frames[i];
    bool is_in_symbol =
        frame->func < slow->profile->funcs.length && slow->profile->frames.native_symbol[frame->frame] == slow->wanted;
    if (!is_in_symbol)
        return PROFILE_NONE;
    int64_t address = slow->profile->frames.address[frame->frame] / ADDRESS_STEP;
    int64_t base = slow->profile->native_symbols.data[slow->wanted].address / ADDRESS_STEP;
    bool is_in_instruction = slow->has_instructions && address >= base;
    return (uint32_t)(is_in_instruction ? address - (address - base) % 2 : address); /* each has two addresses */
}

static uint32_t slow_symbol(const struct slow_costs *slow, const struct slow_stack *stack, size_t i)
{
    const struct slow_frame *frame = &stack->frames[i];
    return frame->func == slow->func ? slow->profile->frames.native_symbol[frame->frame] : PROFILE_NONE;
}

static void sum_slowly(struct slow_costs *slow, const struct slow_query *query)
{
    slow->profile = query->profile;
    slow_each_sample(query, add_sample, slow);
}

/* What was compared is taken away: what is left must be nothing. */
static void assert_taken(struct slow_costs *slow, uint32_t place, double total, double self)
{
    assert_true(place < PLACES);
    assert_true(total == slow->total[place]);
    assert_true(self == slow->self[place]);
    slow->total[place] = slow->self[place] = 0;
}

static void assert_nothing_left(const struct slow_costs *slow)
{
    for (size_t place = 0; place < PLACES; place++)
        assert_true(slow->total[place] == 0 && slow->self[place] == 0);
}

/* ---- comparing ---- */

static void check_lines(struct engine *engine, const struct slow_query *query, const struct looked_at *at,
                        uint32_t func)
{
    struct counted_stacks counted = engine_get_counted_stacks(engine);
    for (uint32_t source = 0; source < SOURCES; source++) {
        struct slow_costs slow = {.at = *at, .wanted = source, .func = func, .place = slow_line};
        struct slow_costs calls = {.at = *at, .wanted = source, .func = func, .place = slow_call, .are_calls = true};
        struct line_request request = {source, func, {at->path, at->func}};
        struct line_costs costs = {0};
        struct error err;
        sum_slowly(&slow, query);
        sum_slowly(&calls, query);
        assert_int_equal(line_costs_compute(&costs, query->profile, &counted, &request, &err), 0);
        assert_true(costs.total == slow.any_total && costs.self == slow.any_self);
        for (size_t i = 0; i < costs.lines.length; i++) {
            const struct line_cost *row = &costs.lines.data[i];
            assert_true(i == 0 || costs.lines.data[i - 1].line < row->line);
            assert_taken(&slow, row->line, row->total, row->self);
        }
        for (size_t i = 0; i < costs.inlined.length; i++) {
            const struct inlined_cost *row = &costs.inlined.data[i];
            uint32_t place = row->line * FUNCS + row->func;
            assert_true(i == 0 || costs.inlined.data[i - 1].line <= row->line);
            assert_taken(&calls, place, row->total, calls.self[place]);
        }
        for (size_t place = 0; place < PLACES; place++) /* calls without weight are left out */
            assert_true(calls.total[place] == 0);
        assert_nothing_left(&slow);
        line_costs_destroy(&costs);
    }
}

/* Of all files: what their lines cost one by one, less lines that nobody knows. */
static void check_hot_lines(struct engine *engine, const struct slow_query *query, const struct looked_at *at,
                            uint32_t func)
{
    struct counted_stacks counted = engine_get_counted_stacks(engine);
    const struct profile *profile = query->profile;
    struct hot_lines hot = {0}, first = {0};
    struct error err;
    double self[SOURCES][PLACES] = {{0}}, known = 0;
    (void)func;
    if (at->path || at->func != PROFILE_NONE)
        return;
    for (uint32_t source = 0; source < SOURCES; source++) {
        struct line_request request = {source, PROFILE_NONE, {NULL, PROFILE_NONE}};
        struct line_costs costs = {0};
        assert_int_equal(line_costs_compute(&costs, profile, &counted, &request, &err), 0);
        for (size_t i = 0; i < costs.lines.length; i++)
            if (costs.lines.data[i].line != 0)
                known += self[source][costs.lines.data[i].line] = costs.lines.data[i].self;
        line_costs_destroy(&costs);
    }
    assert_int_equal(hot_lines_compute(&hot, profile, &counted, SIZE_MAX, &err), 0);
    assert_true(hot.known == known);
    for (size_t i = 0; i < hot.rows.length; i++) {
        const struct hot_line *row = &hot.rows.data[i];
        assert_true(row->self != 0 && row->func < profile->funcs.length);
        double *left = &self[profile->funcs.source[row->func]][row->line];
        assert_true(row->self == *left);
        *left = 0;
        assert_true(i == 0 || fabs(hot.rows.data[i - 1].self) >= fabs(row->self));
    }
    for (size_t i = 0; i < SOURCES * PLACES; i++)
        assert_true(self[i / PLACES][i % PLACES] == 0);
    assert_int_equal(hot_lines_compute(&first, profile, &counted, 1, &err), 0);
    assert_true(first.known == known && first.rows.length == (hot.rows.length > 0));
    hot_lines_destroy(&first);
    hot_lines_destroy(&hot);
}

static void check_addresses(struct engine *engine, const struct slow_query *query, const struct looked_at *at,
                            bool has_instructions)
{
    static const uint32_t starts[] = {0, 2 * ADDRESS_STEP, 4 * ADDRESS_STEP, 6 * ADDRESS_STEP};
    struct counted_stacks counted = engine_get_counted_stacks(engine);
    for (uint32_t symbol = 0; symbol < SYMBOLS; symbol++) {
        struct slow_costs slow = {
            .at = *at, .wanted = symbol, .place = slow_address, .has_instructions = has_instructions};
        struct address_request request = {symbol, starts, has_instructions ? 4 : 0, {at->path, at->func}};
        struct address_costs costs = {0};
        struct error err;
        sum_slowly(&slow, query);
        assert_int_equal(address_costs_compute(&costs, query->profile, &counted, &request, &err), 0);
        assert_true(costs.total == slow.any_total && costs.self == slow.any_self);
        for (size_t i = 0; i < costs.rows.length; i++) {
            const struct address_cost *row = &costs.rows.data[i];
            assert_true(i == 0 || costs.rows.data[i - 1].address < row->address);
            assert_taken(&slow, (uint32_t)(row->address / ADDRESS_STEP), row->total, row->self);
        }
        assert_nothing_left(&slow);
        address_costs_destroy(&costs);
    }
}

static void check_symbols(struct engine *engine, const struct slow_query *query, const struct looked_at *at,
                          uint32_t func)
{
    struct counted_stacks counted = engine_get_counted_stacks(engine);
    struct slow_costs slow = {.at = *at, .func = func, .place = slow_symbol};
    struct symbol_costs costs = {0};
    struct error err;
    sum_slowly(&slow, query);
    assert_int_equal(symbol_costs_compute(&costs, query->profile, &counted, func,
                                          (struct frame_selection){at->path, at->func}, &err),
                     0);
    for (size_t i = 0; i < costs.length; i++) {
        assert_true(i == 0 || fabs(costs.data[i - 1].total) >= fabs(costs.data[i].total));
        assert_taken(&slow, costs.data[i].symbol, costs.data[i].total, costs.data[i].self);
    }
    assert_nothing_left(&slow);
    array_free(&costs);
}

/* ---- everything there is to look at ---- */

typedef void check_function(struct engine *engine, const struct slow_query *query, const struct looked_at *at,
                            uint32_t func);

static void check_rows(struct engine *engine, const struct slow_query *query, bool inverted, check_function *check)
{
    struct tree_rows rows = {0};
    struct node_path funcs = {0};
    struct error err;
    ask(engine, query, inverted);
    assert_int_equal(engine_list_descendants(engine, NODE_NONE, 12, &rows, &err), 0);
    for (size_t i = 0; i < rows.length; i++) {
        assert_int_equal(engine_read_path(engine, rows.node[i], &funcs, &err), 0);
        struct tree_path path = {funcs.data, funcs.length, inverted};
        struct looked_at at = {&path, PROFILE_NONE};
        check(engine, query, &at, funcs.data[funcs.length - 1]);
    }
    array_free(&funcs);
    tree_rows_destroy(&rows);
}

static void each_selection(check_function *check)
{
    for (uint64_t seed = 0; seed < PROFILES; seed++) {
        struct profile reference;
        struct engine *engine = random_engine(&reference, seed);
        struct random random = {seed};
        struct slow_query query;
        slow_random_query(&query, &reference, &random);
        check_rows(engine, &query, false, check);
        check_rows(engine, &query, true, check);
        ask(engine, &query, false);
        check(engine, &query, &(struct looked_at){NULL, PROFILE_NONE}, 0);
        for (uint32_t func = 0; func < reference.funcs.length + reference.resources.length; func++)
            check(engine, &query, &(struct looked_at){NULL, func}, func);
        engine_free(engine);
        profile_destroy(&reference);
    }
}

static void check_lines_of_all_funcs(struct engine *engine, const struct slow_query *query, const struct looked_at *at,
                                     uint32_t func)
{
    (void)func;
    check_lines(engine, query, at, PROFILE_NONE);
}

static void check_any_addresses(struct engine *engine, const struct slow_query *query, const struct looked_at *at,
                                uint32_t func)
{
    (void)func;
    check_addresses(engine, query, at, false);
}

static void check_instructions(struct engine *engine, const struct slow_query *query, const struct looked_at *at,
                               uint32_t func)
{
    (void)func;
    check_addresses(engine, query, at, true);
}

static void test_lines_of_a_file_cost_what_the_reference_says(void **state)
{
    (void)state;
    each_selection(check_lines_of_all_funcs);
}

static void test_lines_of_one_func_cost_what_the_reference_says(void **state)
{
    (void)state;
    each_selection(check_lines);
}

static void test_hottest_lines_are_those_of_each_file(void **state)
{
    (void)state;
    each_selection(check_hot_lines);
}

static void test_addresses_of_a_symbol_cost_what_the_reference_says(void **state)
{
    (void)state;
    each_selection(check_any_addresses);
}

static void test_addresses_of_one_instruction_cost_together_what_the_reference_says(void **state)
{
    (void)state;
    each_selection(check_instructions);
}

static void test_symbols_of_a_func_cost_what_the_reference_says(void **state)
{
    (void)state;
    each_selection(check_symbols);
}

/* ---- what is asked for by address ---- */

static void test_a_file_is_found_at_an_address_of_each_library_that_has_it(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < PROFILES; seed++) {
        struct profile profile;
        struct code_addresses places = {0};
        struct error err;
        random_profile(&profile, seed);
        for (uint32_t source = 0; source <= SOURCES; source++) {
            bool has_code = false;
            for (size_t frame = 0; frame < profile.frames.length; frame++)
                has_code |= profile.funcs.source[profile.frames.func[frame]] == source;
            assert_int_equal(list_source_places(&places, &profile, source, 4, &err), 0);
            assert_int_equal(places.length, has_code); /* there is one library */
            bool is_there = !has_code;
            for (size_t frame = 0; has_code && frame < profile.frames.length; frame++)
                is_there |= profile.funcs.source[profile.frames.func[frame]] == source &&
                            profile.frames.address[frame] == places.data[0].address &&
                            profile.frames.lib[frame] == places.data[0].lib;
            assert_true(is_there);
        }
        array_free(&places);
        profile_destroy(&profile);
    }
}

static bool is_line_of_frame(const struct address_line *line, const struct profile *profile, size_t frame)
{
    uint32_t func = profile->frames.func[frame];
    return line->address == profile->frames.address[frame] && line->depth == profile->frames.inline_depth[frame] &&
           line->func == func && line->source == profile->funcs.source[func] &&
           line->line == profile->frames.line[frame];
}

static void check_lines_of_symbol(const struct profile *profile, uint32_t symbol)
{
    struct address_lines lines = {0};
    struct error err;
    assert_int_equal(list_address_lines(&lines, profile, symbol, &err), 0);
    for (size_t frame = 0; frame < profile->frames.length; frame++) {
        size_t found = 0;
        for (size_t i = 0; i < lines.length; i++)
            found += is_line_of_frame(&lines.data[i], profile, frame);
        if (profile->frames.native_symbol[frame] == symbol)
            assert_int_equal(found, 1);
    }
    for (size_t i = 0; i < lines.length; i++) {
        bool is_there = false;
        for (size_t frame = 0; frame < profile->frames.length; frame++)
            is_there |=
                profile->frames.native_symbol[frame] == symbol && is_line_of_frame(&lines.data[i], profile, frame);
        assert_true(is_there);
        const struct address_line *before = i ? &lines.data[i - 1] : NULL, *row = &lines.data[i];
        if (before)
            assert_true(before->address < row->address ||
                        (before->address == row->address && before->depth <= row->depth));
    }
    array_free(&lines);
}

static void test_lines_of_a_symbol_are_those_of_its_frames_in_order(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < PROFILES; seed++) {
        struct profile profile;
        random_profile(&profile, seed);
        for (uint32_t symbol = 0; symbol <= SYMBOLS; symbol++)
            check_lines_of_symbol(&profile, symbol);
        profile_destroy(&profile);
    }
}

/* A chain of a million frames, each at a line of its own, and then all of them again. */
static void test_a_deep_stack_of_many_lines_takes_no_time(void **state)
{
    (void)state;
    enum { DEPTH = 1000000 };
    struct profile profile;
    struct error err;
    random_profile(&profile, 1);
    uint32_t func = profile_add_func(&profile, 0, PROFILE_NONE), stack = PROFILE_NONE;
    profile.funcs.source[func] = 0;
    for (uint32_t i = 0; i < 2 * DEPTH; i++) {
        uint32_t frame = i < DEPTH ? profile_add_frame(&profile, func, 0, 0) : (uint32_t)profile.frames.length - DEPTH;
        if (i < DEPTH)
            profile.frames.line[frame] = i + 1;
        stack = profile_add_stack(&profile, stack, i < DEPTH ? frame : frame + i % DEPTH);
    }
    struct thread *thread = profile_add_thread(&profile);
    assert_true(samples_add(&thread->samples, stack, 0));
    uint32_t index = (uint32_t)profile.threads.length - 1;
    struct engine *engine = engine_new(&profile, &err);
    assert_non_null(engine);
    struct tree_query query = {.threads = &index, .thread_count = 1, .range = whole_time};
    assert_int_equal(engine_set_query(engine, &query, &err), 0);
    struct counted_stacks counted = engine_get_counted_stacks(engine);
    struct line_costs costs = {0};
    struct line_request request = {0, func, {NULL, PROFILE_NONE}};
    assert_int_equal(line_costs_compute(&costs, engine_get_profile(engine), &counted, &request, &err), 0);
    assert_int_equal(costs.lines.length, DEPTH);
    for (size_t i = 0; i < DEPTH; i++)
        assert_true(costs.lines.data[i].total == 1 && costs.lines.data[i].self == (i + 1 == DEPTH));
    line_costs_destroy(&costs);
    engine_free(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_of_a_file_cost_what_the_reference_says),
        cmocka_unit_test(test_lines_of_one_func_cost_what_the_reference_says),
        cmocka_unit_test(test_hottest_lines_are_those_of_each_file),
        cmocka_unit_test(test_addresses_of_a_symbol_cost_what_the_reference_says),
        cmocka_unit_test(test_addresses_of_one_instruction_cost_together_what_the_reference_says),
        cmocka_unit_test(test_symbols_of_a_func_cost_what_the_reference_says),
        cmocka_unit_test(test_a_file_is_found_at_an_address_of_each_library_that_has_it),
        cmocka_unit_test(test_lines_of_a_symbol_are_those_of_its_frames_in_order),
        cmocka_unit_test(test_a_deep_stack_of_many_lines_takes_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
