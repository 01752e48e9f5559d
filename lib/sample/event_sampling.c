#include "sample/event_sampling.h"

#include "os/file_proc.h"
#include "sample/perf_filter.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    STACK_OF_PERIODS = 16 * 1024, /* bytes of stack copied with samples of events with a period */
    SEMAPHORE_SHIFT = 32          /* "ref_ctr_offset" of the uprobe PMU's format */
};

/* ---- one event ---- */

/* For software events and tracepoints with a period, the kernel (perf_swevent_event()) ignores the period, and samples
 * every occurrence, if samples carry the period field. So the samples of such events omit the field. */
static bool has_no_period_field(const struct event *event)
{
    return event->period > 1 && (event->kind == EVENT_SOFTWARE || event->kind >= EVENT_TRACEPOINT);
}

/* Copies the other attributes of the clock: sample fields, inheritance, start. Only the clock reports processes and
 * mappings. */
static struct perf_event_attr make_attr(const struct event *event, const struct event_point *point,
                                        const struct perf_event_attr *clock)
{
    struct perf_event_attr attr = clock ? *clock
                                        : (struct perf_event_attr){.sample_freq = 1000,
                                                                   .freq = 1,
                                                                   .disabled = 1,
                                                                   .exclude_hv = 1,
                                                                   .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID};
    attr.size = sizeof(attr);
    attr.type = event->type;
    attr.config = event->config;
    attr.mmap = attr.mmap2 = attr.mmap_data = attr.build_id = attr.comm = attr.comm_exec = attr.task = 0;
    attr.context_switch = attr.ksymbol = 0;
    attr.exclude_idle = 0;
    if (event->in_kernel)
        attr.exclude_kernel = 0;
    if (event->only_user)
        attr.exclude_kernel = 1;
    if (event->only_kernel)
        attr.exclude_user = 1;
    if (event_has_period(event)) {
        attr.freq = 0;
        attr.sample_period = event->period;
        if (attr.sample_stack_user > STACK_OF_PERIODS)
            attr.sample_stack_user = STACK_OF_PERIODS;
    }
    if (has_no_period_field(event))
        attr.sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
    if (point) {
        attr.config |= point->semaphore << SEMAPHORE_SHIFT;
        attr.uprobe_path = (uint64_t)(uintptr_t)event->path;
        /* Probes are not inherited: the kernel (perf_uprobe_init()) would read the path again, in the memory of the
         * forking thread, and the target could no longer start threads or processes (EFAULT). */
        attr.inherit = attr.inherit_thread = 0;
        attr.probe_offset = point->offset;
    }
    return attr;
}

bool event_sampling_has_probes(const struct event_sampling *sampling)
{
    for (size_t i = 0; sampling->list && i < sampling->list->length; i++)
        if (sampling->list->data[i].points.length)
            return true;
    return false;
}

static size_t count_points(const struct event *event)
{
    return event->points.length ? event->points.length : 1;
}

static int open_point(const struct event *event, size_t i, const struct perf_event_attr *clock,
                      const struct event_place *place)
{
    const struct event_point *point = i < event->points.length ? &event->points.data[i] : NULL;
    struct perf_event_attr attr = make_attr(event, point, clock);
    long fd = syscall(SYS_perf_event_open, &attr, place->pid, place->cpu, -1, place->flags | PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

/* ---- reasons of refusals ---- */

static int explain_refusal(const struct event *event, int code, struct error *err)
{
    int filtered = perf_filter_explain_refusal(code, err);
    if (filtered)
        return filtered;
    long paranoid = proc_read_kernel_setting("perf_event_paranoid", 2);
    bool is_hardware = event->kind == EVENT_HARDWARE || event->kind == EVENT_CACHE || event->kind == EVENT_RAW;
    bool is_missing = code == -ENOENT || code == -EOPNOTSUPP || code == -ENODEV || (code == -EINVAL && is_hardware);
    bool is_denied = code == -EACCES || code == -EPERM;
    if (is_hardware && is_missing && access("/sys/bus/event_source/devices/cpu", F_OK) &&
        access("/sys/bus/event_source/devices/cpu_core", F_OK))
        return error_set(
            err, -code,
            "the processor's counters (PMU) are not available, as in most virtual machines; use the host, or a virtual PMU");
    if (is_hardware && is_missing)
        return error_set(err, -code, "this processor has no counter for this event");
    if (event->kind >= EVENT_UPROBE && is_denied)
        return error_set(
            err, -code,
            "the kernel permits probes only to root and to programs with the capability CAP_PERFMON, regardless of kernel.perf_event_paranoid (now %ld); run prof with sudo",
            paranoid);
    if (is_denied && event->in_kernel && paranoid > 1)
        return error_set(
            err, -code,
            "this event happens in the kernel, which kernel.perf_event_paranoid (%ld) hides from this user; 'sudo sysctl kernel.perf_event_paranoid=1' or the capability CAP_PERFMON permits it",
            paranoid);
    if (is_denied)
        return error_set(
            err, -code,
            "the kernel does not permit this event (perf_event_open: %s; kernel.perf_event_paranoid is %ld); 'sudo sysctl kernel.perf_event_paranoid=1' or the capability CAP_PERFMON may permit it",
            strerror(-code), paranoid);
    return error_set(err, -code, "the kernel refuses this event (perf_event_open: %s)", strerror(-code));
}

int event_check_access(const struct event *event, const struct perf_event_attr *clock, const struct event_place *place,
                       struct error *err)
{
    struct perf_event_attr user_only = {.sample_freq = 1000, .freq = 1, .disabled = 1, .exclude_hv = 1};
    user_only.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
    user_only.exclude_kernel = 1;
    for (size_t i = 0; i < count_points(event); i++) {
        int fd = open_point(event, i, clock, place);
        if ((fd == -EACCES || fd == -EPERM) && !clock && !event->in_kernel)
            fd = open_point(event, i, &user_only, place);
        if (fd < 0)
            return explain_refusal(event, fd, err);
        close(fd);
    }
    return 0;
}

/* ---- all events ---- */

static int add_point(struct event_sampling *sampling, uint32_t number, size_t point,
                     const struct perf_event_attr *clock, const struct event_place *place)
{
    uint64_t id;
    int fd = open_point(&sampling->list->data[number], point, clock, place);
    if (fd < 0)
        return fd;
    if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, place->ring_fd) || ioctl(fd, PERF_EVENT_IOC_ID, &id)) {
        int code = -errno;
        close(fd);
        return code;
    }
    struct sampled_event_fd added = {.fd = fd, .event = number};
    if (!array_push(&sampling->fds, added)) {
        close(fd);
        return -ENOMEM;
    }
    return hash_set(&sampling->numbers, id, number) ? 0 : -ENOMEM;
}

int event_sampling_add(struct event_sampling *sampling, const struct perf_event_attr *clock,
                       const struct event_place *place)
{
    int code = 0;
    for (size_t i = 0; sampling->list && i < sampling->list->length && !code; i++)
        for (size_t k = 0; k < count_points(&sampling->list->data[i]) && !code; k++)
            code = add_point(sampling, (uint32_t)i, k, clock, place);
    return code;
}

uint32_t event_sampling_find_number(const struct event_sampling *sampling, uint64_t id)
{
    uint32_t number = sampling->numbers.length ? hash_get(&sampling->numbers, id) : HASH_MISSING;
    return number == HASH_MISSING ? 0 : number + 1;
}

struct perf_layout event_sampling_get_layout(const struct event_sampling *sampling, const struct perf_layout *layout,
                                             uint32_t number)
{
    struct perf_layout own = *layout;
    if (number && has_no_period_field(&sampling->list->data[number - 1]))
        own.sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
    return own;
}

uint64_t event_sampling_get_period(const struct event_sampling *sampling, uint32_t number, uint64_t period)
{
    const struct event *event = &sampling->list->data[number - 1];
    return has_no_period_field(event) ? event->period : period;
}

void event_sampling_stop(const struct event_sampling *sampling)
{
    for (size_t i = 0; i < sampling->fds.length; i++)
        ioctl(sampling->fds.data[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

struct event_totals event_sampling_read_totals(const struct event_sampling *sampling, uint64_t read_format,
                                               uint32_t event)
{
    struct event_totals totals = {0};
    for (size_t i = 0; i < sampling->fds.length; i++) {
        uint64_t values[5] = {0}; /* fields: value, enabled, running, id, lost */
        if (sampling->fds.data[i].event != event || read(sampling->fds.data[i].fd, values, sizeof(values)) <= 0)
            continue;
        totals.count += values[0];
        totals.lost += read_format & PERF_FORMAT_LOST ? values[4] : 0;
    }
    return totals;
}

void event_sampling_close(struct event_sampling *sampling)
{
    for (size_t i = 0; i < sampling->fds.length; i++)
        close(sampling->fds.data[i].fd);
    array_free(&sampling->fds);
    hash_destroy(&sampling->numbers);
}
