/* Signals: the sender, whether the process ignores one, and the kernel's count of out-of-memory kills. */
#include "process/process_signals.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_a_count_is_found_by_its_whole_name(void **state)
{
    (void)state;
    const char *text = "nr_free 12\noom_kill_more 5\noom_kill 7\nlast 9";
    assert_true(process_signals_parse_count(text, "oom_kill") == 7);
    assert_true(process_signals_parse_count(text, "last") == 9);
    assert_true(process_signals_parse_count(text, "nr_free") == 12);
    assert_true(process_signals_parse_count(text, "kill") == UINT64_MAX);
    assert_true(process_signals_parse_count("oom_kill x\n", "oom_kill") == UINT64_MAX);
    assert_true(process_signals_parse_count("", "oom_kill") == UINT64_MAX);
}

static void test_a_signal_without_effect_is_none(void **state)
{
    (void)state;
    /* SIGPIPE (13) is ignored, SIGUSR1 (10) and SIGCHLD (17) are caught in the second one */
    const char *plain = "Name:\tx\nSigIgn:\t0000000000001000\nSigCgt:\t0000000000000000\n";
    const char *caught = "Name:\tx\nSigIgn:\t0000000000001000\nSigCgt:\t0000000000010200\n";
    assert_true(!process_signals_has_effect(plain, SIGPIPE));
    assert_true(!process_signals_has_effect(plain, SIGCHLD));
    assert_true(process_signals_has_effect(plain, SIGUSR1));
    assert_true(process_signals_has_effect(plain, SIGTERM));
    assert_true(process_signals_has_effect(caught, SIGCHLD));
    assert_true(process_signals_has_effect(caught, SIGUSR1));
    assert_true(process_signals_has_effect("", 0) && process_signals_has_effect("", 400));
}

static void test_the_sender_is_the_last_one_of_that_signal(void **state)
{
    (void)state;
    struct process_signals signals = {0};
    for (uint32_t i = 1; i <= 100; i++)
        process_signals_store_sent(&signals, &(struct sent_signal){.pid = i % 50, .number = 10, .sender = i});
    assert_true(process_signals_remove_sender(&signals, 40, 10) == 90);
    assert_true(process_signals_remove_sender(&signals, 40, 10) == 0);
    assert_true(process_signals_remove_sender(&signals, 41, 12) == 0);
    assert_true(process_signals_remove_sender(&signals, 1, 10) == 0); /* too long ago */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_count_is_found_by_its_whole_name),
        cmocka_unit_test(test_a_signal_without_effect_is_none),
        cmocka_unit_test(test_the_sender_is_the_last_one_of_that_signal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
