/*
 * The stack chart against its definition, column by column: the samples of a column, their common frames, and the top
 * of the longest counted one. On random profiles.
 */
#include "slow_tree_check.h"

#include "support/wait_profile.h"
#include "tree/stack_chart.h"

enum { PROFILES = 1500, MOST_COLUMNS = 64, MOST_SAMPLES = 256 };

/* ---- the definition ---- */

struct slow_sample {
    struct slow_stack stack; /* of depth 0 if the sample does not count */
    double start, end;       /* columns */
    int first, last;         /* the same, rounded */
};

struct slow_chart {
    struct slow_sample samples[MOST_SAMPLES];
    size_t count;
};

static bool same_stack(const struct slow_stack *a, const struct slow_stack *b)
{
    if (a->depth != b->depth)
        return false;
    for (size_t i = 0; i < a->depth; i++)
        if (a->frames[i].func != b->frames[i].func)
            return false;
    return true;
}

static double to_column(const struct stack_chart_request *request, double time)
{
    double column = (time - request->range.from) * (request->columns / (request->range.to - request->range.from));
    return fmin(fmax(column, 0), request->columns);
}

static bool slow_sleeps(const struct sample_table *samples, size_t i, double interval)
{
    double gap = i + 1 < samples->length ? samples->time[i + 1] - samples->time[i] : 0;
    return gap > 4 * interval && samples->cpu_delta && !isnan(samples->cpu_delta[i + 1]) &&
           samples->cpu_delta[i + 1] / 1000 / gap < 0.5;
}

static void slow_stack_of(struct slow_stack *stack, const struct slow_query *query, uint32_t index)
{
    stack->depth = 0;
    if (index != PROFILE_NONE)
        slow_stack_make(stack, query, index);
    if (!slow_matches(query, stack))
        stack->depth = 0;
}

static void slow_add(struct slow_chart *chart, const struct slow_stack *stack, double start, double end,
                     const struct stack_chart_request *request)
{
    if (start >= request->range.to || (start < request->range.from && end <= request->range.from))
        return;
    assert_true(chart->count < MOST_SAMPLES);
    chart->samples[chart->count++] =
        (struct slow_sample){.stack = *stack, .start = to_column(request, start), .end = to_column(request, end)};
}

/* What a thread with recorded waits did from row `i` on until `end`. */
static void slow_add_around_waits(struct slow_chart *chart, const struct slow_query *query,
                                  const struct stack_chart_request *request, size_t i, double end)
{
    const struct profile *profile = query->profile;
    const struct sample_table *samples = &profile->threads.data[request->thread].samples;
    double start = samples->time[i], ran_until = end;
    bool has_next = i + 1 < samples->length;
    struct slow_stack stack, nothing = {.depth = 0};
    if (has_next && slow_is_wait_end(profile, samples, i + 1)) {
        bool counts = query->weight != WEIGH_CPU_TIME && query->weight != WEIGH_ON_CPU;
        slow_stack_of(&stack, query, samples->stack[i + 1]);
        slow_add(chart, counts ? &stack : &nothing, start, end, request);
        return;
    }
    if (!has_next && !slow_is_sample_row(profile, samples, i)) {
        slow_add(chart, &nothing, start, end, request);
        return;
    }
    if (has_next && !isnan(samples->cpu_delta[i + 1]) &&
        end - start - samples->cpu_delta[i + 1] / 1000 >= profile->meta.interval / 2)
        ran_until = start + samples->cpu_delta[i + 1] / 1000;
    slow_stack_of(&stack, query, slow_running_stack(profile, samples, i + 1));
    bool counts = query->weight != WEIGH_OFF_CPU_TIME && query->weight != WEIGH_OFF_CPU;
    slow_add(chart, counts ? &stack : &nothing, start, ran_until, request);
    if (ran_until < end)
        slow_add(chart, &nothing, ran_until, end, request);
}

static void slow_chart_make(struct slow_chart *chart, const struct slow_query *query,
                            const struct stack_chart_request *request)
{
    const struct sample_table *samples = &query->profile->threads.data[request->thread].samples;
    double interval = query->profile->meta.interval;
    chart->count = 0;
    for (size_t i = 0; i < samples->length; i++) {
        double start = samples->time[i], end = i + 1 < samples->length ? samples->time[i + 1] : start + interval;
        double thread_end = query->profile->threads.data[request->thread].end;
        if (i + 1 == samples->length && end > thread_end)
            end = thread_end > start ? thread_end : start;
        if (slow_stores_waits(samples) && !request->same_widths) {
            slow_add_around_waits(chart, query, request, i, end);
            continue;
        }
        bool sleeps = !request->same_widths && slow_sleeps(samples, i, interval);
        struct slow_stack stack, next;
        slow_stack_of(&stack, query, samples->stack[i]);
        slow_add(chart, &stack, start, sleeps ? start + interval : end, request);
        if (!sleeps)
            continue;
        /* what a sample that was taken meanwhile says, else nothing */
        slow_stack_of(&next, query, samples->cpu_delta[i + 1] == 0 ? samples->stack[i + 1] : PROFILE_NONE);
        slow_add(chart, &next, start + interval, end, request);
    }
    if (request->same_widths) {
        size_t kept = 0;
        for (size_t i = 0; i < chart->count; i++)
            if (kept == 0 || !same_stack(&chart->samples[kept - 1].stack, &chart->samples[i].stack))
                chart->samples[kept++] = chart->samples[i];
        chart->count = kept;
        double width = (double)request->columns / (double)kept, at = 0;
        for (size_t i = 0; i < kept; i++) {
            chart->samples[i].start = at;
            chart->samples[i].end = at = fmin(at + width, request->columns);
        }
    }
    for (size_t i = 0; i < chart->count; i++) {
        chart->samples[i].first = (int)(chart->samples[i].start + 0.5);
        chart->samples[i].last = (int)(chart->samples[i].end + 0.5);
    }
}

/* Whether a sample is shown in a column: it covers it, or rounds to nothing where the column begins. */
static bool is_in_column(const struct slow_sample *sample, int column)
{
    return sample->first == sample->last ? sample->first == column : sample->first <= column && column < sample->last;
}

struct slow_column {
    size_t shared;                   /* so many frames are rects */
    const struct slow_stack *frames; /* of the example, which has the shared ones as well */
};

/* Whether a sample is shown rather than the other: one that does not count hides none that does. */
static bool is_shown_before(const struct slow_sample *sample, const struct slow_sample *other)
{
    if (!other || (sample->stack.depth == 0) != (other->stack.depth == 0))
        return !other || other->stack.depth == 0;
    return sample->end - sample->start > other->end - other->start;
}

static struct slow_column slow_column_of(const struct slow_chart *chart, int column)
{
    const struct slow_sample *longest = NULL;
    size_t shared = MAX_DEPTH;
    for (size_t i = 0; i < chart->count; i++) {
        const struct slow_sample *sample = &chart->samples[i];
        if (!is_in_column(sample, column))
            continue;
        const struct slow_sample *other = longest ? longest : sample;
        size_t common = 0;
        while (common < sample->stack.depth && common < other->stack.depth &&
               sample->stack.frames[common].func == other->stack.frames[common].func)
            common++;
        shared = common < shared ? common : shared;
        if (is_shown_before(sample, longest))
            longest = sample;
    }
    return (struct slow_column){longest ? shared : 0, longest ? &longest->stack : NULL};
}

/* ---- comparing ---- */

static const struct stack_rect *rect_at(const struct stack_rects *rects, uint32_t column, size_t depth)
{
    const struct stack_rect *found = NULL;
    for (size_t i = 0; i < rects->length; i++) {
        const struct stack_rect *rect = &rects->data[i];
        if (rect->depth != depth || column < rect->start || column >= rect->end)
            continue;
        assert_null(found);
        found = rect;
    }
    return found;
}

static bool continues(const struct slow_column *before, const struct slow_column *column, size_t depth)
{
    if (before->shared <= depth || column->shared <= depth)
        return false;
    for (size_t i = 0; i <= depth; i++)
        if (before->frames->frames[i].func != column->frames->frames[i].func)
            return false;
    return true;
}

static void assert_same_column(struct engine *engine, const struct stack_rects *rects, uint32_t at,
                               const struct slow_column *column, const struct slow_column *before)
{
    size_t depth = column->frames ? column->frames->depth : 0;
    assert_null(rect_at(rects, at, depth));
    for (size_t i = 0; i < depth; i++) {
        const struct stack_rect *rect = rect_at(rects, at, i);
        assert_non_null(rect);
        if (i >= column->shared) {
            assert_int_equal(rect->node, NODE_NONE);
            assert_int_equal(rect->func, PROFILE_NONE);
            continue;
        }
        assert_int_not_equal(rect->node, NODE_NONE);
        assert_int_equal(rect->func, column->frames->frames[i].func);
        assert_int_equal(rect->start == at, !continues(before, column, i));
        assert_int_equal(engine_get_nodes(engine)->func[rect->node], rect->func);
        assert_int_equal(rect->category, engine_get_nodes(engine)->category[rect->node]);
        assert_true(i == 0 ? rect->parent == STACK_NO_RECT
                           : rects->data[rect->parent].node == engine_get_nodes(engine)->prefix[rect->node]);
    }
}

static void check_chart(struct engine *engine, const struct slow_query *query, struct random *random)
{
    static struct slow_chart chart;
    static const double lengths[] = {1, 7, 30, 90};
    double from = random_below(random, 3) ? random_below(random, 60) * 0.5 : -3;
    struct stack_chart_request request = {.thread = random_below(random, (uint32_t)query->profile->threads.length),
                                          .range = {from, from + lengths[random_below(random, 4)]},
                                          .columns = 1 + random_below(random, MOST_COLUMNS),
                                          .same_widths = random_below(random, 3) == 0};
    struct stack_rects rects = {0};
    struct error err;
    ask(engine, query, random_below(random, 2));
    slow_chart_make(&chart, query, &request);
    assert_int_equal(engine_compute_stack_chart(engine, &request, &rects, &err), 0);
    struct slow_column before = {0};
    for (uint32_t at = 0; at < request.columns; at++) {
        struct slow_column column = slow_column_of(&chart, (int)at);
        assert_same_column(engine, &rects, at, &column, &before);
        before = column;
    }
    for (size_t i = 0; i < rects.length; i++) {
        assert_true(rects.data[i].start < rects.data[i].end && rects.data[i].end <= request.columns);
        assert_true(rects.data[i].first <= rects.data[i].last);
        assert_true(rects.data[i].parent == STACK_NO_RECT || rects.data[i].parent < i);
    }
    array_free(&rects);
}

/* With short intervals, many of the gaps between samples are ones in which the thread slept. */
static struct engine *engine_with_interval(struct profile *reference, uint64_t seed, double interval)
{
    struct profile profile;
    struct error err = {""};
    random_profile(&profile, seed);
    random_profile(reference, seed);
    profile.meta.interval = reference->meta.interval = interval;
    assert_int_equal(profile_check(&profile, &err), 0);
    struct engine *engine = engine_new(&profile, &err);
    assert_non_null(engine);
    slow_add_not_running(reference);
    return engine;
}

static void test_columns_are_those_of_the_definition(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < PROFILES; seed++) {
        struct profile reference;
        struct random random = {seed * 7 + 3};
        struct slow_query query;
        struct engine *engine = engine_with_interval(&reference, seed, seed % 2 ? 1 : 0.1);
        for (int i = 0; i < 4; i++) {
            slow_random_query(&query, &reference, &random);
            check_chart(engine, &query, &random);
        }
        engine_free(engine);
        profile_destroy(&reference);
    }
}

static const struct stack_rect *named_rect(const struct engine *engine, const struct stack_rects *rects,
                                           uint32_t column, const char *name)
{
    const struct profile *profile = engine_get_profile(engine);
    for (size_t i = 0; i < rects->length; i++) {
        const struct stack_rect *rect = &rects->data[i];
        if (column >= rect->start && column < rect->end && rect->func != PROFILE_NONE &&
            strcmp(profile_text(profile, profile->funcs.name[rect->func]), name) == 0)
            return rect;
    }
    return NULL;
}

static void test_runnable_wait_is_on_open_rects(void **state)
{
    (void)state;
    struct profile profile;
    struct error err = {""};
    wait_profile_make(&profile);
    struct engine *engine = engine_new(&profile, &err);
    const uint32_t reader = 1;
    static const enum sample_weight weights[] = {WEIGH_CPU_TIME, WEIGH_OFF_CPU_TIME, WEIGH_TIME};
    for (int i = 0; i < 3; i++) {
        const struct tree_query query = {
            .threads = &reader, .thread_count = 1, .range = whole_time, .weight = weights[i]};
        const struct stack_chart_request request = {.thread = reader, .range = {0, 100}, .columns = 200};
        struct stack_rects rects = {0};
        assert_int_equal(engine_set_query(engine, &query, &err), 0);
        assert_int_equal(engine_compute_stack_chart(engine, &request, &rects, &err), 0);
        /* from 52 to 60 ms it waits for a CPU in lookup() */
        const struct stack_rect *lookup = named_rect(engine, &rects, 110, "lookup");
        const struct stack_rect *wait = named_rect(engine, &rects, 110, "runnable");
        assert_non_null(lookup);
        assert_non_null(wait);
        /* the sample at 52 ms shares the first column */
        assert_true(wait->start == 105 && wait->end == 120 && wait->depth == 3);
        assert_true(wait->node == NODE_NONE && wait->parent == STACK_NO_RECT);
        assert_int_equal(lookup->start, i == 1 ? 105 : 104); /* a short wait ends at 52 ms */
        /* from 10.25 to 50.25 ms it waits for the lock, at 5 ms it runs */
        assert_int_equal(named_rect(engine, &rects, 60, "lock 0x1000") != NULL, i > 0);
        assert_int_equal(named_rect(engine, &rects, 10, "lookup") != NULL, i != 1);
        array_free(&rects);
    }
    engine_free(engine);
}

static void test_runnable_wait_is_on_its_own_callers(void **state)
{
    (void)state;
    struct profile profile;
    struct error err = {""};
    struct stack_rects rects = {0};
    const uint32_t number = 3;
    struct wait_stacks stacks = wait_profile_make(&profile);
    struct thread *thread = wait_profile_thread(&profile, "other", 0);
    wait_profile_run(thread, stacks.store, 10, 10);
    wait_profile_wait(thread, stacks.lookup_runnable, 10, 20, 0);
    struct engine *engine = engine_new(&profile, &err);
    const struct tree_query query = {.threads = &number, .thread_count = 1, .range = whole_time, .weight = WEIGH_TIME};
    const struct stack_chart_request request = {.thread = number, .range = {0, 100}, .columns = 200};
    assert_int_equal(engine_set_query(engine, &query, &err), 0);
    assert_int_equal(engine_compute_stack_chart(engine, &request, &rects, &err), 0);
    assert_non_null(named_rect(engine, &rects, 30, "lookup"));
    assert_null(named_rect(engine, &rects, 30, "store"));
    array_free(&rects);
    engine_free(engine);
}

static void test_thread_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    struct profile reference;
    struct engine *engine = random_engine(&reference, 1);
    struct stack_chart_request request = {.thread = 99, .range = {0, 1}, .columns = 10};
    struct stack_rects rects = {0};
    struct error err = {""};
    assert_true(engine_compute_stack_chart(engine, &request, &rects, &err) < 0);
    assert_string_equal(err.text, "this profile has no thread 99");
    engine_free(engine);
    profile_destroy(&reference);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_are_those_of_the_definition),
        cmocka_unit_test(test_runnable_wait_is_on_open_rects),
        cmocka_unit_test(test_runnable_wait_is_on_its_own_callers),
        cmocka_unit_test(test_thread_that_is_not_there_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
