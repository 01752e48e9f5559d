/* The BPF program reports the same switches as SWITCH records of the kernel, and counts those that it loses. */
#include "sample/sched_program.h"

#include "base/cursor.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { TURNS = 2000, SWITCHES_MAX = 200000, KERNEL_RING = 4 << 20 };

struct seen_switch {
    uint64_t time;
    bool out, preempted;
};

struct seen {
    struct seen_switch *switches;
    size_t length;
};

static void see(struct seen *seen, uint64_t time, bool out, bool preempted)
{
    assert_true(seen->length < SWITCHES_MAX);
    seen->switches[seen->length++] = (struct seen_switch){time, out, out && preempted};
}

static int open_program(struct sched_program *program, size_t ring_size)
{
    int code = sched_program_open(program, ring_size);
    if (code == -EPERM || code == -EACCES || code == -ENOENT || code == -ENOSYS)
        return -1;
    assert_int_equal(code, 0);
    return 0;
}

static int compare_records(const void *a, const void *b)
{
    const struct seen_switch *x = a, *y = b;
    return x->time < y->time ? -1 : x->time > y->time ? 1 : y->out - x->out;
}

/* Reads the switches of one thread from all rings. Returns the number of lost records. */
static uint64_t read_program(struct sched_program *program, uint32_t tid, struct seen *seen)
{
    static unsigned char bounce[PERF_RING_RECORD_MAX];
    uint64_t lost = 0;
    for (size_t i = 0; i < program->rings.length; i++) {
        struct perf_ring *ring = &program->rings.data[i].ring;
        uint64_t head = perf_ring_read_head(ring), last = 0;
        uint32_t type;
        size_t size;
        while (perf_ring_peek(ring, head, &type, &size)) {
            struct perf_record record;
            const unsigned char *bytes = perf_ring_get_record(ring, size, bounce);
            assert_int_equal(perf_record_parse(&sched_program_layout, bytes, size, &record), 0);
            assert_true(record.time >= last);
            last = record.time;
            if (type == PERF_RECORD_LOST_SAMPLES) {
                lost += record.lost;
            } else {
                assert_int_equal(type, PERF_RECORD_SWITCH_CPU_WIDE);
                assert_true(record.context_switch.out);
                if (record.tid == tid)
                    see(seen, record.time, true, record.context_switch.preempted);
                if (record.context_switch.other_tid == tid)
                    see(seen, record.time, false, false);
            }
            perf_ring_skip(ring, size);
        }
        assert_int_equal(ring->damaged, 0);
    }
    qsort(seen->switches, seen->length, sizeof(*seen->switches), compare_records);
    return lost;
}

/* An event on one thread, on any CPU, with SWITCH records of time and thread. */
static int open_kernel_switches(pid_t tid, struct perf_ring *ring)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof(attr),
                                   .config = PERF_COUNT_SW_DUMMY,
                                   .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
                                   .context_switch = 1,
                                   .sample_id_all = 1,
                                   .exclude_kernel = 1,
                                   .use_clockid = 1,
                                   .clockid = CLOCK_MONOTONIC};
    struct error err;
    int fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(perf_ring_map(ring, fd, KERNEL_RING, &err), 0);
    return fd;
}

static void read_kernel(struct perf_ring *ring, struct seen *seen)
{
    static unsigned char bounce[PERF_RING_RECORD_MAX];
    uint64_t head = perf_ring_read_head(ring);
    uint32_t type;
    size_t size;
    while (perf_ring_peek(ring, head, &type, &size)) {
        struct perf_record record;
        const unsigned char *bytes = perf_ring_get_record(ring, size, bounce);
        assert_int_equal(perf_record_parse(&sched_program_layout, bytes, size, &record), 0);
        if (type == PERF_RECORD_SWITCH)
            see(seen, record.time, record.context_switch.out, record.context_switch.preempted);
        perf_ring_skip(ring, size);
    }
}

static void compute(void)
{
    for (volatile int i = 0; i < 2000000; i++)
        continue;
}

/* Two processes take turns on a pipe, and a third one wants the same CPU. Waits for a byte before it begins. */
static pid_t start_target(int *begin)
{
    int gate[2], there[2], back[2];
    assert_true(!pipe(gate) && !pipe(there) && !pipe(back));
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        cpu_set_t one;
        char byte = 0;
        CPU_ZERO(&one);
        CPU_SET(0, &one);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sched_setaffinity(0, sizeof(one), &one);
        close(gate[1]);
        if (read(gate[0], &byte, 1) != 1)
            _exit(1);
        pid_t other = fork();
        if (other == 0) {
            while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1 && byte != 'q')
                continue;
            compute();
            compute();
            _exit(0);
        }
        for (int i = 0; i < TURNS; i++)
            if (write(there[1], i == TURNS - 1 ? "q" : "x", 1) != 1 || read(back[0], &byte, 1) != 1)
                _exit(1);
        compute();
        _exit(waitpid(other, NULL, 0) != other);
    }
    close(gate[0]);
    *begin = gate[1];
    return pid;
}

static void let_target_run(pid_t pid, int begin)
{
    int status = 0;
    assert_int_equal(write(begin, "x", 1), 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    close(begin);
}

static void test_program_reports_the_switches_of_the_kernel(void **state)
{
    enum { LATEST = 20 * 1000 * 1000 }; /* ns between the times of one switch: the host may interrupt the CPU */
    struct sched_program program;
    struct perf_ring ring;
    struct seen kernel = {calloc(SWITCHES_MAX, sizeof(struct seen_switch)), 0};
    struct seen seen = {calloc(SWITCHES_MAX, sizeof(struct seen_switch)), 0};
    size_t preemptions = 0, sleeps = 0;
    int begin;
    (void)state;
    assert_true(kernel.switches && seen.switches);
    pid_t pid = start_target(&begin);
    if (open_program(&program, 0)) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        free(kernel.switches);
        free(seen.switches);
        skip();
    }
    int fd = open_kernel_switches(pid, &ring);
    let_target_run(pid, begin);
    sched_program_stop(&program);
    assert_int_equal(read_program(&program, (uint32_t)pid, &seen), 0);
    read_kernel(&ring, &kernel);
    assert_true(kernel.length > TURNS / 2);
    size_t first = !kernel.switches[0].out && seen.length && seen.switches[0].out; /* the event began in between */
    for (size_t i = 0; i < kernel.length; i++) {
        const struct seen_switch *of_kernel = &kernel.switches[i], *of_program = &seen.switches[first + i];
        assert_true(first + i < seen.length);
        assert_int_equal(of_program->out, of_kernel->out);
        assert_int_equal(of_program->preempted, of_kernel->preempted);
        assert_true(of_program->time <= of_kernel->time && of_kernel->time - of_program->time < LATEST);
        preemptions += of_kernel->preempted;
        sleeps += of_kernel->out && !of_kernel->preempted;
    }
    assert_true(seen.length - first - kernel.length <= 1); /* the end of the thread closes its events first */
    assert_true(preemptions && sleeps);
    perf_ring_unmap(&ring);
    close(fd);
    sched_program_close(&program);
    free(kernel.switches);
    free(seen.switches);
}

static void test_program_ignores_threads_without_events(void **state)
{
    struct sched_program program;
    struct seen seen = {calloc(SWITCHES_MAX, sizeof(struct seen_switch)), 0};
    int begin;
    (void)state;
    pid_t pid = start_target(&begin);
    if (open_program(&program, 0)) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        free(seen.switches);
        skip();
    }
    let_target_run(pid, begin);
    sched_program_stop(&program);
    read_program(&program, (uint32_t)pid, &seen);
    assert_true(seen.length < TURNS / 4); /* other recordings on this machine may record the thread before or after */
    sched_program_close(&program);
    free(seen.switches);
}

static void test_full_ring_counts_what_it_loses(void **state)
{
    enum { SMALL = 16384 /* bytes, 512 records */ };
    struct sched_program program;
    struct perf_ring ring, own;
    struct seen seen = {calloc(SWITCHES_MAX, sizeof(struct seen_switch)), 0};
    cpu_set_t one;
    int begin;
    (void)state;
    pid_t pid = start_target(&begin);
    if (open_program(&program, SMALL)) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        free(seen.switches);
        skip();
    }
    int fd = open_kernel_switches(pid, &ring), own_fd = open_kernel_switches(0, &own);
    let_target_run(pid, begin);
    assert_int_equal(read_program(&program, (uint32_t)pid, &seen), 0); /* the oldest are complete, and make room */
    assert_true(seen.length > 0 && seen.length <= SMALL / 32);

    CPU_ZERO(&one);
    CPU_SET(0, &one);
    sched_setaffinity(0, sizeof(one), &one);
    for (int i = 0; i < 3; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    seen.length = 0;
    assert_true(read_program(&program, (uint32_t)gettid(), &seen) > TURNS / 2);
    assert_true(seen.length >= 3); /* the loss is before the switches that follow */
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_int_equal(read_program(&program, (uint32_t)gettid(), &seen), 0); /* a loss is reported once */
    perf_ring_unmap(&own);
    close(own_fd);
    perf_ring_unmap(&ring);
    close(fd);
    sched_program_close(&program);
    free(seen.switches);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_program_reports_the_switches_of_the_kernel),
        cmocka_unit_test(test_program_ignores_threads_without_events),
        cmocka_unit_test(test_full_ring_counts_what_it_loses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
