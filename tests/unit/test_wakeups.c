/* Records of the tracepoint sched_waking, and the names of wakers. */
#include "process/wait_reason.h"
#include "record/wakers.h"
#include "sample/wakeups.h"

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* As Linux 6.18 has it. */
static const char format[] = "name: sched_waking\nID: 375\nformat:\n"
                             "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                             "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
                             "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
                             "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
                             "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                             "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
                             "\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n";

static struct wakeups known_wakeups(void)
{
    struct wakeups wakeups = {0};
    assert_true(wakeup_layout_parse(&wakeups.layout, format));
    return wakeups;
}

/* A record of 4 + 36 bytes of fields; returns its size. */
static size_t make_record(unsigned char *bytes, uint32_t woken, uint8_t flags)
{
    const uint32_t head[] = {PERF_RECORD_SAMPLE, 80u << 16, 0x1111, 0, 40, 41, 7000, 0, 1, 0, 36};
    memset(bytes, 0, 80);
    memcpy(bytes, head, sizeof(head));
    bytes[44 + 2] = flags;
    memcpy(bytes + 44 + 24, &woken, sizeof(woken));
    return 80;
}

static void test_fields_are_where_the_kernel_says(void **state)
{
    struct wakeup_layout layout;
    (void)state;
    assert_true(wakeup_layout_parse(&layout, format));
    assert_int_equal(layout.flags, 2);
    assert_int_equal(layout.woken, 24); /* not that of common_pid */
    assert_false(wakeup_layout_parse(&layout, "field:int common_pid;\toffset:4;\tsize:4;\n"));
    assert_false(wakeup_layout_parse(&layout, "\tfield:unsigned char common_flags;\n\tfield:pid_t pid;\toffset:24;"));
}

static void test_a_wakeup_says_who_wakes_whom_and_in_which_context(void **state)
{
    static const struct {
        uint8_t flags;
        enum wakeup_context context;
    } cases[] = {{0x01, WAKEUP_BY_THREAD}, {0x11, WAKEUP_BY_SOFT_INTERRUPT}, {0x18, WAKEUP_BY_INTERRUPT}};
    struct wakeups wakeups = known_wakeups();
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        unsigned char bytes[128];
        struct wakeup wakeup;
        size_t size = make_record(bytes, 99, cases[i].flags);
        assert_true(wakeups_parse(&wakeups, bytes, size, &wakeup));
        assert_int_equal(wakeup.woken, 99);
        assert_int_equal(wakeup.by_pid, 40);
        assert_int_equal(wakeup.by_tid, 41);
        assert_true(wakeup.time == 7000);
        assert_int_equal(wakeup.context, cases[i].context);
    }
}

static void test_a_short_record_is_no_wakeup(void **state)
{
    struct wakeups wakeups = known_wakeups();
    (void)state;
    unsigned char bytes[128];
    struct wakeup wakeup;
    size_t size = make_record(bytes, 99, 0);
    for (size_t cut = 0; cut < size; cut++) {
        unsigned char *exact = malloc(cut + 1); /* so that a read beyond it is found */
        memcpy(exact, bytes, cut);
        assert_false(wakeups_parse(&wakeups, exact, cut, &wakeup));
        free(exact);
    }
    wakeups.layout.woken = 34; /* two bytes of it are in the fields */
    assert_false(wakeups_parse(&wakeups, bytes, size, &wakeup));
    wakeups.layout.woken = SIZE_MAX;
    assert_false(wakeups_parse(&wakeups, bytes, size, &wakeup));
}

static void test_wakers_are_named(void **state)
{
    static struct wakers wakers;
    struct tracker *tracker = tracker_new(NULL, NULL);
    struct thread_waker waker = {.is_known = true, .pid = 40, .tid = 41, .context = WAKEUP_BY_INTERRUPT};
    char name[WAKER_NAME_SIZE], wanted[WAKER_NAME_SIZE];
    (void)state;
    assert_non_null(tracker);
    wakers_handle_thread_end(&wakers, UINT32_MAX - 1, "old");
    wakers_handle_thread_end(&wakers, UINT32_MAX - 1, "gone");
    wakers_write_name(&wakers, tracker, &waker, REASON_NETWORK, name, sizeof(name));
    assert_string_equal(name, "interrupt");
    waker = (struct thread_waker){.is_known = true, .tid = UINT32_MAX - 1};
    wakers_write_name(&wakers, tracker, &waker, REASON_NETWORK, name, sizeof(name));
    assert_string_equal(name, "gone (4294967294)");
    waker.context = WAKEUP_BY_SOFT_INTERRUPT;
    wakers_write_name(&wakers, tracker, &waker, REASON_NETWORK, name, sizeof(name));
    assert_string_equal(name, "gone (4294967294), in a soft interrupt");
    wakers_write_name(&wakers, tracker, &waker, REASON_DISK, name, sizeof(name));
    assert_string_equal(name, "interrupt");
    waker = (struct thread_waker){.is_known = true, .tid = UINT32_MAX - 7};
    wakers_write_name(&wakers, tracker, &waker, REASON_NETWORK, name, sizeof(name));
    assert_string_equal(name, "thread 4294967288, not recorded");
    waker.tid = (uint32_t)getpid();
    wakers_write_name(&wakers, tracker, &waker, REASON_NETWORK, name, sizeof(name));
    snprintf(wanted, sizeof(wanted), "test_wakeups (%d), not recorded", (int)getpid());
    assert_string_equal(name, wanted);
    for (int i = 0; i < WAKERS_ENDED; i++)
        wakers_handle_thread_end(&wakers, 1, "another");
    waker.tid = UINT32_MAX - 1;
    wakers_write_name(&wakers, tracker, &waker, REASON_NETWORK, name, sizeof(name));
    assert_string_equal(name, "thread 4294967294, not recorded");
    tracker_free(tracker);
}

/* At most some 500 stacks of recorded threads a second, and 3,000 of all threads, at random. Above 20,000 wakeups a
 * second, the event is on in an eighth of the rounds. */
static void test_the_period_follows_the_number_of_wakeups(void **state)
{
    (void)state;
    enum { ROUNDS = 4000 };
    static const struct {
        uint64_t seen, recorded, least, most, rounds_on; /* wakeups a second, and periods */
    } cases[] = {{400, 400, 1, 1, ROUNDS},
                 {5000, 5000, 5, 15, ROUNDS},
                 {90000, 100, 15, 45, ROUNDS},
                 {100000, 100000, 100, 300, ROUNDS / 8}};
    static const uint64_t round = 10000000; /* ns */
    struct wakeups wakeups = {.random = 1, .chosen = 1};
    uint64_t now = 1;
    assert_true(array_push(&wakeups.cpus, (struct wakeup_cpu){.fd = -1}));
    assert_true(array_push(&wakeups.stacks, (struct wakeup_cpu){.fd = -1, .period = 1}));
    const uint64_t *period = &wakeups.stacks.data[0].period;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint64_t rounds_on = 0, sum = 0, changes = 0, mean = (cases[i].least + cases[i].most) / 2;
        for (int j = 0; j < ROUNDS; j++) {
            wakeups.cpus.data[0].seen = cases[i].seen / 100;
            wakeups.cpus.data[0].recorded = cases[i].recorded / 100;
            uint64_t before = *period;
            wakeups_choose_periods(&wakeups, now += round);
            changes += *period != before;
            rounds_on += *period != 0;
            sum += *period;
            if (*period)
                assert_in_range(*period, cases[i].least, cases[i].most);
        }
        assert_in_range(rounds_on, cases[i].rounds_on * 9 / 10, cases[i].rounds_on * 11 / 10);
        assert_in_range(sum / rounds_on, mean * 9 / 10, mean * 11 / 10);
        assert_true(mean == 1 || changes > rounds_on / 2);
    }
    array_free(&wakeups.cpus);
    array_free(&wakeups.stacks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_are_where_the_kernel_says),
        cmocka_unit_test(test_a_wakeup_says_who_wakes_whom_and_in_which_context),
        cmocka_unit_test(test_a_short_record_is_no_wakeup),
        cmocka_unit_test(test_wakers_are_named),
        cmocka_unit_test(test_the_period_follows_the_number_of_wakeups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
