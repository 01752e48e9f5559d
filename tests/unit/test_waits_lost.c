/* A thread that sleeps on after a loss of records has no switch that would tell: it is found again. */
#include "base/clock.h"
#include "record/library_table.h"
#include "record/wait_reason.h"
#include "record/waits.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const uint64_t ms = 1000000;

static void test_a_thread_that_sleeps_on_is_found_again(void **state)
{
    (void)state;
    char path[64];
    struct spool_writer *spool;
    struct waits waits;
    struct thread_filter all = {0};
    struct error err;
    snprintf(path, sizeof(path), "/tmp/prof-test-waits-%d.spool", (int)getpid());
    unlink(path);
    assert_int_equal(spool_writer_new(&spool, path, &err), 0);
    struct library_table *libraries = library_table_new(spool);
    struct tracker *tracker = tracker_new(spool, libraries);
    const struct waits_options options = {.spool = spool, .tracker = tracker, .filter = &all, .interval = ms};
    assert_int_equal(waits_init(&waits, &options, &err), 0);

    pid_t pid = fork();
    if (pid == 0) {
        sleep(100);
        _exit(0);
    }
    struct wait_state asleep;
    for (int i = 0; i < 5000 && wait_state_read((uint32_t)pid, (uint32_t)pid, &asleep) <= 0; i++)
        usleep(1000);
    uint64_t start = monotonic_ns();
    assert_int_equal(tracker_add_running_process(tracker, (uint32_t)pid, "x", start, &err), 0);
    assert_int_equal(tracker_add_running_thread(tracker, (uint32_t)pid, (uint32_t)pid, "x", start, &err), 0);
    assert_int_equal(waits_add_running(&waits, (uint32_t)pid, start, &err), 0);
    waits_lost(&waits);
    assert_int_equal(waits_flush(&waits, start + 10 * ms, false, &err), 0);
    usleep(20000);
    assert_int_equal(waits_look(&waits, &err), 0);
    assert_int_equal(waits_flush(&waits, monotonic_ns() + 50 * ms, true, &err), 0);
    assert_int_equal(waits.stored, 1);
    assert_int_equal(waits.without_stack, 0);

    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    waits_destroy(&waits);
    tracker_free(tracker);
    library_table_free(libraries);
    spool_writer_close(spool, NULL);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_thread_that_sleeps_on_is_found_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
