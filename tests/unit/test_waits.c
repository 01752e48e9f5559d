/* Waits that no switch record explains: a thread that continues to sleep after lost records, and one that was woken
 * and waits for a CPU. */
#include "base/random.h"
#include "os/clock.h"
#include "process/library_table.h"
#include "process/wait_classes.h"
#include "process/wait_reason.h"
#include "record/wait_readings.h"
#include "record/wait_store.h"
#include "record/waits.h"
#include "support/flat_records.h"

#include <linux/perf_event.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const uint64_t ms = 1000000;

/* A process that sleeps or is busy, and waits that follow it. */
struct fixture {
    char path[64];
    struct spool_writer *spool;
    struct library_table *libraries;
    struct tracker *tracker;
    struct waits waits;
    struct thread_filter all;
    pid_t pid;
    uint32_t cpu; /* of switches */
    uint64_t slept_until;
    uint32_t ended;
    uint64_t start;
};

static void begin(struct fixture *fixture, bool is_busy)
{
    struct error err;
    *fixture = (struct fixture){.cpu = UINT32_MAX};
    snprintf(fixture->path, sizeof(fixture->path), "/tmp/prof-test-waits-%d-%p.spool", (int)getpid(), (void *)fixture);
    unlink(fixture->path);
    assert_int_equal(spool_writer_new(&fixture->spool, fixture->path, &err), 0);
    fixture->libraries = library_table_new(fixture->spool);
    fixture->tracker = tracker_new(fixture->spool, fixture->libraries);
    const struct waits_options options = {
        .spool = fixture->spool, .tracker = fixture->tracker, .filter = &fixture->all, .interval = ms};
    assert_int_equal(waits_init(&fixture->waits, &options, &err), 0);
    fixture->pid = fork();
    if (fixture->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* after a failed check */
        for (volatile bool goes_on = is_busy; goes_on;)
            ;
        sleep(100);
        _exit(0);
    }
    uint32_t pid = (uint32_t)fixture->pid;
    struct wait_state asleep;
    for (int i = 0; i < 5000 && !is_busy && wait_state_read(pid, pid, &(struct waiting_call){0}, &asleep) <= 0; i++)
        usleep(1000);
    fixture->start = monotonic_ns();
    assert_int_equal(tracker_add_running_process(fixture->tracker, pid, "x", fixture->start, &err), 0);
    assert_int_equal(tracker_add_running_thread(fixture->tracker, pid, pid, "x", fixture->start, &err), 0);
}

static void end(struct fixture *fixture)
{
    kill(fixture->pid, SIGKILL);
    waitpid(fixture->pid, NULL, 0);
    waits_destroy(&fixture->waits);
    tracker_free(fixture->tracker);
    library_table_free(fixture->libraries);
    spool_writer_close(fixture->spool, NULL);
    unlink(fixture->path);
}

static void take_switch(struct fixture *fixture, uint64_t time, bool is_out)
{
    struct error err;
    const struct perf_record record = {
        .type = PERF_RECORD_SWITCH,
        .pid = (uint32_t)fixture->pid,
        .tid = (uint32_t)fixture->pid,
        .time = time,
        .cpu = fixture->cpu,
        .context_switch = {.out = is_out, .slept_until = fixture->slept_until, .ended = fixture->ended}};
    assert_int_equal(waits_handle_switch(&fixture->waits, &record, &err), 0);
}

static void look(struct fixture *fixture, uint64_t planned)
{
    struct error err;
    fixture->waits.next_look = planned;
    assert_int_equal(waits_start_reading(&fixture->waits, &err), 0);
    assert_int_equal(waits_read_stacks(&fixture->waits, &err), 0);
}

/* Writes all rows to the spool. The caller closes the reader. */
static struct spool_reader *open_spool(const struct fixture *fixture)
{
    struct error err;
    struct spool_reader *reader;
    assert_int_equal(spool_writer_flush(fixture->spool, &err), 0);
    assert_int_equal(spool_reader_open(&reader, fixture->path, &err), 0);
    return reader;
}

/* The only wait in the spool. */
static struct sample only_wait(struct fixture *fixture)
{
    struct error err;
    struct spool_reader *reader;
    struct spool_event event;
    struct sample sample, found = {0};
    int item, count = 0;
    reader = open_spool(fixture);
    while ((item = spool_reader_next(reader, &event, &sample, &err)) > 0) {
        if (item != SPOOL_ITEM_SAMPLE)
            continue;
        found = sample;
        count++;
    }
    assert_int_equal(item, 0);
    assert_int_equal(count, 1);
    spool_reader_close(reader);
    return found;
}

static void test_a_thread_that_sleeps_on_is_found_again(void **state)
{
    (void)state;
    struct fixture fixture;
    struct error err;
    begin(&fixture, false);
    struct tracked_process *process;
    assert_int_equal(waits_flush(&fixture.waits, fixture.start + ms, false, &err), 0); /* nothing is lost yet */
    assert_int_equal(tracker_find_thread(fixture.tracker, (uint32_t)fixture.pid, &process)->run.state, RUN_UNKNOWN);
    assert_int_equal(waits_add_running(&fixture.waits, (uint32_t)fixture.pid, fixture.start, &err), 0);
    waits_add_loss(&fixture.waits);
    assert_int_equal(waits_flush(&fixture.waits, fixture.start + 10 * ms, false, &err), 0);
    usleep(20000);
    look(&fixture, monotonic_ns());
    assert_int_equal(waits_flush(&fixture.waits, monotonic_ns() + 50 * ms, true, &err), 0);
    assert_int_equal(fixture.waits.stored, 1);
    assert_int_equal(fixture.waits.without_stack, 0);
    end(&fixture);
}

/* It is busy, so a look finds it awake. No record says that it was on a CPU by then: it was ready. */
static void test_a_pass_reads_all_calls_before_any_stack(void **state)
{
    (void)state;
    enum { COUNT = 3 };
    struct fixture fixtures[COUNT];
    struct error err;
    for (size_t i = 0; i < COUNT; i++) {
        begin(&fixtures[i], false);
        if (i > 0) {
            uint32_t pid = (uint32_t)fixtures[i].pid;
            assert_int_equal(tracker_add_running_process(fixtures->tracker, pid, "x", fixtures[i].start, &err), 0);
            assert_int_equal(tracker_add_running_thread(fixtures->tracker, pid, pid, "x", fixtures[i].start, &err), 0);
        }
        const struct perf_record record = {.type = PERF_RECORD_SWITCH,
                                           .pid = (uint32_t)fixtures[i].pid,
                                           .tid = (uint32_t)fixtures[i].pid,
                                           .time = fixtures[i].start + 1,
                                           .cpu = UINT32_MAX,
                                           .context_switch.out = true};
        assert_int_equal(waits_handle_switch(&fixtures->waits, &record, &err), 0);
    }
    look(fixtures, monotonic_ns());
    const struct wait_reading *readings = fixtures->waits.readings.data;
    assert_int_equal(fixtures->waits.readings.length, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(readings[i].waits);
        assert_true(readings[i].copied > 0);
        assert_true(readings[i].copy_read > readings[COUNT - 1].state.known);
        assert_true(i == 0 || readings[i].state.asked > readings[i - 1].state.known);
        struct tracked_process *process;
        const struct tracked_thread *thread =
            tracker_find_thread(fixtures->tracker, (uint32_t)fixtures[i].pid, &process);
        assert_non_null(thread->run.stack);
        assert_true(thread->run.stack->frame_count > 0);
        assert_int_equal(thread->run.stack->reason, REASON_SLEEP);
    }
    for (size_t i = COUNT; i-- > 0;)
        end(&fixtures[i]);
}

static void test_a_thread_that_is_found_awake_waits_for_a_cpu(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, true);
    take_switch(&fixture, fixture.start, false);
    take_switch(&fixture, fixture.start + ms, true);
    usleep(5000);
    uint64_t before = monotonic_ns();
    look(&fixture, monotonic_ns());
    uint64_t after = monotonic_ns();
    take_switch(&fixture, after + 20 * ms, false);
    struct sample wait = only_wait(&fixture);
    assert_int_equal(wait.reason, REASON_RUNNABLE);
    assert_int_equal(wait.cpu_time, ms);
    assert_int_equal(wait.time, after + 20 * ms);
    assert_in_range(wait.wait, 20 * ms, 20 * ms + after - before);
    struct tracked_process *process;
    struct tracked_thread *thread = tracker_find_thread(fixture.tracker, (uint32_t)fixture.pid, &process);
    assert_non_null(thread);
    assert_true(find_wait_class(&thread->run, after + 19 * ms - fixture.start)->ready_ns == (double)wait.wait);
    end(&fixture);
}

static void test_a_thread_that_runs_by_then_is_not_ready(void **state)
{
    (void)state;
    struct fixture fixture;
    struct error err;
    begin(&fixture, true);
    take_switch(&fixture, fixture.start, false);
    take_switch(&fixture, fixture.start + ms, true);
    usleep(10000);
    look(&fixture, monotonic_ns());
    take_switch(&fixture, fixture.start + 9 * ms, false);
    fixture.waits.options.no_looks = true; /* beside other programs, the process has run delay of its own */
    assert_int_equal(waits_flush(&fixture.waits, fixture.start + 9 * ms, true, &err), 0);
    struct sample wait = only_wait(&fixture);
    assert_int_equal(wait.reason, REASON_UNSEEN);
    assert_in_range(wait.wait, 8 * ms - 1, 8 * ms);
    end(&fixture);
}

/* Whether a reading counts that met a long wait, and was planned `early` ns before the wait began. `again`: a second
 * pass follows. */
static bool counts_if_planned(uint32_t cpu, int64_t early, bool again)
{
    struct fixture fixture;
    struct error err;
    begin(&fixture, false);
    fixture.cpu = cpu;
    take_switch(&fixture, fixture.start, false);
    take_switch(&fixture, fixture.start + ms, true);
    usleep(5000);
    look(&fixture, fixture.start + ms - (uint64_t)early);
    if (again)
        look(&fixture, monotonic_ns());
    uint64_t later = monotonic_ns() + 10 * ms;
    take_switch(&fixture, later, false);
    take_switch(&fixture, later + ms, true);
    assert_int_equal(waits_flush(&fixture.waits, later + ms, false, &err), 0);
    uint64_t stored = fixture.waits.stored;
    end(&fixture);
    return stored == 1;
}

/* Whether a reading counts for a wait that began between the time for which the reading was planned and the reading.
 * The record of its switch comes after the reading. With ptrace, the recorder may run on `others`. */
static bool counts_if_begun_before_reading(uint32_t cpu, const cpu_set_t *others)
{
    struct fixture fixture;
    struct error err;
    begin(&fixture, false);
    fixture.cpu = cpu;
    fixture.waits.options.late_switches = others;
    fixture.waits.cpus = others ? *others : fixture.waits.cpus;
    take_switch(&fixture, fixture.start, false);
    take_switch(&fixture, fixture.start + ms, true);
    take_switch(&fixture, fixture.start + 2 * ms, false);
    usleep(5000);
    look(&fixture, fixture.start + 3 * ms);
    take_switch(&fixture, fixture.start + 4 * ms, true);
    uint64_t later = monotonic_ns() + 100 * ms;
    take_switch(&fixture, later, false);
    take_switch(&fixture, later + ms, true);
    assert_int_equal(waits_flush(&fixture.waits, later + ms, false, &err), 0);
    uint64_t stored = fixture.waits.stored - fixture.waits.without_stack;
    end(&fixture);
    return stored == 1;
}

static void test_a_reading_on_the_cpu_of_the_thread_counts_from_the_time_it_was_planned(void **state)
{
    (void)state;
    cpu_set_t before, one;
    uint32_t own = (uint32_t)sched_getcpu();
    assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
    CPU_ZERO(&one);
    CPU_SET(own, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    assert_true(counts_if_planned(own, -(int64_t)ms, false));
    assert_false(counts_if_planned(own, (int64_t)ms, false));
    assert_true(counts_if_planned(own, (int64_t)ms, true));
    assert_true(counts_if_planned(UINT32_MAX, (int64_t)ms, false));
    assert_false(counts_if_begun_before_reading(own, NULL));
    assert_true(counts_if_begun_before_reading(UINT32_MAX, NULL));
    assert_int_equal(counts_if_begun_before_reading(own, &before), CPU_COUNT(&before) > 1);
    assert_true(sched_getcpu() == (int)own);
    assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

/* Sums the waits of the spool by reason (ns). */
static void sum_waits(struct fixture *fixture, uint64_t sums[WAIT_REASONS])
{
    struct error err;
    struct spool_reader *reader;
    struct spool_record record;
    reader = open_spool(fixture);
    while (spool_reader_read(reader, &record, &err) > 0)
        if (record.kind == SPOOL_WAIT)
            sums[record.wait.reason] += record.wait.wait_ns + record.wait.unseen_ns;
    spool_reader_close(reader);
}

/* Two kinds of waits take turns, as a thread that alternates does: one in six is stored, never always the same kind. */
static void test_each_kind_gets_its_share_of_short_waits(void **state)
{
    (void)state;
    enum { WAITS = 30000 };
    struct fixture fixture;
    struct error err;
    uint64_t sums[WAIT_REASONS] = {0};
    static const uint64_t frame[1] = {0x1000};
    uint64_t time, length = ms / 6;
    begin(&fixture, false);
    fixture.waits.options.no_looks = true;
    fixture.waits.random = 1;
    time = fixture.start;
    take_switch(&fixture, time, false);
    struct tracked_process *process;
    struct tracked_thread *thread = tracker_find_thread(fixture.tracker, (uint32_t)fixture.pid, &process);
    assert_non_null(thread);
    for (int i = 0; i < WAITS; i++) {
        uint32_t reason = i % 2 ? REASON_PIPE : REASON_SLEEP;
        assert_int_equal(thread_run_set_event_stack(&thread->run, time, frame, 1, 0, reason, &err), 0);
        take_switch(&fixture, time, true);
        take_switch(&fixture, time += length, false);
    }
    assert_int_equal(waits_flush(&fixture.waits, time, true, &err), 0);
    sum_waits(&fixture, sums);
    assert_int_equal(sums[REASON_PIPE] + sums[REASON_SLEEP] + sums[REASON_UNSEEN], WAITS * length);
    size_t stored = fixture.waits.stored;
    assert_in_range(stored, WAITS / 6 * 9 / 10, WAITS / 6 * 11 / 10);
    assert_in_range(1000 * sums[REASON_SLEEP] / (sums[REASON_SLEEP] + sums[REASON_PIPE]), 460, 540);
    end(&fixture);
}

/* A time off the CPU below the interval (1 ms) stays in its slice. A longer time, another CPU, and a slice of ten
 * intervals begin a new one. A loss of records and a pause are in no slice. A flush divides a long time on a CPU. */
static void test_slices_have_the_times_on_each_cpu(void **state)
{
    (void)state;
    static const struct {
        uint32_t cpu;
        uint64_t on, off; /* us */
    } runs[] = {{0, 0, 300},     {1, 400, 400},   {0, 500, 900},   {0, 2900, 3400},
                {1, 3500, 3600}, {0, 3700, 5000}, {0, 5000, 13700}};
    static const struct spool_slice wanted[] = {{.cpu = 0, .time_ns = 900, .length_ns = 900, .off_cpu_ns = 200},
                                                {.cpu = 0, .time_ns = 3400, .length_ns = 500},
                                                {.cpu = 1, .time_ns = 3600, .length_ns = 100},
                                                {.cpu = 0, .time_ns = 5000, .length_ns = 1300},
                                                {.cpu = 0, .time_ns = 13700, .length_ns = 8700},
                                                {.cpu = 0, .time_ns = 20000, .length_ns = 2000},
                                                {.cpu = 0, .time_ns = 31000, .length_ns = 1000},
                                                {.cpu = 0, .time_ns = 1600000, .length_ns = 1550000},
                                                {.cpu = 0, .time_ns = 1700000, .length_ns = 100000}};
    struct fixture fixture;
    struct error err;
    struct spool_reader *reader;
    struct spool_record record;
    size_t count = 0;
    begin(&fixture, false);
    for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
        fixture.cpu = runs[i].cpu;
        take_switch(&fixture, fixture.start + runs[i].on * 1000, false);
        take_switch(&fixture, fixture.start + runs[i].off * 1000, true);
    }
    take_switch(&fixture, fixture.start + 16 * ms, false);
    waits_add_loss(&fixture.waits);
    take_switch(&fixture, fixture.start + 17 * ms, true); /* the thread may have left its CPU before */
    take_switch(&fixture, fixture.start + 18 * ms, false);
    assert_int_equal(waits_pause(&fixture.waits, fixture.start + 20 * ms, &err), 0);
    waits_resume(&fixture.waits, fixture.start + 30 * ms);
    take_switch(&fixture, fixture.start + 31 * ms, true);
    take_switch(&fixture, fixture.start + 50 * ms, false);
    assert_int_equal(waits_flush(&fixture.waits, fixture.start + 2000 * ms, false, &err), 0);
    take_switch(&fixture, fixture.start + 1700 * ms, true);
    for (int i = 0; i < 2; i++) /* each slice is in the spool once */
        assert_int_equal(waits_flush(&fixture.waits, fixture.start + 2000 * ms, true, &err), 0);
    reader = open_spool(&fixture);
    while (spool_reader_read(reader, &record, &err) > 0) {
        if (record.kind != SPOOL_SLICE)
            continue;
        assert_in_range(count, 0, sizeof(wanted) / sizeof(*wanted) - 1);
        assert_int_equal(record.slice.cpu, wanted[count].cpu);
        assert_int_equal(record.slice.time_ns - fixture.start, wanted[count].time_ns * 1000);
        assert_int_equal(record.slice.length_ns, wanted[count].length_ns * 1000);
        assert_int_equal(record.slice.off_cpu_ns, wanted[count].off_cpu_ns * 1000);
        count++;
    }
    spool_reader_close(reader);
    assert_int_equal(count, sizeof(wanted) / sizeof(*wanted));
    end(&fixture);
}

/* ptrace shows the end of a wait late, when a part of the wait is already in the spool. */
static void test_a_stored_part_of_a_wait_is_no_running_time(void **state)
{
    (void)state;
    struct fixture fixture;
    struct error err;
    struct tracked_process *process;
    begin(&fixture, false);
    fixture.waits.options.no_looks = true;
    take_switch(&fixture, fixture.start, true);
    assert_int_equal(waits_flush(&fixture.waits, fixture.start + 2000 * ms, false, &err), 0);
    take_switch(&fixture, fixture.start + 1500 * ms, false);
    take_switch(&fixture, fixture.start + 2200 * ms, true);
    assert_int_equal(tracker_find_thread(fixture.tracker, (uint32_t)fixture.pid, &process)->run.ran, 200 * ms);
    end(&fixture);
}

/* Readings that take 40 us, at random times, of a thread with waits of 70 and 120 us, which are one class, and of 60
 * us, whose class also has waits that no reading meets. */
static void test_slow_readings_give_each_kind_its_share(void **state)
{
    (void)state;
    enum { WAITS = 90000, DELAY = 40000, INTERVAL = 2000000 };
    static const uint64_t frame[1] = {0x1000}, lengths[] = {70000, 120000, 60000};
    static const uint32_t reasons[] = {REASON_SLEEP, REASON_PIPE, REASON_CHILD};
    struct fixture fixture;
    struct error err;
    uint64_t truth[WAIT_REASONS] = {0}, sums[WAIT_REASONS] = {0}, random = 1;
    begin(&fixture, false);
    fixture.waits.random = 1;
    uint64_t time = fixture.start, reading = time;
    take_switch(&fixture, time, false);
    struct tracked_process *process;
    struct tracked_thread *thread = tracker_find_thread(fixture.tracker, (uint32_t)fixture.pid, &process);
    assert_non_null(thread);
    for (int i = 0; i < WAITS; i++) {
        size_t kind = draw_random_bits(&random) % 3;
        uint64_t end = time + lengths[kind];
        truth[reasons[kind]] += lengths[kind];
        take_switch(&fixture, time, true);
        if (reading >= time && reading < end) {
            assert_int_equal(thread_run_set_event_stack(&thread->run, reading, frame, 1, 0, reasons[kind], &err), 0);
            thread->run.stack->is_from_event = false;
            thread->run.stack->asked = reading;
            thread->run.stack->known = thread->run.stack->taken = reading + DELAY;
        }
        while (reading < end)
            reading += 1 + draw_random_bits(&random) % INTERVAL;
        take_switch(&fixture, time = end, false);
    }
    assert_int_equal(waits_flush(&fixture.waits, time, true, &err), 0);
    sum_waits(&fixture, sums);
    assert_int_equal(sums[REASON_CHILD], 0);
    assert_in_range(sums[REASON_UNSEEN], truth[REASON_CHILD], truth[REASON_CHILD] * 102 / 100);
    assert_in_range(sums[REASON_SLEEP], truth[REASON_SLEEP] * 94 / 100, truth[REASON_SLEEP] * 106 / 100);
    assert_in_range(sums[REASON_PIPE], truth[REASON_PIPE] * 94 / 100, truth[REASON_PIPE] * 106 / 100);
    end(&fixture);
}

/* With ptrace, passes at random times of a thread that sleeps a hundred times for 150 us, and then waits for 20 ms. A
 * pass always meets the long wait, which gets no time of the short waits before it. */
static void test_with_ptrace_long_waits_get_their_own_time(void **state)
{
    (void)state;
    enum { ROUNDS = 2000, SLEEPS = 100 };
    static const uint64_t frame[1] = {0x1000};
    struct fixture fixture;
    struct error err;
    uint64_t truth[WAIT_REASONS] = {0}, sums[WAIT_REASONS] = {0}, random = 1;
    begin(&fixture, false);
    fixture.waits.options.late_switches = true;
    fixture.waits.random = 1;
    uint64_t time = fixture.start, pass = time;
    take_switch(&fixture, time, false);
    struct tracked_process *process;
    struct tracked_thread *thread = tracker_find_thread(fixture.tracker, (uint32_t)fixture.pid, &process);
    assert_non_null(thread);
    for (int i = 0; i < ROUNDS * (SLEEPS + 1); i++) {
        bool is_long = i % (SLEEPS + 1) == SLEEPS;
        uint32_t reason = is_long ? REASON_PIPE : REASON_SLEEP;
        uint64_t end = time + (is_long ? 20 * ms : 150000);
        truth[reason] += end - time;
        take_switch(&fixture, time, true);
        if (pass < end) {
            assert_int_equal(thread_run_set_event_stack(&thread->run, pass, frame, 1, 0, reason, &err), 0);
            thread->run.stack->is_from_event = false;
            thread->run.stack->asked = thread->run.stack->known = pass;
            take_switch(&fixture, pass, false); /* the recorder sees the wait here, and not its start */
            take_switch(&fixture, pass, true);
        }
        while (pass < end)
            pass += LOOK_NS / 8 + draw_random_bits(&random) % (LOOK_NS * 7 / 4);
        take_switch(&fixture, time = end, false);
    }
    assert_int_equal(waits_flush(&fixture.waits, time, true, &err), 0);
    sum_waits(&fixture, sums);
    assert_int_equal(sums[REASON_SLEEP] + sums[REASON_PIPE], truth[REASON_SLEEP] + truth[REASON_PIPE]);
    assert_in_range(sums[REASON_SLEEP], truth[REASON_SLEEP] * 97 / 100, truth[REASON_SLEEP] * 103 / 100);
    end(&fixture);
}

/* Returns the next record of a wait. */
static struct spool_wait next_wait(struct spool_reader *reader)
{
    struct error err;
    struct spool_record record = {0};
    while (record.kind != SPOOL_WAIT)
        assert_int_equal(spool_reader_read(reader, &record, &err), 1);
    return record.wait;
}

/* Rows of a reading have its stack, its flags and its object. Only rows that begin a wait count. */
static void test_a_row_has_its_reading(void **state)
{
    (void)state;
    static const uint64_t frame[1] = {0x1000};
    static const struct {
        struct stored_wait stored;
        bool goes_on;
        uint32_t reason, object, flags, frames, begun, truncated, without_stack;
    } rows[] = {
        {{.kind = BLOCKED}, false, REASON_PIPE, 7, SAMPLE_TRUNCATED, 1, 1, 1, 0},
        {{.kind = BLOCKED}, true, REASON_PIPE, 7, SAMPLE_TRUNCATED, 1, 0, 0, 0},
        {{.kind = READY}, false, REASON_RUNNABLE, 0, SAMPLE_TRUNCATED, 1, 1, 1, 0},
        {{.kind = BLOCKED, .is_sum = true}, false, 0, 0, 0, 0, 1, 0, 1},
        {{.kind = BLOCKED, .has_no_weight = true}, false, REASON_UNSEEN, 0, SAMPLE_WITHOUT_WEIGHT, 0, 0, 0, 0},
        {{.kind = UNSEEN}, true, REASON_UNSEEN, 0, SAMPLE_TRUNCATED, 1, 0, 0, 0},
        {{.kind = UNSEEN, .is_sum = true}, false, REASON_UNSEEN, 0, 0, 0, 0, 0, 0},
    };
    struct fixture fixture;
    struct error err;
    struct spool_reader *reader;
    struct tracked_process *process;
    begin(&fixture, false);
    const struct waits *waits = &fixture.waits;
    struct tracked_thread *thread = tracker_find_thread(fixture.tracker, (uint32_t)fixture.pid, &process);
    thread->run.since = fixture.start;
    assert_int_equal(
        thread_run_set_event_stack(&thread->run, fixture.start, frame, 1, SAMPLE_TRUNCATED, REASON_PIPE, &err), 0);
    thread->run.stack->object = 7;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct stored_wait stored = rows[i].stored;
        stored.start = fixture.start;
        stored.end = fixture.start + ms;
        thread->run.goes_on = rows[i].goes_on;
        uint64_t begun = waits->stored, truncated = waits->truncated, without_stack = waits->without_stack;
        assert_int_equal(store_wait(&fixture.waits, thread, &stored, &err), 0);
        assert_int_equal(waits->stored - begun, rows[i].begun);
        assert_int_equal(waits->truncated - truncated, rows[i].truncated);
        assert_int_equal(waits->without_stack - without_stack, rows[i].without_stack);
    }
    reader = open_spool(&fixture);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct spool_wait wait = next_wait(reader);
        assert_int_equal(wait.reason, rows[i].reason);
        assert_int_equal(wait.object, rows[i].object);
        assert_int_equal(wait.flags, rows[i].flags);
        assert_int_equal(wait.frames.count, rows[i].frames);
        assert_int_equal(wait.goes_on, rows[i].goes_on);
    }
    spool_reader_close(reader);
    end(&fixture);
}

/* Two readings share the unseen waits of a class with ptrace, and one reading has them otherwise. Waits that ended long
 * after a reading have none. The rows of the mean lengths follow each other up to the end. */
static void test_readings_share_the_unseen_waits(void **state)
{
    (void)state;
    static const uint64_t frame[1] = {0x1000};
    static const struct spool_wait wanted[2][3] = {
        {{.reason = REASON_UNSEEN, .wait_ns = 25, .unseen_ns = 75},
         {.reason = REASON_SLEEP, .wait_ns = 25, .unseen_ns = 25}},
        {{.reason = REASON_UNSEEN, .wait_ns = 25, .unseen_ns = 75},
         {.reason = REASON_SLEEP, .wait_ns = 25, .unseen_ns = 25},
         {.reason = REASON_SLEEP, .wait_ns = 16, .unseen_ns = 34}},
    };
    for (int with_ptrace = 0; with_ptrace < 2; with_ptrace++) {
        struct fixture fixture;
        struct error err;
        struct spool_reader *reader;
        struct tracked_process *process;
        begin(&fixture, false);
        struct tracked_thread *thread = tracker_find_thread(fixture.tracker, (uint32_t)fixture.pid, &process);
        struct thread_run *run = &thread->run;
        struct wait_class *late = find_wait_class(run, 0), *last = find_wait_class(run, UINT64_MAX / 2);
        assert_true(late && last);
        struct wait_stack **stacks[] = {&run->waits->recent[0], &run->waits->recent[RECENT_WAITS - 1], &last->last};
        for (int i = with_ptrace ? 0 : 2; i < (with_ptrace ? 2 : 3); i++) {
            assert_int_equal(thread_run_set_event_stack(run, fixture.start, frame, 1, 0, REASON_SLEEP, &err), 0);
            run->stack->asked = fixture.start;
            *stacks[i] = run->stack;
            run->stack = NULL;
        }
        run->has_mean_lengths = with_ptrace;
        add_unseen_waits(late, 100, 4, fixture.start + 5000 * ms);
        add_unseen_waits(last, with_ptrace ? 100 : 50, with_ptrace ? 5 : 2, fixture.start + ms);
        uint64_t end_of_rows = fixture.start + 6000 * ms;
        assert_int_equal(store_unseen_waits(&fixture.waits, thread, UINT64_MAX, end_of_rows, &err), 0);
        assert_int_equal(late->unseen + late->unseen_ns + late->unseen_length, 0);
        assert_int_equal(last->unseen + last->unseen_ns + last->unseen_length, 0);
        reader = open_spool(&fixture);
        uint64_t time = 0;
        for (size_t i = 0; i < 2 + (size_t)with_ptrace; i++) {
            struct spool_wait wait = next_wait(reader);
            assert_int_equal(wait.reason, wanted[with_ptrace][i].reason);
            assert_int_equal(wait.wait_ns, wanted[with_ptrace][i].wait_ns);
            assert_int_equal(wait.unseen_ns, wanted[with_ptrace][i].unseen_ns);
            assert_true(!time || wait.time_ns - wait.wait_ns == time);
            time = wait.time_ns;
        }
        assert_int_equal(time, end_of_rows);
        spool_reader_close(reader);
        end(&fixture);
    }
}

/* A wait for a socket names the socket. The CPU time of the description counts. */
static void test_the_object_of_a_socket_has_its_description(void **state)
{
    (void)state;
    struct fixture fixture;
    struct error err;
    struct spool_reader *reader;
    struct spool_record record = {0};
    struct stat info;
    char name[64];
    uint32_t number, again;
    int pair[2];
    begin(&fixture, false);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(fstat(pair[0], &info), 0);
    snprintf(name, sizeof(name), "socket:[%llu]", (unsigned long long)info.st_ino);
    uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    assert_int_equal(find_wait_object(&fixture.waits, (uint32_t)getpid(), name, &number, &err), 0);
    assert_in_range(fixture.waits.socket_cost, 1, clock_ns(CLOCK_THREAD_CPUTIME_ID) - start);
    assert_int_equal(find_wait_object(&fixture.waits, (uint32_t)getpid(), name, &again, &err), 0);
    assert_int_equal(again, number);
    reader = open_spool(&fixture);
    while (record.kind != SPOOL_OBJECT)
        assert_int_equal(spool_reader_read(reader, &record, &err), 1);
    assert_int_equal(record.object.object, number);
    assert_memory_equal(record.object.name, name, strlen(name));
    assert_int_equal(record.object.name[strlen(name)], ' ');
    spool_reader_close(reader);
    close(pair[0]);
    close(pair[1]);
    end(&fixture);
}

/* A reading finds the thread awake for the last `length` ns of its wait. From an interval on, they are a row. */
static void test_a_wait_that_a_reading_found_runnable_stands_for_its_class(void **state)
{
    (void)state;
    for (uint64_t length = ms - 1; length <= ms; length++) {
        struct fixture fixture;
        struct tracked_process *process;
        begin(&fixture, false);
        struct tracked_thread *thread = tracker_find_thread(fixture.tracker, (uint32_t)fixture.pid, &process);
        take_switch(&fixture, fixture.start, false);
        take_switch(&fixture, fixture.start + ms, true);
        struct wait_class *class = find_wait_class(&thread->run, 20 * ms);
        assert_non_null(class);
        add_unseen_waits(class, 50, 2, fixture.start);
        thread->run.awake = thread->run.awake_asked = fixture.start + 21 * ms - length;
        take_switch(&fixture, fixture.start + 21 * ms, false);
        assert_int_equal(fixture.waits.stored, length == ms);
        assert_int_equal(thread->run.was_ready, length < ms ? length : 0);
        assert_int_equal(thread->run.ready_since_reading, length);
        assert_int_equal(thread->run.awake_since_reading, length);
        assert_int_equal(class->found_ready_ns, 20 * ms - length + 50);
        assert_int_equal(class->found_ready, 3);
        assert_int_equal(class->unseen, 3);
        assert_int_equal(class->unseen_length, 20 * ms + 50);
        assert_int_equal(class->unseen_ns, 0);
        end(&fixture);
    }
}

/* With a list of CPUs, the time on other CPUs is a wait. Short times there share a row. */
static void test_the_time_on_other_cpus_is_a_wait(void **state)
{
    (void)state;
    static const struct {
        uint32_t cpu, time; /* us */
        bool out;
        uint32_t flushed; /* us: time of a flush after the switch, or 0 for none */
    } steps[] = {{1, 1000, false, 0},    {0, 3000, false, 0},   {0, 4000, true, 2004000},     {1, 2014000, false, 0},
                 {0, 2014200, false, 0}, {0, 2014300, true, 0}, {1, 2015300, false, 4015300}, {0, 4016300, false, 0}};
    static const struct spool_wait wanted[] = {
        {.object = 1, .wait_ns = 2000},      {.wait_ns = 2000000},
        {.wait_ns = 10000, .goes_on = true}, {.reason = REASON_UNSEEN, .wait_ns = 1000},
        {.object = 1, .wait_ns = 2000000},   {.object = 1, .wait_ns = 1000, .unseen_ns = 200, .goes_on = true}};
    struct cpu_list recorded = {0};
    struct fixture fixture;
    struct error err;
    struct spool_reader *reader;
    struct tracked_process *process;
    assert_int_equal(cpu_list_parse("0", &recorded, &err), 0);
    begin(&fixture, false);
    fixture.waits.options.cpus = &recorded;
    fixture.waits.options.no_looks = true;
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
        fixture.cpu = steps[i].cpu;
        take_switch(&fixture, fixture.start + steps[i].time * 1000, steps[i].out);
        if (steps[i].flushed)
            assert_int_equal(
                waits_flush(&fixture.waits, fixture.start + UINT64_C(1000) * steps[i].flushed, false, &err), 0);
    }
    assert_int_equal(tracker_find_thread(fixture.tracker, (uint32_t)fixture.pid, &process)->run.state, RUN_ON);
    assert_int_equal(process->waits, 2);
    assert_int_equal(process->preemptions, 0);
    const struct perf_record exit = {.type = PERF_RECORD_EXIT, .tid = UINT32_MAX};
    assert_int_equal(waits_end_tasks(&fixture.waits, &exit, &err), 0); /* of a thread that is not recorded */
    assert_int_equal(waits_flush(&fixture.waits, fixture.start + 4017 * ms, true, &err), 0);
    reader = open_spool(&fixture);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
        struct spool_wait wait = next_wait(reader);
        assert_int_equal(wait.object, wanted[i].object);
        assert_int_equal(wait.reason, wanted[i].reason);
        assert_int_equal(wait.goes_on, wanted[i].goes_on);
        assert_in_range(wait.wait_ns, wanted[i].wait_ns * 1000 - 1, wanted[i].wait_ns * 1000);
        assert_in_range(wait.unseen_ns, wanted[i].unseen_ns * 1000, wanted[i].unseen_ns * 1000 + 1);
    }
    spool_reader_close(reader);
    array_free(&recorded);
    end(&fixture);
}

/* A thread that waits for its CPU has a row for each second, whose time counts as runnable. */
static void test_a_long_preemption_is_runnable_time(void **state)
{
    (void)state;
    struct fixture fixture;
    struct error err;
    struct tracked_process *process;
    begin(&fixture, false);
    struct tracked_thread *thread = tracker_find_thread(fixture.tracker, (uint32_t)fixture.pid, &process);
    take_switch(&fixture, fixture.start, true);
    take_switch(&fixture, fixture.start, false); /* no wait */
    take_switch(&fixture, fixture.start, true);
    assert_int_equal(find_wait_class(&thread->run, 0)->unseen, 0);
    thread->run.is_runnable = true;
    assert_int_equal(waits_flush(&fixture.waits, fixture.start + 2000 * ms, false, &err), 0);
    assert_int_equal(thread->run.ready_since_reading, 2000 * ms);
    struct sample wait = only_wait(&fixture);
    assert_int_equal(wait.reason, REASON_RUNNABLE);
    assert_int_equal(wait.wait, 2000 * ms);
    end(&fixture);
}

/* Returns the length of a sampled wait of 600 ms after three waits in which readings found the thread only runnable.
 * `is_known`: the runnable time was last read before the wait ended, and has not grown since. `asleep`: when the wait
 * was sampled, ns since its start. */
static uint64_t measure_wait_after_runnable_waits(bool is_known, uint64_t asleep)
{
    static const uint64_t frame[1] = {0x1000}, length = 600000000;
    struct fixture fixture;
    struct error err;
    struct tracked_process *process;
    begin(&fixture, false);
    struct tracked_thread *thread = tracker_find_thread(fixture.tracker, (uint32_t)fixture.pid, &process);
    assert_non_null(thread);
    assert_non_null(find_wait_class(&thread->run, ms));
    read_run_delay(&fixture.waits, process->pid, thread);
    assert_true(thread->run.has_run_delay);
    assert_in_range(thread->run.run_delay_read, fixture.start, monotonic_ns());
    thread->run.run_delay_read = is_known ? fixture.start : UINT64_MAX;
    find_wait_class(&thread->run, ms)->unseen = 3;
    add_unseen_waits(find_wait_class(&thread->run, 10 * ms), 10 * ms, 1, fixture.start); /* blocked time */
    take_switch(&fixture, fixture.start, false);
    take_switch(&fixture, fixture.start + 1, true);
    assert_int_equal(thread_run_set_event_stack(&thread->run, fixture.start + 1, frame, 1, 0, REASON_SLEEP, &err), 0);
    thread->run.stack->is_from_event = false;
    thread->run.stack->asked = thread->run.stack->known = fixture.start + 1 + asleep;
    take_switch(&fixture, fixture.start + 1 + length, false);
    struct sample wait = only_wait(&fixture);
    end(&fixture);
    return wait.wait;
}

static void test_a_wait_without_runnable_time_keeps_its_length(void **state)
{
    (void)state;
    assert_int_equal(measure_wait_after_runnable_waits(true, ms), 600 * ms);
    assert_int_equal(measure_wait_after_runnable_waits(false, ms), 150 * ms);
    assert_int_equal(measure_wait_after_runnable_waits(false, 400 * ms), 600 * ms);
}

/* Of two waits of 100 us, a reading meets the second, and half of the first is runnable time. Readings of waits of
 * another class found only a runnable thread. */
static void test_a_wait_stands_for_the_number_of_waits(void **state)
{
    (void)state;
    static const uint64_t frame[1] = {0x1000}, length = 100000;
    struct fixture fixture;
    struct error err;
    struct spool_reader *reader;
    struct tracked_process *process;
    begin(&fixture, false);
    struct tracked_thread *thread = tracker_find_thread(fixture.tracker, (uint32_t)fixture.pid, &process);
    assert_non_null(thread);
    find_wait_class(&thread->run, ms)->unseen = 3;
    find_wait_class(&thread->run, length)->owed_ns = thread->run.waits->owed = length / 2;
    for (uint64_t time = fixture.start; time < fixture.start + 3 * length; time += length) {
        take_switch(&fixture, time, false);
        take_switch(&fixture, time, true);
        assert_int_equal(thread_run_set_event_stack(&thread->run, time, frame, 1, 0, REASON_SLEEP, &err), 0);
        thread->run.stack->is_from_event = false;
        thread->run.stack->asked = thread->run.stack->known = time == fixture.start + length ? time : 0;
    }
    reader = open_spool(&fixture);
    struct spool_wait wait = next_wait(reader);
    spool_reader_close(reader);
    assert_int_equal(wait.wait_ns + wait.unseen_ns, length + length / 2);
    assert_int_equal(wait.wait_ns, (length + length / 2) / 5);
    end(&fixture);
}

/* With ptrace, three waits that end in 3 ms are one wait of 1 ms, in which 2 ms of running time follow. */
static void test_with_ptrace_a_reading_counts_up_to_the_moment_after_its_wait(void **state)
{
    (void)state;
    static const uint64_t frame[1] = {0x1000};
    struct fixture fixture;
    struct error err;
    struct tracked_process *process;
    begin(&fixture, false);
    fixture.waits.options.late_switches = true;
    take_switch(&fixture, fixture.start, true);
    struct tracked_thread *thread = tracker_find_thread(fixture.tracker, (uint32_t)fixture.pid, &process);
    assert_int_equal(thread_run_set_event_stack(&thread->run, fixture.start, frame, 1, 0, REASON_SLEEP, &err), 0);
    thread->run.stack->is_from_event = false;
    thread->run.stack->asked = thread->run.stack->known = fixture.start + 2 * ms;
    fixture.slept_until = fixture.start + 3 * ms;
    fixture.ended = 2;
    thread->run.uncounted = 1;
    take_switch(&fixture, fixture.start + ms, false);
    struct sample wait = only_wait(&fixture);
    assert_int_equal(wait.reason, REASON_SLEEP);
    assert_int_equal(wait.wait, ms / 3);
    take_switch(&fixture, fixture.start + 4 * ms, true);
    assert_int_equal(thread->run.uncounted, 0);
    end(&fixture);
}

/* Of three waits of 40 ms with a waker, a reading meets the second. The first is in the spool without a weight, and the
 * second stands for the first. The second also gives the third, the last of the thread, its reason. Shorter waits that
 * readings found runnable do not divide the second, whose waker shows that it was blocked. */
static void test_long_unseen_waits_have_a_waker_and_a_reason(void **state)
{
    (void)state;
    static const uint64_t frame[1] = {0x1000}, length = 40 * ms;
    struct fixture fixture;
    struct error err;
    struct spool_reader *reader;
    struct tracked_process *process;
    begin(&fixture, false);
    fixture.cpu = 0;
    uint32_t tid = (uint32_t)fixture.pid;
    struct tracked_thread *thread = tracker_find_thread(fixture.tracker, tid, &process);
    assert_non_null(find_wait_class(&thread->run, ms));
    find_wait_class(&thread->run, ms)->unseen = 3;
    uint64_t time = fixture.start;
    take_switch(&fixture, time, false);
    for (int i = 0; i < 3; i++, time += length) {
        take_switch(&fixture, time, true);
        if (i == 1) {
            assert_int_equal(thread_run_set_event_stack(&thread->run, time, frame, 1, 0, REASON_SLEEP, &err), 0);
            thread->run.stack->is_from_event = false;
            thread->run.stack->asked = thread->run.stack->known = time + 1;
        }
        const struct wakeup wakeup = {.time = time + length - 1, .woken = tid, .by_pid = 1, .by_tid = 1};
        assert_true(waits_handle_wakeup(&fixture.waits, &wakeup));
        take_switch(&fixture, time + length, false);
    }
    const struct perf_record exit = {.type = PERF_RECORD_EXIT, .tid = tid, .time = time + 1000};
    assert_int_equal(waits_end_tasks(&fixture.waits, &exit, &err), 0);
    reader = open_spool(&fixture);
    struct spool_wait first = next_wait(reader), second = next_wait(reader), third = next_wait(reader);
    assert_true(first.flags == SAMPLE_WITHOUT_WEIGHT && first.waker && first.reason == REASON_UNSEEN);
    assert_int_equal(first.wait_ns, length);
    assert_true(second.flags == 0 && second.waker && second.reason == REASON_SLEEP);
    assert_true(second.wait_ns == length && second.unseen_ns == length);
    assert_true(third.flags == SAMPLE_WITHOUT_WEIGHT && third.waker && third.wait_ns == length);
    struct spool_wait last = next_wait(reader);
    assert_true(last.reason == REASON_SLEEP && !last.waker && last.wait_ns + last.unseen_ns == length);
    struct spool_record record; /* the waits precede the slice that has the time of the thread's end */
    assert_int_equal(spool_reader_read(reader, &record, &err), 1);
    assert_true(record.kind == SPOOL_SLICE && record.slice.time_ns == exit.time);
    spool_reader_close(reader);
    end(&fixture);
}

/* A thread other than the first calls exec. The sums of both threads are in the spool before the new program. */
static void test_short_waits_stay_with_the_program_before_an_exec(void **state)
{
    (void)state;
    struct fixture fixture;
    struct error err;
    struct spool_reader *reader;
    struct tracked_process *process;
    begin(&fixture, false);
    uint32_t pid = (uint32_t)fixture.pid, tids[] = {pid, pid + 1}, numbers[2];
    assert_int_equal(tracker_add_running_thread(fixture.tracker, pid, tids[1], "y", fixture.start, &err), 0);
    for (int i = 0; i < 2; i++) {
        struct tracked_thread *thread = tracker_find_thread(fixture.tracker, tids[i], &process);
        assert_non_null(thread);
        assert_non_null(find_wait_class(&thread->run, ms));
        numbers[i] = thread->number;
        thread->run.was_ready = ms;
        thread->run.ready_count = 2;
        thread->run.since = fixture.start + ms;
    }
    const struct perf_record exec = {
        .type = PERF_RECORD_COMM, .pid = pid, .tid = pid, .time = fixture.start + 2 * ms, .comm = {"z", true}};
    assert_int_equal(waits_end_tasks(&fixture.waits, &exec, &err), 0);
    assert_int_equal(tracker_handle_record(fixture.tracker, &exec, &err), 0);
    reader = open_spool(&fixture);
    struct spool_wait waits[] = {next_wait(reader), next_wait(reader)};
    for (int i = 0; i < 2; i++) {
        assert_true(waits[i].thread == numbers[0] || waits[i].thread == numbers[1]);
        assert_int_equal(waits[i].wait_ns + waits[i].unseen_ns, ms);
        assert_true(waits[i].time_ns <= fixture.start + ms);
    }
    assert_int_not_equal(waits[0].thread, waits[1].thread);
    spool_reader_close(reader);
    end(&fixture);
}

/* Three waits of 10 ms are long enough for rows. Only the first has the stack of its waker: the second stack is of an
 * earlier wakeup, and the third is of a thread that an interrupt interrupted. */
static void test_the_stack_of_a_waker_belongs_to_its_wakeup(void **state)
{
    (void)state;
    static const uint64_t frames[] = {0x1000, 0x2000};
    struct fixture fixture;
    struct error err;
    struct spool_reader *reader;
    struct spool_record record;
    bool is_preceded = false;
    int waits = 0, stacks = 0;
    begin(&fixture, false);
    struct wakeup wakeup = {.time = fixture.start + 1000, .woken = (uint32_t)fixture.pid, .by_pid = 7, .by_tid = 7};
    take_switch(&fixture, fixture.start, true);
    assert_null(waits_find_woken(&fixture.waits, &wakeup)); /* too short */
    for (int i = 0; i < 3; i++) {
        wakeup.time = fixture.start + 10 * ms;
        wakeup.context = i == 2 ? WAKEUP_BY_SOFT_INTERRUPT : WAKEUP_BY_THREAD;
        struct tracked_thread *thread = waits_find_woken(&fixture.waits, &wakeup);
        assert_non_null(thread);
        const struct waker_stack stack = {
            .time = wakeup.time - (i == 1 ? ms : 1000), .tid = 7, .cpu = 1, .frame_count = 2};
        assert_int_equal(thread_run_keep_waker_stack(&thread->run, &stack, frames, &err), 0);
        assert_true(waits_handle_wakeup(&fixture.waits, &wakeup));
        take_switch(&fixture, fixture.start += 10 * ms, false);
        take_switch(&fixture, fixture.start, true);
    }
    fixture.waits.paused = true;
    wakeup.time = fixture.start + 10 * ms;
    assert_null(waits_find_woken(&fixture.waits, &wakeup));
    reader = open_spool(&fixture);
    while (spool_reader_read(reader, &record, &err) > 0) {
        if (record.kind == SPOOL_WAIT && record.wait.waker)
            assert_int_equal(is_preceded, waits++ == 0);
        is_preceded = record.kind == SPOOL_WAKER_STACK;
        stacks += is_preceded;
        if (is_preceded)
            assert_int_equal(record.waker_stack.frames.count, 2);
    }
    spool_reader_close(reader);
    assert_int_equal(waits, 3);
    assert_int_equal(stacks, 1);
    end(&fixture);
}

/* Readings found runnable time in nine waits, which are nearly all of their class. Another class has none. */
static void test_each_class_has_its_own_runnable_time(void **state)
{
    (void)state;
    struct thread_run run = {0};
    struct wait_class *blocked = find_wait_class(&run, ms / 10), *queued = find_wait_class(&run, ms);
    assert_non_null(blocked);
    blocked->waited_ns = queued->waited_ns = 10 * ms;
    queued->found_ready_ns = 9 * ms;
    queued->found_ready = 9;
    assert_int_equal(flush_found_time(&run, 10 * ms), 9 * ms);
    assert_int_equal(run.ready_count, 9);
    take_runnable_time(&run, 0);
    assert_int_equal(compute_mean_runnable_time(blocked, ms / 10), 0);
    assert_int_equal(compute_mean_runnable_time(queued, ms), ms * 9 / 10);
    thread_run_destroy(&run);
}

/* The thread ends before a reading of schedstat. Readings found runnable time in nine of ten waits of a class. After a
 * reading, which found another class runnable in a quarter of its time, the class has the same share. */
static void test_a_thread_that_ends_early_has_the_runnable_time_that_readings_found(void **state)
{
    (void)state;
    struct thread_run run = {0};
    struct wait_class *queued = find_wait_class(&run, ms);
    assert_non_null(queued);
    queued->waited_ns = 10 * ms;
    queued->found_ready_ns = 9 * ms;
    queued->found_ready = 9;
    take_expected_runnable_time(&run);
    assert_int_equal(run.was_ready, 9 * ms);
    assert_int_equal(queued->unseen_ns, 0);
    struct wait_class *known = find_wait_class(&run, 100 * ms), *unknown = find_wait_class(&run, 200 * ms);
    *queued = (struct wait_class){.ready_ns = 9e6}; /* of the state, not of schedstat */
    known->all_ns = 100e6;
    known->ready_ns = 25e6;
    unknown->waited_ns = unknown->unseen_ns = 200 * ms;
    run.was_ready = 0;
    take_expected_runnable_time(&run);
    assert_int_equal(run.was_ready, 50 * ms);
    assert_int_equal(unknown->unseen_ns, 150 * ms);
    unknown->waited_ns = unknown->unseen_ns = 200 * ms; /* the mean includes what readings of the state find */
    unknown->found_ready_ns = 10 * ms;
    run.was_ready = 0;
    take_expected_runnable_time(&run);
    assert_int_equal(run.was_ready, 50 * ms);
    thread_run_destroy(&run);
}

/* No period of a program can match the times of the readings: a tenth of them is in each tenth of a millisecond. */
static void test_readings_are_planned_at_random(void **state)
{
    (void)state;
    enum { PASSES = 20000, PARTS = 10 };
    struct waits waits = {.random = 1};
    int counts[PARTS] = {0};
    for (int i = 0; i < PASSES; i++) {
        plan_wait_reading(&waits, waits.next_look);
        counts[waits.next_look % ms * PARTS / ms]++;
    }
    for (int i = 0; i < PARTS; i++)
        assert_in_range(counts[i], PASSES / PARTS * 9 / 10, PASSES / PARTS * 11 / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_thread_that_sleeps_on_is_found_again),
        cmocka_unit_test(test_a_pass_reads_all_calls_before_any_stack),
        cmocka_unit_test(test_a_thread_that_is_found_awake_waits_for_a_cpu),
        cmocka_unit_test(test_a_thread_that_runs_by_then_is_not_ready),
        cmocka_unit_test(test_a_reading_on_the_cpu_of_the_thread_counts_from_the_time_it_was_planned),
        cmocka_unit_test(test_each_kind_gets_its_share_of_short_waits),
        cmocka_unit_test(test_slices_have_the_times_on_each_cpu),
        cmocka_unit_test(test_a_stored_part_of_a_wait_is_no_running_time),
        cmocka_unit_test(test_slow_readings_give_each_kind_its_share),
        cmocka_unit_test(test_with_ptrace_long_waits_get_their_own_time),
        cmocka_unit_test(test_a_wait_stands_for_the_number_of_waits),
        cmocka_unit_test(test_a_wait_without_runnable_time_keeps_its_length),
        cmocka_unit_test(test_a_thread_that_ends_early_has_the_runnable_time_that_readings_found),
        cmocka_unit_test(test_with_ptrace_a_reading_counts_up_to_the_moment_after_its_wait),
        cmocka_unit_test(test_long_unseen_waits_have_a_waker_and_a_reason),
        cmocka_unit_test(test_short_waits_stay_with_the_program_before_an_exec),
        cmocka_unit_test(test_the_stack_of_a_waker_belongs_to_its_wakeup),
        cmocka_unit_test(test_each_class_has_its_own_runnable_time),
        cmocka_unit_test(test_readings_are_planned_at_random),
        cmocka_unit_test(test_a_row_has_its_reading),
        cmocka_unit_test(test_the_time_on_other_cpus_is_a_wait),
        cmocka_unit_test(test_a_long_preemption_is_runnable_time),
        cmocka_unit_test(test_a_wait_that_a_reading_found_runnable_stands_for_its_class),
        cmocka_unit_test(test_readings_share_the_unseen_waits),
        cmocka_unit_test(test_the_object_of_a_socket_has_its_description),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
