/* A thread whose children keep ending gets an event of its own, until it ends. */
#include "sample/perf_apart.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include <cmocka.h>

static void tell(struct perf_apart *apart, uint32_t type, uint32_t tid, uint32_t parent)
{
    struct perf_record record = {
        .type = type, .pid = tid, .tid = tid, .task = {.parent_pid = parent, .parent_tid = parent}};
    perf_apart_handle_record(apart, &record);
}

static void tell_of_short_children(struct perf_apart *apart, uint32_t parent, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        tell(apart, PERF_RECORD_FORK, 5000000 + i, parent); /* above all tids that there can be */
        tell(apart, PERF_RECORD_EXIT, 5000000 + i, parent);
    }
}

static pid_t start_child(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        for (;;)
            pause();
    }
    return pid;
}

static void end_child(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void skip_where_refused(void)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof(attr),
                                   .config = PERF_COUNT_SW_DUMMY,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0UL);
    if (fd >= 0) {
        close((int)fd);
        return;
    }
    print_message("skipped: perf events are not permitted here\n");
    skip();
}

static void test_a_thread_whose_children_keep_ending_is_kept_apart_until_it_ends(void **state)
{
    (void)state;
    struct perf_apart apart = {0};
    skip_where_refused();
    pid_t parent = start_child();
    assert_true(parent > 0);
    tell_of_short_children(&apart, (uint32_t)parent, 4);
    assert_int_equal(apart.threads.length, 0);
    tell_of_short_children(&apart, (uint32_t)parent, 1000);
    size_t kept = apart.threads.length;
    uint32_t tid = kept ? apart.threads.data[0].tid : 0;
    bool is_open = kept && apart.threads.data[0].fd >= 0;
    tell(&apart, PERF_RECORD_EXIT, (uint32_t)parent, 1);
    size_t left = apart.threads.length;
    end_child(parent);
    perf_apart_destroy(&apart);
    assert_int_equal(kept, 1);
    assert_int_equal(tid, parent);
    assert_true(is_open);
    assert_int_equal(left, 0);
}

static void test_a_thread_whose_children_have_ceased_to_end_is_let_go(void **state)
{
    (void)state;
    struct perf_apart apart = {0};
    skip_where_refused();
    pid_t parent = start_child();
    size_t kept[6];
    assert_true(parent > 0);
    tell_of_short_children(&apart, (uint32_t)parent, 16);
    kept[0] = apart.threads.length;
    perf_apart_update_every_second(&apart); /* it may come at once */
    kept[1] = apart.threads.length;
    tell_of_short_children(&apart, (uint32_t)parent, 100);
    perf_apart_update_every_second(&apart);
    kept[2] = apart.threads.length;
    perf_apart_update_every_second(&apart);
    kept[3] = apart.threads.length;
    tell_of_short_children(&apart, (uint32_t)parent, 15);
    kept[4] = apart.threads.length;
    tell_of_short_children(&apart, (uint32_t)parent, 1);
    kept[5] = apart.threads.length;
    end_child(parent);
    perf_apart_destroy(&apart);
    static const size_t wanted[6] = {1, 1, 1, 0, 0, 1};
    assert_memory_equal(kept, wanted, sizeof(kept));
}

static void test_children_that_live_change_nothing(void **state)
{
    (void)state;
    struct perf_apart apart = {0};
    pid_t parent = start_child();
    assert_true(parent > 0);
    for (uint32_t i = 0; i < 1000; i++)
        tell(&apart, PERF_RECORD_FORK, 5000000 + i, (uint32_t)parent);
    assert_int_equal(apart.threads.length, 0);
    end_child(parent);
    perf_apart_destroy(&apart);
}

static void test_a_thread_that_has_ended_meanwhile_is_left(void **state)
{
    (void)state;
    struct perf_apart apart = {0};
    tell_of_short_children(&apart, 4999999, 1000);
    assert_int_equal(apart.threads.length, 0);
    perf_apart_destroy(&apart);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_thread_whose_children_keep_ending_is_kept_apart_until_it_ends),
        cmocka_unit_test(test_a_thread_whose_children_have_ceased_to_end_is_let_go),
        cmocka_unit_test(test_children_that_live_change_nothing),
        cmocka_unit_test(test_a_thread_that_has_ended_meanwhile_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
