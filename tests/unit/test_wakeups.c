/* Records of the tracepoint sched_waking, and the names of wakers. */
#include "record/wait_reason.h"
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
    wakers_thread_ends(&wakers, UINT32_MAX - 1, "old");
    wakers_thread_ends(&wakers, UINT32_MAX - 1, "gone");
    wakers_name(&wakers, tracker, &waker, REASON_NETWORK, name, sizeof(name));
    assert_string_equal(name, "interrupt");
    waker = (struct thread_waker){.is_known = true, .tid = UINT32_MAX - 1};
    wakers_name(&wakers, tracker, &waker, REASON_NETWORK, name, sizeof(name));
    assert_string_equal(name, "gone (4294967294)");
    waker.context = WAKEUP_BY_SOFT_INTERRUPT;
    wakers_name(&wakers, tracker, &waker, REASON_NETWORK, name, sizeof(name));
    assert_string_equal(name, "gone (4294967294), in a soft interrupt");
    wakers_name(&wakers, tracker, &waker, REASON_DISK, name, sizeof(name));
    assert_string_equal(name, "interrupt");
    waker = (struct thread_waker){.is_known = true, .tid = UINT32_MAX - 7};
    wakers_name(&wakers, tracker, &waker, REASON_NETWORK, name, sizeof(name));
    assert_string_equal(name, "thread 4294967288, not recorded");
    waker.tid = (uint32_t)getpid();
    wakers_name(&wakers, tracker, &waker, REASON_NETWORK, name, sizeof(name));
    snprintf(wanted, sizeof(wanted), "test_wakeups (%d), not recorded", (int)getpid());
    assert_string_equal(name, wanted);
    for (int i = 0; i < WAKERS_ENDED; i++)
        wakers_thread_ends(&wakers, 1, "another");
    waker.tid = UINT32_MAX - 1;
    wakers_name(&wakers, tracker, &waker, REASON_NETWORK, name, sizeof(name));
    assert_string_equal(name, "thread 4294967294, not recorded");
    tracker_free(tracker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_are_where_the_kernel_says),
        cmocka_unit_test(test_a_wakeup_says_who_wakes_whom_and_in_which_context),
        cmocka_unit_test(test_a_short_record_is_no_wakeup),
        cmocka_unit_test(test_wakers_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
