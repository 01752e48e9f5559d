/* The ptrace sampler with real processes: checks of threads that sleep on or that a signal has just stopped, stops for
 * signals, forks, execs and ends, and the source that calls the sampler before a pass over waits. */
#include "os/clock.h"
#include "os/file_proc.h"
#include "process/library_table.h"
#include "record/source.h"
#include "record/wait_readings.h"
#include "sample/ptrace_internal.h"
#include "sample/ptrace_sampler.h"

#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
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

/* Starts a process that does this after the first signal, and ends. */
static pid_t start_process(void (*work)(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGUSR1, handle_signal);
        pause();
        work();
        _exit(3);
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
    unsigned forks, execs, exits, samples, signals, ends; /* numbers of reports */
    struct perf_record fork;                              /* the last one */
    int signal, status;                                   /* of the last reports */
    pid_t sender, ended;
    struct perf_sample sample; /* the last one */
    uint64_t periods;          /* ns: sum of all samples */
    bool is_bad, is_short;     /* how the consumer finds the samples */
};

static int take_record(void *context, const struct perf_record *record, struct error *err)
{
    struct sampler_fixture *fixture = context;
    (void)err;
    fixture->forks += record->type == PERF_RECORD_FORK;
    fixture->execs += record->type == PERF_RECORD_COMM && record->comm.exec;
    fixture->exits += record->type == PERF_RECORD_EXIT;
    if (record->type == PERF_RECORD_FORK)
        fixture->fork = *record;
    if (record->type != PERF_RECORD_SWITCH)
        return 0;
    fixture->switches[fixture->count++ % SWITCHES_MAX] = *record;
    return 0;
}

static int take_sample(void *context, struct ptrace_sample *sample, struct error *err)
{
    struct sampler_fixture *fixture = context;
    (void)err;
    fixture->samples++;
    fixture->sample = sample->record.sample;
    fixture->periods += fixture->sample.period;
    sample->was_bad = fixture->is_bad;
    sample->was_short = fixture->is_short;
    return 0;
}

static int take_signal(void *context, pid_t pid, pid_t tid, int signal, pid_t sender, struct error *err)
{
    struct sampler_fixture *fixture = context;
    (void)pid, (void)tid, (void)err;
    fixture->signals++;
    fixture->signal = signal;
    fixture->sender = sender;
    return 0;
}

static void take_end(void *context, pid_t tid, int status, const struct rusage *usage)
{
    struct sampler_fixture *fixture = context;
    (void)usage;
    fixture->ends++;
    fixture->ended = tid;
    fixture->status = status;
}

static void begin_sampler(struct sampler_fixture *fixture, void (*work)(void))
{
    struct error err;
    *fixture = (struct sampler_fixture){.pid = work ? start_process(work) : start_sleeper()};
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
    begin_sampler(&fixture, NULL);
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
    begin_sampler(&fixture, NULL);
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

/* Handles stops until `number` has reached `most`, or for five seconds. */
static void serve_until(struct sampler_fixture *fixture, const unsigned *number, unsigned most)
{
    struct error err;
    for (int i = 0; i < TRIES && *number < most; i++) {
        assert_int_equal(ptrace_sampler_handle_stops(fixture->sampler, &err), 0);
        usleep(1000);
    }
    assert_int_equal(*number, most);
}

static void run_to_end(struct sampler_fixture *fixture, unsigned ends)
{
    kill(fixture->pid, SIGUSR1);
    serve_until(fixture, &fixture->ends, ends);
    assert_int_equal(fixture->sampler->threads.length, 0);
    assert_int_equal(fixture->exits, ends);
}

static void do_nothing(void)
{
}

static void test_signals_and_ends_are_reported(void **state)
{
    (void)state;
    struct sampler_fixture fixture;
    begin_sampler(&fixture, do_nothing);
    run_to_end(&fixture, 1);
    assert_int_equal(fixture.signals, 1);
    assert_int_equal(fixture.signal, SIGUSR1);
    assert_int_equal(fixture.sender, getpid());
    assert_int_equal(fixture.ended, fixture.pid);
    assert_true(WIFEXITED(fixture.status) && WEXITSTATUS(fixture.status) == 3);
    end_sampler(&fixture);
}

static void fork_once(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    while (waitpid(pid, NULL, 0) < 0)
        ;
}

static void test_children_are_traced(void **state)
{
    (void)state;
    struct sampler_fixture fixture;
    begin_sampler(&fixture, fork_once);
    run_to_end(&fixture, 2);
    assert_int_equal(fixture.forks, 1);
    assert_int_equal(fixture.fork.task.parent_pid, fixture.pid);
    assert_int_equal(fixture.fork.task.parent_tid, fixture.pid);
    assert_int_equal(fixture.fork.pid, fixture.fork.tid);
    assert_int_not_equal(fixture.fork.pid, fixture.pid);
    assert_int_equal(fixture.signals, 2);
    assert_int_equal(fixture.signal, SIGCHLD);
    assert_int_equal(fixture.sender, 0); /* the kernel */
    end_sampler(&fixture);
}

static void *end_thread(void *argument)
{
    return argument;
}

static void start_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, end_thread, NULL) == 0)
        pthread_join(thread, NULL);
}

static void test_threads_are_traced(void **state)
{
    (void)state;
    struct sampler_fixture fixture;
    begin_sampler(&fixture, start_thread);
    run_to_end(&fixture, 2);
    assert_int_equal(fixture.forks, 1);
    assert_int_equal(fixture.fork.pid, fixture.pid);
    assert_int_not_equal(fixture.fork.tid, fixture.pid);
    end_sampler(&fixture);
}

static void start_program(void)
{
    execl("/bin/sh", "sh", "-c", "exit 7", NULL);
}

static void test_programs_are_reported(void **state)
{
    (void)state;
    struct sampler_fixture fixture;
    begin_sampler(&fixture, start_program);
    run_to_end(&fixture, 1);
    assert_int_equal(fixture.execs, 1);
    assert_true(WIFEXITED(fixture.status) && WEXITSTATUS(fixture.status) == 7);
    assert_int_equal(fixture.forks, 0);
    end_sampler(&fixture);
}

/* SIGSTOP stops the process until SIGCONT, and the wait has the flag of a stop. */
static void test_a_stopped_process_stays_stopped(void **state)
{
    (void)state;
    struct sampler_fixture fixture;
    begin_sampler(&fixture, do_nothing);
    kill(fixture.pid, SIGSTOP);
    serve_until(&fixture, &fixture.signals, 1);
    for (int i = 0; i < TRIES && !ptrace_sampler_is_stopped(fixture.sampler, fixture.pid); i++) {
        struct error err;
        assert_int_equal(ptrace_sampler_handle_stops(fixture.sampler, &err), 0);
        usleep(1000);
    }
    assert_true(ptrace_sampler_is_stopped(fixture.sampler, fixture.pid));
    assert_true(fixture.count > 0 && fixture.switches[fixture.count - 1].context_switch.out);
    assert_true(fixture.switches[fixture.count - 1].context_switch.stopped);
    size_t before = fixture.count;
    kill(fixture.pid, SIGCONT);
    serve_until(&fixture, &fixture.signals, 2);
    assert_true(fixture.count > before && !fixture.switches[before].context_switch.out);
    assert_false(ptrace_sampler_is_stopped(fixture.sampler, fixture.pid));
    run_to_end(&fixture, 1);
    end_sampler(&fixture);
}

static void compute(void)
{
    for (volatile bool goes_on = true; goes_on;)
        ;
}

static void test_a_sample_has_a_stack_and_the_cpu_time(void **state)
{
    (void)state;
    struct sampler_fixture fixture;
    begin_sampler(&fixture, compute);
    kill(fixture.pid, SIGUSR1);
    serve_until(&fixture, &fixture.signals, 1);
    usleep(50000);
    ptrace_sampler_sample_once(fixture.sampler, fixture.pid);
    assert_true(ptrace_sampler_is_waiting(fixture.sampler));
    serve_until(&fixture, &fixture.samples, 1);
    assert_int_equal(fixture.sample.registers_abi, PERF_SAMPLE_REGS_ABI_64);
    assert_int_equal(fixture.sample.stack_below, PTRACE_STACK_BELOW_SP);
    assert_true(fixture.sample.stack_size > 0 && fixture.sample.stack_size <= PTRACE_STACK_SIZE);
    assert_int_equal(fixture.sample.stack_full, fixture.sample.stack_size == PTRACE_STACK_SIZE);
    const struct ptrace_thread *thread = sampler_find(fixture.sampler, fixture.pid);
    assert_int_equal(fixture.sample.period, thread->at_stop.cpu);
    assert_int_equal(thread->sampled_cpu, thread->at_stop.cpu);
    assert_false(ptrace_sampler_is_waiting(fixture.sampler));
    await_state(fixture.pid, 'R');
    fixture.is_bad = fixture.is_short = true;
    for (unsigned size = PTRACE_STACK_SIZE, samples = 2; size < PTRACE_STACK_MAX; size *= 2, samples++) {
        assert_int_equal(thread->stack_size, size);
        ptrace_sampler_sample_once(fixture.sampler, fixture.pid);
        serve_until(&fixture, &fixture.samples, samples);
        assert_true(thread->hold);
    }
    assert_int_equal(thread->stack_size, PTRACE_STACK_MAX);
    ptrace_sampler_sample_once(fixture.sampler, fixture.pid);
    serve_until(&fixture, &fixture.samples, fixture.samples + 1);
    assert_true(thread->is_too_deep && thread->stack_size == PTRACE_STACK_SIZE);
    await_state(fixture.pid, 'R');
    end_sampler(&fixture);
}

/* Runs ticks as the recorder does, until the process has used `cpu` ns of CPU time. */
static uint64_t run_ticks(struct sampler_fixture *fixture, uint64_t cpu)
{
    struct error err;
    struct ptrace_thread *thread = sampler_find(fixture->sampler, fixture->pid);
    struct ptrace_schedule now = {0};
    uint64_t end = monotonic_ns() + 20000 * ms;
    while (now.cpu < cpu && monotonic_ns() < end) {
        struct pollfd timer = {.fd = ptrace_sampler_get_timer(fixture->sampler), .events = POLLIN};
        assert_int_equal(ptrace_sampler_handle_stops(fixture->sampler, &err), 0);
        ptrace_sampler_arm(fixture->sampler, UINT64_MAX);
        poll(&timer, 1, 5);
        assert_int_equal(ptrace_sampler_interrupt_threads(fixture->sampler, &err), 0);
        assert_true(ptrace_thread_read_schedule(thread, &now));
    }
    return now.cpu;
}

static void test_samples_come_at_the_rate(void **state)
{
    (void)state;
    struct sampler_fixture fixture;
    begin_sampler(&fixture, compute);
    kill(fixture.pid, SIGUSR1);
    serve_until(&fixture, &fixture.signals, 1);
    uint64_t cpu = run_ticks(&fixture, 400 * ms);
    assert_in_range(fixture.samples, cpu / ms / 20, cpu / ms * 3 / 2);
    const struct ptrace_thread *thread = sampler_find(fixture.sampler, fixture.pid);
    assert_int_equal(fixture.periods, thread->sampled_cpu - thread->first_cpu);
    assert_true(cpu - thread->sampled_cpu < 200 * ms);
    assert_true(fixture.sampler->clock.in_use && fixture.sampler->clock.mean <= ms);
    end_sampler(&fixture);
}

static void test_times_are_updated(void **state)
{
    (void)state;
    struct sampler_fixture fixture;
    struct error err;
    begin_sampler(&fixture, compute);
    const struct ptrace_run *run = &sampler_find(fixture.sampler, fixture.pid)->run;
    uint64_t time = monotonic_ns();
    assert_int_equal(ptrace_sampler_update_times(fixture.sampler, false, &err), 0);
    assert_only_switch(&fixture, true);
    assert_true(run->asleep_until >= time);
    kill(fixture.pid, SIGUSR1);
    serve_until(&fixture, &fixture.signals, 1);
    run_ticks(&fixture, 50 * ms);
    ptrace_sampler_sample_once(fixture.sampler, fixture.pid);
    serve_until(&fixture, &fixture.samples, fixture.samples + 1);
    time = run->last.time;
    assert_int_equal(ptrace_sampler_update_times(fixture.sampler, false, &err), 0);
    assert_int_equal(run->last.time, time);
    assert_int_equal(ptrace_sampler_update_times(fixture.sampler, true, &err), 0);
    assert_true(run->last.time > time);
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
        cmocka_unit_test(test_signals_and_ends_are_reported),
        cmocka_unit_test(test_children_are_traced),
        cmocka_unit_test(test_threads_are_traced),
        cmocka_unit_test(test_programs_are_reported),
        cmocka_unit_test(test_a_stopped_process_stays_stopped),
        cmocka_unit_test(test_a_sample_has_a_stack_and_the_cpu_time),
        cmocka_unit_test(test_samples_come_at_the_rate),
        cmocka_unit_test(test_times_are_updated),
        cmocka_unit_test(test_a_pass_over_waits_checks_the_threads_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
