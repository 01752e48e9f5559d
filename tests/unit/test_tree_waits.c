/*
 * Waits against a check of each moment: whether the thread runs, else why it last left its CPU.
 */
#include "random_markers.h"
#include "tree/marker_view.h"
#include "tree/samply_waits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 2000, MOST = 20 };

static const char schema[] = "[{\"name\":\"OnCpu\",\"fields\":[{\"key\":\"outwhy\",\"format\":\"unique-string\"}]}]";

/* Times on a CPU, one after the other, in quarters of a ms; a marker of another kind now and then. */
static void make_runs(struct profile *profile, struct random *random)
{
    static const char *const reasons[] = {"preempted", "blocked", "something new"};
    struct marker_table *markers = &profile->threads.data[0].markers;
    char payload[100];
    random_marker_table(random, profile, markers, random_below(random, MOST));
    profile->meta.marker_schema = strings_add_z(&profile->strings, schema);
    double time = 0;
    for (size_t i = 0; i < markers->length; i++) {
        if (random_below(random, 6) == 0)
            continue;
        markers->phase[i] = 1;
        markers->start[i] = time += random_below(random, 8) * 0.25;
        markers->end[i] = time += random_below(random, 8) * 0.25;
        snprintf(payload, sizeof(payload), "{\"type\":\"OnCpu\",\"outwhy\":%u}",
                 strings_add_z(&profile->strings, reasons[random_below(random, 3)]));
        markers->data[i] = random_below(random, 8) ? strings_add_z(&profile->strings, payload)
                                                   : strings_add_z(&profile->strings, "{\"type\":\"OnCpu\"}");
    }
}

/* The state between two moments that nothing begins or ends between; -1 before the first and after the last run. */
static int slow_state(const struct profile *profile, double time)
{
    const struct marker_table *markers = &profile->threads.data[0].markers;
    int state = -1;
    bool comes_another = false;
    for (size_t i = 0; i < markers->length; i++) {
        const char *data = markers->data[i] == PROFILE_NONE ? "" : strings_text(&profile->strings, markers->data[i]);
        if (!strstr(data, "OnCpu"))
            continue;
        if (markers->start[i] < time && time < markers->end[i])
            return WAIT_RUNS;
        if (markers->start[i] > time) {
            comes_another = true;
            break;
        }
        const char *reason = strstr(data, "outwhy\":");
        const char *text = reason ? strings_text(&profile->strings, (uint32_t)strtoul(reason + 8, NULL, 10)) : "";
        state = strcmp(text, "preempted") == 0 ? WAIT_RUNNABLE
                : strcmp(text, "blocked") == 0 ? WAIT_BLOCKED
                                               : WAIT_OTHER;
    }
    return comes_another ? state : -1;
}

static void test_each_moment_has_the_state_that_one_sees(void **state)
{
    (void)state;
    struct marker_rects rects = {0};
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        struct random random = {seed};
        struct profile profile;
        struct error err;
        random_profile(&profile, 1);
        make_runs(&profile, &random);
        struct marker_view *view = marker_view_new(&profile, (struct time_range){0, 100}, &err);
        assert_non_null(view);
        const struct marker_list *list = marker_view_get_thread_markers(view, 0, &err);
        assert_non_null(list);
        double from = random_below(&random, 20), totals[WAIT_STATES], slow[WAIT_STATES] = {0};
        struct marker_window window = {.from = from, .to = from + 1 + random_below(&random, 20)};
        assert_int_equal(list_on_cpu_rects(&rects, totals, marker_view_get_context(view), list, &window, &err), 0);
        for (double time = window.from + 0.125; time < window.to; time += 0.25) {
            int wanted = slow_state(&profile, time), found = -1;
            for (size_t i = 0; i < rects.length; i++)
                if (rects.start[i] < time && time < rects.end[i])
                    found = (int)rects.row[i];
            assert_int_equal(found, wanted);
            if (wanted >= 0)
                slow[wanted] += 0.25;
        }
        for (size_t i = 0; i < WAIT_STATES; i++)
            assert_true(totals[i] == slow[i]);
        marker_view_free(view);
        profile_destroy(&profile);
    }
    marker_rects_destroy(&rects);
}

static void test_only_threads_with_such_markers_have_waits(void **state)
{
    (void)state;
    struct random random = {9};
    struct profile profile;
    struct error err;
    random_marker_profile(&profile, 3);
    struct marker_view *view = marker_view_new(&profile, (struct time_range){0, 100}, &err);
    assert_non_null(view);
    assert_int_equal(find_on_cpu_schema(marker_view_get_context(view)->schemas), SCHEMA_NONE);
    assert_false(marker_view_has_kind(view, 0, SCHEMA_NONE));
    marker_view_free(view);
    profile_destroy(&profile);
    random_profile(&profile, 1);
    make_runs(&profile, &random);
    while (profile.threads.data[0].markers.length < 5) {
        profile_destroy(&profile);
        random_profile(&profile, 1);
        make_runs(&profile, &random);
    }
    view = marker_view_new(&profile, (struct time_range){0, 100}, &err);
    assert_non_null(view);
    assert_true(marker_view_has_kind(view, 0, find_on_cpu_schema(marker_view_get_context(view)->schemas)));
    marker_view_free(view);
    profile_destroy(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_moment_has_the_state_that_one_sees),
        cmocka_unit_test(test_only_threads_with_such_markers_have_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
