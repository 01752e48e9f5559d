/*
 * A record is a perf sample with the fields of the tracepoint behind it ("raw"), whose places the kernel tells in
 * tracefs, events/sched/sched_waking/format:
 *
 *     field:unsigned char common_flags; offset:2; size:1; signed:0;
 *     field:pid_t pid;                  offset:24; size:4; signed:1;
 */
#include "sample/wakeups.h"

#include "base/cursor.h"
#include "base/file_io.h"
#include "base/file_proc.h"
#include "sample/cpu_list.h"
#include "sample/tracefs.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    RING_SIZE = 512 * 1024, /* 6,000 wakeups: those of 40 ms at 150,000 a second */
    RING_MIN = 32 * 1024,   /* where little may be locked */
    FLAG_HARD_INTERRUPT = 0x08,
    FLAG_SOFT_INTERRUPT = 0x10,
    FLAG_NMI = 0x40,
};

/* ---- where the fields are ---- */

static bool field_offset(const char *format, const char *field, size_t *offset)
{
    static const char key[] = "offset:";
    const char *at = strstr(format, field), *line_end = at ? strchr(at, '\n') : NULL;
    const char *number = at ? strstr(at, key) : NULL;
    if (!number || (line_end && number > line_end))
        return false;
    *offset = strtoul(number + strlen(key), NULL, 10);
    return true;
}

bool wakeup_layout_parse(struct wakeup_layout *layout, const char *format)
{
    return field_offset(format, "common_flags;", &layout->flags) && field_offset(format, " pid;", &layout->woken);
}

static int read_tracefs(struct wakeups *wakeups, struct error *err)
{
    static const char *const folders[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
    bool is_closed = false;
    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
        char path[96], id[32], format[4096];
        snprintf(path, sizeof(path), "%s/events/sched/sched_waking/id", folders[i]);
        is_closed |= access(path, R_OK) && errno == EACCES;
        if (!file_read_text(path, id, sizeof(id)))
            continue;
        snprintf(path, sizeof(path), "%s/events/sched/sched_waking/format", folders[i]);
        wakeups->layout.id = strtoull(id, NULL, 10);
        if (file_read_text(path, format, sizeof(format)) && wakeup_layout_parse(&wakeups->layout, format))
            return 0;
    }
    char command[TRACEFS_COMMAND];
    tracefs_command(command, is_closed);
    return is_closed
               ? error_set(err, EACCES,
                           "who woke whom is not recorded: this user may not read tracefs; 'sudo %s' allows it",
                           command)
               : error_set(err, ENOENT,
                           "who woke whom is not recorded: the tracepoint sched_waking is not there; 'sudo %s' brings "
                           "it, if the kernel has it",
                           command);
}

/* ---- events ---- */

static int open_event(const struct wakeups *wakeups, uint32_t cpu, size_t ring_size)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_TRACEPOINT,
        .size = sizeof(attr),
        .config = wakeups->layout.id,
        .sample_period = 1,
        .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW |
                       (wakeups->have_ids ? PERF_SAMPLE_ID : 0),
        .sample_id_all = 1,
        .watermark = 1,
        .wakeup_watermark = (uint32_t)(ring_size / 4),
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
    long fd = syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

static int open_cpu(struct wakeups *wakeups, uint32_t cpu, struct error *err)
{
    int code = -EPERM;
    for (size_t size = RING_SIZE; code == -EPERM && size >= RING_MIN; size /= 2) {
        struct wakeup_cpu opened = {.fd = open_event(wakeups, cpu, size)};
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

static int explain(int code, struct error *err)
{
    if (code != -EACCES && code != -EPERM)
        return error_set(err, -code, "who woke whom is not recorded: the kernel refuses the tracepoint: %s",
                         strerror(-code));
    return error_set(err, -code,
                     "who woke whom is not recorded: the kernel refuses the tracepoint (kernel.perf_event_paranoid is "
                     "%ld); 'sudo sysctl kernel.perf_event_paranoid=-1' allows it",
                     proc_kernel_setting("perf_event_paranoid", 2));
}

/* The tracepoint has the numbers of the outermost namespace, records those of ours. */
static bool is_in_pid_namespace(void)
{
    enum { OUTERMOST_INODE = 0xEFFFFFFC }; /* PROC_PID_INIT_INO of the kernel */
    uint64_t own = proc_namespace("self", "pid");
    return own && own != (uint32_t)OUTERMOST_INODE;
}

int wakeups_open(struct wakeups *wakeups, bool have_ids, struct error *err)
{
    struct cpu_list online = {0};
    *wakeups = (struct wakeups){.have_ids = have_ids};
    if (is_in_pid_namespace())
        return error_set(err, EPERM,
                         "who woke whom is not recorded: this is a container with process ids of its own, and the "
                         "kernel tells those outside");
    int code = read_tracefs(wakeups, err);
    if (!code)
        code = cpu_list_online(&online, err);
    for (size_t i = 0; !code && i < online.length; i++) {
        code = open_cpu(wakeups, online.data[i], err);
        if (code)
            explain(code, err);
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

static enum wakeup_context context_of(uint8_t flags)
{
    return flags & (FLAG_HARD_INTERRUPT | FLAG_NMI) ? WAKEUP_BY_INTERRUPT
           : flags & FLAG_SOFT_INTERRUPT            ? WAKEUP_BY_SOFT_INTERRUPT
                                                    : WAKEUP_BY_THREAD;
}

static struct cursor field_at(const unsigned char *fields, size_t size, size_t offset)
{
    return offset < size ? cursor_of(fields + offset, size - offset) : cursor_of(fields, 0);
}

bool wakeups_parse(const struct wakeups *wakeups, const void *bytes, size_t size, struct wakeup *wakeup)
{
    struct cursor c = cursor_of(bytes, size);
    uint32_t type = cursor_u32(&c);
    cursor_u32(&c); /* misc, size */
    cursor_u64(&c); /* ip */
    *wakeup = (struct wakeup){.by_pid = cursor_u32(&c)};
    wakeup->by_tid = cursor_u32(&c);
    wakeup->time = cursor_u64(&c);
    if (wakeups->have_ids)
        cursor_u64(&c);
    cursor_u64(&c); /* cpu */
    size_t length = cursor_u32(&c);
    if (c.failed || type != PERF_RECORD_SAMPLE || length > cursor_left(&c))
        return false;
    const unsigned char *fields = cursor_bytes(&c, length);
    struct cursor flags = field_at(fields, length, wakeups->layout.flags);
    struct cursor woken = field_at(fields, length, wakeups->layout.woken);
    wakeup->context = context_of(cursor_u8(&flags));
    wakeup->woken = cursor_u32(&woken);
    return !flags.failed && !woken.failed;
}
