/* The ptrace sampler with real processes: checks of threads that sleep on or that a signal has just stopped, and the
 * source that calls the sampler before a pass over waits. */
#include "os/clock.h"
#include "os/file_proc.h"
#include "process/library_table.h"
#include "record/source.h"
#include "record/wait_readings.h"
#include "sample/ptrace_internal.h"
#include "sample/ptrace_sampler.h"

#include <linux/perf_event.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { SWITCHES_MAX = 64, TRIES = 5000 };

static const uint64_t ms = 1000000;

static void handle_signal(int number)
{
    (void)number;
}

/* Starts a process that sleeps, and sleeps again after each SIGUSR1. */
static pid_t start_sleeper(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* after a failed check */
        signal(SIGUSR1, handle_signal);
        for (;;)
            pause();
    }
    return pid;
}

static void await_state(pid_t pid, char state)
{
    for (int i = 0; i < TRIES && proc_read_state((uint32_t)pid) != state; i++)
        usleep(1000);
    assert_int_equal(proc_read_state((uint32_t)pid), state);
}

/* Kills a traced process, which stops once more as it exits. */
static void end_process(pid_t pid)
{
    kill(pid, SIGKILL);
    for (int status = 0; waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status);)
        ptrace(PTRACE_CONT, pid, NULL, NULL);
}

/* ---- the sampler alone ---- */

struct sampler_fixture {
    pid_t pid;
    struct cpu_pin pin;
    struct ptrace_sampler *sampler;
    struct perf_record switches[SWITCHES_MAX];
    size_t count;
};

static int take_record(void *context, const struct perf_record *record, struct error *err)
{
    struct sampler_fixture *fixture = context;
    (void)err;
    if (record->type != PERF_RECORD_SWITCH)
        return 0;
    assert_in_range(fixture->count, 0, SWITCHES_MAX - 1);
    fixture->switches[fixture->count++] = *record;
    return 0;
}

static int take_sample(void *context, struct ptrace_sample *sample, struct error *err)
{
    (void)context, (void)sample, (void)err;
    return 0;
}

static int take_signal(void *context, pid_t pid, pid_t tid, int signal, pid_t sender, struct error *err)
{
    (void)context, (void)pid, (void)tid, (void)signal, (void)sender, (void)err;
    return 0;
}

static void take_end(void *context, pid_t tid, int status, const struct rusage *usage)
{
    (void)context, (void)tid, (void)status, (void)usage;
}

static void begin_sampler(struct sampler_fixture *fixture)
{
    struct error err;
    *fixture = (struct sampler_fixture){.pid = start_sleeper()};
    const struct ptrace_consumer consumer = {
        .record = take_record, .sample = take_sample, .signal = take_signal, .ended = take_end, .context = fixture};
    await_state(fixture->pid, 'S');
    cpu_pin_init(&fixture->pin);
    assert_int_equal(ptrace_sampler_new(&fixture->sampler, &consumer, 1000, true, &fixture->pin, &err), 0);
    assert_int_equal(ptrace_sampler_seize(fixture->sampler, fixture->pid, fixture->pid, false, &err), 0);
}

static void end_sampler(struct sampler_fixture *fixture)
{
    end_process(fixture->pid);
    ptrace_sampler_free(fixture->sampler);
    cpu_pin_release(&fixture->pin);
}

static void check_threads(struct sampler_fixture *fixture)
{
    struct error err;
    assert_int_equal(ptrace_sampler_check_threads(fixture->sampler, &err), 0);
}

static void assert_only_switch(const struct sampler_fixture *fixture, bool is_out)
{
    assert_int_equal(fixture->count, 1);
    assert_int_equal(fixture->switches[0].tid, fixture->pid);
    assert_int_equal(fixture->switches[0].context_switch.out, is_out);
}

static void test_a_thread_that_sleeps_on_has_one_switch(void **state)
{
    (void)state;
    struct sampler_fixture fixture;
    begin_sampler(&fixture);
    check_threads(&fixture);
    assert_only_switch(&fixture, true);
    const struct ptrace_thread *thread = sampler_find(fixture.sampler, fixture.pid);
    uint64_t before = monotonic_ns();
    check_threads(&fixture);
    assert_only_switch(&fixture, true);
    assert_true(thread->run.asleep_until >= before); /* the check has seen that the thread sleeps on */
    end_sampler(&fixture);
}

/* The wait before the signal ends with the report of the stop. A check in between sees a stopped thread, whose count of
 * time slices has grown: this is no longer the sleep that an earlier check has found. */
static void test_a_stop_without_a_report_is_no_sleep(void **state)
{
    (void)state;
    struct sampler_fixture fixture;
    struct error err;
    begin_sampler(&fixture);
    check_threads(&fixture);
    const struct ptrace_thread *thread = sampler_find(fixture.sampler, fixture.pid);
    uint64_t slices = thread->run.last.schedule.slices;
    kill(fixture.pid, SIGUSR1);
    await_state(fixture.pid, 't');
    check_threads(&fixture);
    check_threads(&fixture);
    assert_only_switch(&fixture, true);
    assert_int_equal(thread->run.last.schedule.slices, slices);
    assert_true(thread->seen.slices > slices);
    assert_int_equal(ptrace_sampler_handle_stops(fixture.sampler, &err), 0);
    await_state(fixture.pid, 'S');
    check_threads(&fixture);
    assert_true(fixture.count >= 3); /* the end of the first sleep, and the start of the next one */
    assert_false(fixture.switches[1].context_switch.out);
    assert_true(fixture.switches[fixture.count - 1].context_switch.out);
    end_sampler(&fixture);
}

/* ---- the source ---- */

static void test_a_pass_over_waits_checks_the_threads_first(void **state)
{
    (void)state;
    char path[64];
    struct error err;
    struct record_result result = {0};
    struct waits waits;
    const struct thread_filter all = {0};
    const struct record_options options = {.rate = 1000, .off_cpu = true};
    struct cpu_pin pin;
    struct source *source, common = {.options = &options, .result = &result, .pin = &pin};
    pid_t pid = start_sleeper();
    int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    await_state(pid, 'S');
    cpu_pin_init(&pin);
    snprintf(path, sizeof(path), "/tmp/prof-test-ptrace-%d.spool", (int)getpid());
    assert_int_equal(spool_writer_new(&common.sinks.spool, path, &err), 0);
    common.sinks.libraries = library_table_new(common.sinks.spool);
    common.sinks.tracker = tracker_new(common.sinks.spool, common.sinks.libraries);
    const struct waits_options wait_options = {.spool = common.sinks.spool,
                                               .tracker = common.sinks.tracker,
                                               .filter = &all,
                                               .interval = ms,
                                               .late_switches = true};
    assert_int_equal(waits_init(&waits, &wait_options, &err), 0);
    common.sinks.waits = &waits;
    assert_int_equal(tracker_add_running_process(common.sinks.tracker, (uint32_t)pid, "x", monotonic_ns(), &err), 0);
    assert_int_equal(
        tracker_add_running_thread(common.sinks.tracker, (uint32_t)pid, (uint32_t)pid, "x", monotonic_ns(), &err), 0);
    assert_int_equal(ptrace_source_open(&source, &common, epoll_fd, "", &err), 0);
    assert_int_equal(source->class->add(source, pid, pid, false, &err), 0);

    struct tracked_process *process;
    const struct tracked_thread *thread = tracker_find_thread(common.sinks.tracker, (uint32_t)pid, &process);
    waits.next_look = UINT64_MAX;
    assert_int_equal(source->class->begin_round(source, NULL, 0, &err), 0);
    assert_int_equal(thread->run.state, RUN_UNKNOWN); /* no pass, no check */
    waits.next_look = monotonic_ns();
    assert_int_equal(waits_start_reading(&waits, &err), 0);
    assert_int_equal(source->class->begin_round(source, NULL, 0, &err), 0);
    assert_int_equal(thread->run.state, RUN_WAITS);

    end_process(pid);
    source->class->free(source);
    cpu_pin_release(&pin);
    close(epoll_fd);
    waits_destroy(&waits);
    tracker_free(common.sinks.tracker);
    library_table_free(common.sinks.libraries);
    spool_writer_close(common.sinks.spool, NULL);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_thread_that_sleeps_on_has_one_switch),
        cmocka_unit_test(test_a_stop_without_a_report_is_no_sleep),
        cmocka_unit_test(test_a_pass_over_waits_checks_the_threads_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
