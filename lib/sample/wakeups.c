/*
 * A record is a perf sample followed by the fields of its tracepoint ("raw"). tracefs has their offsets, in
 * events/sched/sched_waking/format:
 *
 *     field:unsigned char common_flags; offset:2; size:1; signed:0;
 *     field:pid_t pid;                  offset:24; size:4; signed:1;
 */
#include "sample/wakeups.h"

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
    RING_SIZE = 512 * 1024, /* 6,000 wakeups: 40 ms at 150,000 a second */
    RING_MIN = 32 * 1024,   /* if the limit of locked memory is low */
    FLAG_HARD_INTERRUPT = 0x08,
    FLAG_SOFT_INTERRUPT = 0x10,
    FLAG_NMI = 0x40,
};

/* ---- where the fields are ---- */

bool wakeup_layout_parse(struct wakeup_layout *layout, const char *format)
{
    return tracefs_field_offset(format, "common_flags;", &layout->flags) &&
           tracefs_field_offset(format, " pid;", &layout->woken);
}

static int read_tracefs(struct wakeups *wakeups, struct error *err)
{
    const char *directory;
    char path[96], format[4096];
    int code = tracefs_find(&directory, err);
    if (!code)
        code = tracefs_event_id("sched", "sched_waking", &wakeups->layout.id, err);
    if (!code) {
        snprintf(path, sizeof(path), "%s/events/sched/sched_waking/format", directory);
        if (file_read_text(path, format, sizeof(format)) && wakeup_layout_parse(&wakeups->layout, format))
            return 0;
    }
    bool is_closed = code == -EACCES;
    char command[TRACEFS_COMMAND];
    tracefs_command(command, is_closed);
    return is_closed
               ? error_set(err, EACCES, "prof records no wakers: this user may not read tracefs; 'sudo %s' permits it",
                           command)
               : error_set(
                     err, ENOENT,
                     "prof records no wakers: the tracepoint sched_waking is missing; 'sudo %s' adds it, if the kernel has it",
                     command);
}

/* ---- events ---- */

static int open_cpu(struct wakeups *wakeups, uint32_t cpu, struct error *err)
{
    int code = -EPERM;
    for (size_t size = RING_SIZE; code == -EPERM && size >= RING_MIN; size /= 2) {
        struct wakeup_cpu opened = {.fd = tracepoint_open(wakeups->layout.id, cpu, wakeups->have_ids, size)};
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
    int filtered = perf_filter_refused(code, err);
    if (filtered)
        return filtered;
    if (code != -EACCES && code != -EPERM)
        return error_set(err, -code, "prof records no wakers: the kernel refuses the tracepoint: %s", strerror(-code));
    return error_set(
        err, -code,
        "prof records no wakers: the kernel refuses the tracepoint (kernel.perf_event_paranoid is %ld); 'sudo sysctl kernel.perf_event_paranoid=-1' permits it",
        proc_kernel_setting("perf_event_paranoid", 2));
}

int wakeups_open(struct wakeups *wakeups, bool have_ids, struct error *err)
{
    struct cpu_list online = {0};
    *wakeups = (struct wakeups){.have_ids = have_ids};
    if (proc_is_in_pid_namespace()) /* the tracepoint has pids of the outermost namespace, records those of prof's
                                       namespace */
        return error_set(
            err, EPERM,
            "prof records no wakers: this container has its own process IDs, but the kernel reports process IDs of the host");
    int code = read_tracefs(wakeups, err);
    if (!code)
        code = cpu_list_online(&online, err);
    for (size_t i = 0; !code && i < online.length; i++) {
        code = open_cpu(wakeups, online.data[i], err);
        if (code)
            explain_refusal(code, err);
    }
    array_free(&online);
    if (code)
        wakeups_close(wakeups);
    return code;
}

void wakeups_stop(struct wakeups *wakeups)
{
    for (size_t i = 0; i < wakeups->cpus.length; i++)
        ioctl(wakeups->cpus.data[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

void wakeups_close(struct wakeups *wakeups)
{
    for (size_t i = 0; i < wakeups->cpus.length; i++) {
        perf_ring_unmap(&wakeups->cpus.data[i].ring);
        close(wakeups->cpus.data[i].fd);
    }
    array_free(&wakeups->cpus);
}

/* ---- records ---- */

static enum wakeup_context get_context(uint8_t flags)
{
    return flags & (FLAG_HARD_INTERRUPT | FLAG_NMI) ? WAKEUP_BY_INTERRUPT
           : flags & FLAG_SOFT_INTERRUPT            ? WAKEUP_BY_SOFT_INTERRUPT
                                                    : WAKEUP_BY_THREAD;
}

bool wakeups_parse(const struct wakeups *wakeups, const void *bytes, size_t size, struct wakeup *wakeup)
{
    struct tracepoint_record record;
    bool failed = false;
    if (!tracepoint_parse(&record, bytes, size, wakeups->have_ids))
        return false;
    *wakeup = (struct wakeup){.by_pid = record.pid, .by_tid = record.tid, .time = record.time};
    wakeup->context = get_context(tracepoint_u8(&record, wakeups->layout.flags, &failed));
    wakeup->woken = tracepoint_u32(&record, wakeups->layout.woken, &failed);
    return !failed;
}
