/*
 * Finds out which features of perf events the system supports and permits. Drops refused features in this order:
 *
 * 1. Features that older kernels lack (EINVAL), newest first. PERF_FORMAT_LOST needs Linux 6.0, build ids in mapping
 *    records 5.12, KSYMBOL records 5.1, and SWITCH records 4.3. Without these features, LOST records count losses, prof
 *    reads build ids from the files, BPF programs have names only if they still exist at the end, sampling periods
 *    count CPU time, and prof records no waits. Samples do not carry counters (SAMPLE_READ with inherit, 6.13), because
 *    counters would prevent the kernel from exchanging the events of two threads at a switch, and would stop and start
 *    a timer at each switch.
 * 2. Hardware cycles (ENOENT, EOPNOTSUPP without a PMU, as in most virtual machines). The CPU clock replaces cycles.
 *    The clock misses code that runs with interrupts off, and is otherwise as good.
 * 3. The kernel (EACCES, EPERM at perf_event_paranoid 2 and up). prof then samples only user code.
 */
#include "sample/perf_attr.h"

#include "os/file_proc.h"
#include "sample/perf_filter.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int perf_attr_open(struct perf_event_attr *attr, struct perf_target target, int cpu)
{
    attr->size = sizeof(*attr);
    unsigned long flags = PERF_FLAG_FD_CLOEXEC | (target.is_cgroup ? PERF_FLAG_PID_CGROUP : 0);
    long fd = syscall(SYS_perf_event_open, attr, target.pid, cpu, -1, flags);
    return fd < 0 ? -errno : (int)fd;
}

struct perf_event_attr perf_attr_make_clock(const struct perf_events *events)
{
    struct perf_event_attr attr = {
        .type = events->hardware ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
        .config = events->hardware ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
        .sample_type = events->layout.sample_type,
        .read_format = events->layout.read_format,
        .sample_freq = events->rate,
        .freq = 1,
        .disabled = events->at_exec,
        .enable_on_exec = events->at_exec,
        .inherit = !events->all,
        .inherit_thread = events->threads_only,
        .exclude_hv = 1,
        .exclude_idle = events->all,
        .exclude_kernel = events->tier == PERF_TIER_USER,
        .exclude_callchain_user = 1,
        .mmap = 1,
        .mmap2 = 1,
        .mmap_data = 1, /* the kernel reports mapped marker files (record/mark_files.h) */
        .build_id = events->build_ids,
        .context_switch = events->switches,
        .ksymbol = events->kernel_symbols && events->tier == PERF_TIER_KERNEL_AND_USER,
        .comm = 1,
        .comm_exec = 1,
        .task = 1,
        .sample_id_all = 1,
        .watermark = 1,
        .wakeup_watermark = UINT32_MAX, /* the dummy events of the rings decide about wakeups */
        .sample_regs_user = SAMPLE_REGISTERS_MASK,
        .sample_stack_user = events->stack_size,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
    return attr;
}

struct perf_event_attr perf_attr_make_sideband(const struct perf_events *events)
{
    struct perf_event_attr attr = perf_attr_make_clock(events);
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_DUMMY;
    attr.sample_freq = 0;
    attr.freq = 0;
    return attr;
}

struct perf_event_attr perf_attr_make_sampling(const struct perf_events *events)
{
    return events->no_samples ? perf_attr_make_sideband(events) : perf_attr_make_clock(events);
}

/* Tries the events on the calling thread, or on the whole system. */
static int try_event(const struct perf_events *events)
{
    struct perf_event_attr attr = perf_attr_make_sampling(events);
    attr.disabled = 1;
    int fd =
        perf_attr_open(&attr, events->all ? perf_target_all : (struct perf_target){0}, (int)events->cpus.data[0].cpu);
    if (fd >= 0)
        close(fd);
    return fd < 0 ? fd : 0;
}

static void choose_layout(struct perf_events *events)
{
    events->layout.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
                                 PERF_SAMPLE_PERIOD | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    if (events->sampling.list)
        events->layout.sample_type |= PERF_SAMPLE_ID;
    if (events->tier == PERF_TIER_KERNEL_AND_USER)
        events->layout.sample_type |= PERF_SAMPLE_CALLCHAIN;
}

int perf_attr_find_supported(struct perf_events *events)
{
    /* Events of whole CPUs use the clock, because a CPU's cycle counter counts no single thread. The kernel also adapts
     * the period of a cycles event to the load of its CPU, so a sample would stand for an unknown time. */
    events->hardware = !events->all;
    events->tier = PERF_TIER_KERNEL_AND_USER;
    events->layout.read_format =
        PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID | PERF_FORMAT_LOST;
    events->build_ids = true;
    events->kernel_symbols = true;
    for (;;) {
        choose_layout(events);
        int code = try_event(events);
        if (code == 0)
            return 0;
        if ((code == -EACCES || code == -EPERM) && events->tier == PERF_TIER_KERNEL_AND_USER)
            events->tier = PERF_TIER_USER;
        else if ((code == -ENOENT || code == -EOPNOTSUPP || code == -ENODEV) && events->hardware)
            events->hardware = false;
        else if (code == -EINVAL && events->layout.read_format & PERF_FORMAT_LOST)
            events->layout.read_format &= ~(uint64_t)PERF_FORMAT_LOST;
        else if (code == -EINVAL && events->build_ids)
            events->build_ids = false;
        else if (code == -EINVAL && events->kernel_symbols)
            events->kernel_symbols = false;
        else if (code == -EINVAL && events->switches)
            events->switches = false;
        else
            return code;
    }
}

int perf_attr_explain_refusal(const struct perf_events *events, int code, struct error *err)
{
    long paranoid = proc_read_kernel_setting("perf_event_paranoid", -100);
    const char *host = proc_is_in_container() ? " (on the host, outside of this container)" : "";
    if (code == -EINVAL && events->threads_only)
        return error_set(err, EINVAL, "this kernel cannot exclude child processes (--no-inherit needs Linux 5.13)");
    int filtered = perf_filter_explain_refusal(code, err);
    if (filtered)
        return filtered;
    if ((code == -EACCES || code == -EPERM) && events->all && paranoid > 0)
        return error_set(
            err, -code,
            "this user may not record all processes: kernel.perf_event_paranoid is %ld; 'sudo sysctl kernel.perf_event_paranoid=0'%s or the capability CAP_PERFMON permits it",
            paranoid, host);
    if (code == -ENOSYS)
        return error_set(err, ENOSYS, "this kernel has no perf events (perf_event_open: %s)", strerror(-code));
    if (code != -EACCES && code != -EPERM)
        return error_set(err, -code, "cannot open a perf event: %s", strerror(-code));
    if (paranoid > 2)
        return error_set(
            err, -code,
            "the kernel refuses perf events: kernel.perf_event_paranoid is %ld; 'sudo sysctl kernel.perf_event_paranoid=2'%s or the capability CAP_PERFMON permits them for your own programs",
            paranoid, host);
    return error_set(
        err, -code,
        "the kernel refuses perf events (perf_event_open: %s), although kernel.perf_event_paranoid permits them: a security module forbids the call",
        strerror(-code));
}
