/*
 * A record is a perf sample followed by the fields of its tracepoint ("raw"). tracefs has their offsets, in
 * events/sched/sched_waking/format:
 *
 *     field:unsigned char common_flags; offset:2; size:1; signed:0;
 *     field:pid_t pid;                  offset:24; size:4; signed:1;
 */
#include "sample/wakeups.h"

#include "base/random.h"
#include "os/file_io.h"
#include "os/file_proc.h"
#include "sample/cpu_list.h"
#include "sample/perf_filter.h"
#include "sample/tracefs.h"
#include "sample/tracepoint.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    RING_SIZE = 512 * 1024,        /* bytes, room for 6,000 wakeups, which are 40 ms at 150,000 wakeups a second */
    RING_MIN = 32 * 1024,          /* bytes, if the limit of locked memory is low */
    STACK_SIZE = 8 * 1024,         /* some 20 frames of C++ */
    STACK_RING_SIZE = 1024 * 1024, /* bytes, room for 126 copies of stacks, which are 40 ms at 3,000 copies a second */
    STACKS_A_SECOND = 500,  /* limit of stacks of recorded threads per CPU: 2 us of the waker, 5 us of the recorder */
    COPIES_A_SECOND = 3000, /* limit of copies on each CPU, including copies for other programs */
    CHOICE_NS = 5 * 1000 * 1000, /* a later choice would copy many stacks at the start of a fast program */
    OFTEN = 20000,               /* wakeups a second */
    ROUNDS_OFF = 8,              /* above OFTEN, the event is on in one of ROUNDS_OFF rounds */
    FLAG_HARD_INTERRUPT = 0x08,
    FLAG_SOFT_INTERRUPT = 0x10,
    FLAG_NMI = 0x40,
};

/* ---- offsets of fields ---- */

bool wakeup_layout_parse(struct wakeup_layout *layout, const char *format)
{
    return tracefs_find_field(format, "common_flags;", &layout->flags) &&
           tracefs_find_field(format, " pid;", &layout->woken);
}

static int read_tracefs(struct wakeups *wakeups, struct error *err)
{
    char format[TRACEFS_FORMAT];
    int code = tracefs_read_format("sched", "sched_waking", &wakeups->layout.id, format, err);
    if (!code && wakeup_layout_parse(&wakeups->layout, format))
        return 0;
    bool is_closed = code == -EACCES;
    char command[TRACEFS_COMMAND];
    tracefs_format_command(command, is_closed);
    return is_closed
               ? error_set(err, EACCES, "prof records no wakers: this user may not read tracefs; 'sudo %s' permits it",
                           command)
               : error_set(
                     err, ENOENT,
                     "prof records no wakers: the tracepoint sched_waking is missing; 'sudo %s' adds it, if the kernel has it",
                     command);
}

/* ---- events ---- */

/* Opens the event that copies stacks. Without this event, prof still records wakers. */
static bool open_stacks(struct wakeups *wakeups, uint32_t cpu)
{
    struct error ignored;
    struct wakeup_cpu opened = {
        .fd = tracepoint_open(wakeups->layout.id, cpu, wakeups->have_ids, STACK_RING_SIZE, STACK_SIZE), .period = 1};
    if (opened.fd < 0)
        return false;
    if (!perf_ring_map(&opened.ring, opened.fd, STACK_RING_SIZE, &ignored)) {
        if (array_push(&wakeups->stacks, opened))
            return true;
        perf_ring_unmap(&opened.ring);
    }
    close(opened.fd);
    return false;
}

static int open_cpu(struct wakeups *wakeups, uint32_t cpu, struct error *err)
{
    int code = -EPERM;
    for (size_t size = RING_SIZE; code == -EPERM && size >= RING_MIN; size /= 2) {
        struct wakeup_cpu opened = {.fd = tracepoint_open(wakeups->layout.id, cpu, wakeups->have_ids, size, 0)};
        if (opened.fd < 0)
            return opened.fd;
        code = perf_ring_map(&opened.ring, opened.fd, size, err);
        if (!code && array_push(&wakeups->cpus, opened))
            return 0;
        if (!code)
            perf_ring_unmap(&opened.ring);
        close(opened.fd);
        code = code ? code : -ENOMEM;
    }
    return code;
}

static int explain_refusal(int code, struct error *err)
{
    int filtered = perf_filter_explain_refusal(code, err);
    if (filtered)
        return filtered;
    if (code != -EACCES && code != -EPERM)
        return error_set(err, -code, "prof records no wakers: the kernel refuses the tracepoint: %s", strerror(-code));
    return error_set(
        err, -code,
        "prof records no wakers: the kernel refuses the tracepoint (kernel.perf_event_paranoid is %ld); 'sudo sysctl kernel.perf_event_paranoid=-1' permits it",
        proc_read_kernel_setting("perf_event_paranoid", 2));
}

int wakeups_open(struct wakeups *wakeups, bool have_ids, struct error *err)
{
    struct cpu_list online = {0};
    *wakeups = (struct wakeups){.have_ids = have_ids, .random = (uint64_t)getpid() << 1 | 1};
    if (proc_is_in_pid_namespace()) /* the tracepoint has pids of the outermost namespace, records those of prof's
                                       namespace */
        return error_set(
            err, EPERM,
            "prof records no wakers: this container has its own process IDs, but the kernel reports process IDs of the host");
    int code = read_tracefs(wakeups, err);
    if (!code)
        code = cpu_list_read_online(&online, err);
    for (size_t i = 0; !code && i < online.length; i++) {
        code = open_cpu(wakeups, online.data[i], err);
        if (code)
            explain_refusal(code, err);
    }
    for (size_t i = 0; !code && i < online.length && open_stacks(wakeups, online.data[i]); i++)
        continue;
    array_free(&online);
    if (code)
        wakeups_close(wakeups);
    return code;
}

void wakeups_filter_stacks(struct wakeups *wakeups, uint32_t least)
{
    char filter[96];
    snprintf(filter, sizeof(filter), "common_pid != 0 && !(common_flags & %d) && pid >= %" PRIu32, FLAG_HARD_INTERRUPT,
             least);
    wakeups->least = least;
    for (size_t i = 0; i < wakeups->stacks.length; i++)
        ioctl(wakeups->stacks.data[i].fd, PERF_EVENT_IOC_SET_FILTER, filter);
}

void wakeups_count(struct wakeups *wakeups, size_t cpu, const struct wakeup *wakeup, bool is_recorded)
{
    if (!wakeup->by_tid || wakeup->context == WAKEUP_BY_INTERRUPT || wakeup->woken < wakeups->least)
        return;
    wakeups->cpus.data[cpu].seen++;
    wakeups->cpus.data[cpu].recorded += is_recorded;
}

/* `seen`, `recorded`: wakeups a second. Returns 0 to turn the event off. */
static uint64_t choose_period(struct wakeups *wakeups, uint64_t seen, uint64_t recorded)
{
    uint64_t for_seen = seen / COPIES_A_SECOND, for_recorded = recorded / STACKS_A_SECOND;
    uint64_t mean = for_seen > for_recorded ? for_seen : for_recorded,
             random = draw_random_bits(&wakeups->random) >> 11;
    if (recorded > OFTEN && random % ROUNDS_OFF)
        return 0;
    return mean < 2 ? 1 : mean / 2 + random / ROUNDS_OFF % (mean + 1);
}

static void set_period(struct wakeup_cpu *cpu, uint64_t period)
{
    if (period == cpu->period)
        return;
    if (!period || !cpu->period)
        ioctl(cpu->fd, period ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
    if (period)
        ioctl(cpu->fd, PERF_EVENT_IOC_PERIOD, &period);
    cpu->period = period;
}

void wakeups_choose_periods(struct wakeups *wakeups, uint64_t now)
{
    uint64_t elapsed = now - wakeups->chosen;
    if (elapsed < CHOICE_NS)
        return;
    wakeups->chosen = now;
    for (size_t i = 0; i < wakeups->stacks.length; i++) {
        struct wakeup_cpu *cpu = &wakeups->cpus.data[i];
        uint64_t seen = cpu->seen * 1000000000 / elapsed, recorded = cpu->recorded * 1000000000 / elapsed;
        set_period(&wakeups->stacks.data[i], choose_period(wakeups, seen, recorded));
        cpu->seen = cpu->recorded = 0;
    }
}

void wakeups_stop(struct wakeups *wakeups)
{
    for (size_t i = 0; i < wakeups->cpus.length; i++)
        ioctl(wakeups->cpus.data[i].fd, PERF_EVENT_IOC_DISABLE, 0);
    for (size_t i = 0; i < wakeups->stacks.length; i++)
        ioctl(wakeups->stacks.data[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

static void close_cpu(struct wakeup_cpu *cpu)
{
    perf_ring_unmap(&cpu->ring);
    close(cpu->fd);
}

void wakeups_close(struct wakeups *wakeups)
{
    for (size_t i = 0; i < wakeups->cpus.length; i++)
        close_cpu(&wakeups->cpus.data[i]);
    for (size_t i = 0; i < wakeups->stacks.length; i++)
        close_cpu(&wakeups->stacks.data[i]);
    array_free(&wakeups->cpus);
    array_free(&wakeups->stacks);
}

/* ---- records ---- */

static enum wakeup_context get_context(uint8_t flags)
{
    return flags & (FLAG_HARD_INTERRUPT | FLAG_NMI) ? WAKEUP_BY_INTERRUPT
           : flags & FLAG_SOFT_INTERRUPT            ? WAKEUP_BY_SOFT_INTERRUPT
                                                    : WAKEUP_BY_THREAD;
}

struct perf_layout wakeups_get_stack_layout(const struct wakeups *wakeups)
{
    return (struct perf_layout){.sample_type = tracepoint_get_sample_type(wakeups->have_ids, true)};
}

bool wakeups_parse(const struct wakeups *wakeups, const void *bytes, size_t size, struct wakeup *wakeup)
{
    struct tracepoint_record record;
    bool failed = false;
    if (!tracepoint_parse(&record, bytes, size, wakeups->have_ids))
        return false;
    *wakeup = (struct wakeup){.by_pid = record.pid, .by_tid = record.tid, .time = record.time};
    wakeup->context = get_context(tracepoint_read_u8(&record, wakeups->layout.flags, &failed));
    wakeup->woken = tracepoint_read_u32(&record, wakeups->layout.woken, &failed);
    return !failed;
}
