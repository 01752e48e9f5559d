/*
 * Opens perf events with as many features as the system permits.
 *
 * Each CPU has one event with `inherit`: the kernel has no ring for an inherited event that is not bound to a CPU.
 * perf_attr.c drops features that the kernel refuses. After the features, prof reduces ring sizes (EPERM from mmap):
 * the limit is perf_event_mlock_kb per CPU plus RLIMIT_MEMLOCK. A ring should hold at least 16 samples, so smaller
 * rings mean shorter stack copies.
 */
#include "sample/perf_events.h"

#include "os/file_proc.h"
#include "sample/cpu_list.h"
#include "sample/perf_attr.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    STACK_MAX = 65528, /* the kernel's maximum */
    STACK_MAX_ABOVE_2_KHZ = 32768,
    STACK_MIN = 4096,
    SAMPLES_PER_RING = 16,
    RING_USUAL_MIN = 1024 * 1024, /* smallest usual ring, at any sampling rate */
    RING_MIN = 64 * 1024,         /* smallest ring, if the limit of locked memory is low */
    HEADROOM_MS = 50,     /* a ring should hold the samples of one busy CPU in this time; mapping takes 0.2 ms per MB */
    RING_MAX = 8 << 20,   /* limit of bytes for one ring */
    RINGS_MAX = 32 << 20, /* limit of bytes for the rings of all CPUs */

    /* The signal that announces samples. The default action ignores this signal, so a late signal does no harm after
     * the recording, whereas the default signal of events, SIGIO, would kill the process. */
    ANNOUNCEMENT = SIGURG
};

enum { ANY_CPU = -1 };

static void add_note(struct perf_events *events, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add_note(struct perf_events *events, const char *format, ...)
{
    if (events->note_count == PERF_NOTES)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(events->notes[events->note_count++], PERF_NOTE_SIZE, format, args);
    va_end(args);
}

/* ---- rings ---- */

static size_t get_power_of_two_below(size_t size)
{
    return size ? (size_t)1 << (63 - __builtin_clzll(size)) : 0;
}

/* Shrinks stack copies until a ring holds enough samples. A lost sample cannot be recovered, but a short copy can be
 * completed from the live process. */
static void fit_stack_to_rings(struct perf_events *events)
{
    size_t fitting = (events->ring_size / SAMPLES_PER_RING) & ~(size_t)7;
    if (fitting < STACK_MIN)
        fitting = STACK_MIN;
    if (events->stack_size > fitting)
        events->stack_size = (uint32_t)fitting;
}

static void choose_sizes(struct perf_events *events, size_t cpu_count)
{
    events->stack_size = events->rate > 2000 ? STACK_MAX_ABOVE_2_KHZ : STACK_MAX;
    size_t wanted = (size_t)((uint64_t)events->rate * events->stack_size * HEADROOM_MS / 1000);
    if (wanted < RING_USUAL_MIN)
        wanted = RING_USUAL_MIN;
    if (wanted > RING_MAX || events->sampling.list) /* other events have an unknown rate */
        wanted = RING_MAX;
    if (wanted > RINGS_MAX / cpu_count)
        wanted = RINGS_MAX / cpu_count;
    size_t size = get_power_of_two_below(wanted + wanted / 2);
    events->ring_size = size < RING_MIN ? RING_MIN : size;
    fit_stack_to_rings(events);
}

static int open_ring(struct perf_events *events, struct perf_cpu *cpu, struct error *err)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_DUMMY,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .watermark = 1,
        .wakeup_watermark = (uint32_t)(events->ring_size / 4),
        .use_clockid = 1, /* events must use the clock of their ring */
        .clockid = CLOCK_MONOTONIC,
    };
    int fd = perf_attr_open(&attr, (struct perf_target){0}, (int)cpu->cpu);
    if (fd < 0)
        return error_set(err, -fd, "cannot open the perf event of a ring buffer: %s", strerror(-fd));
    cpu->ring_fd = fd;
    return perf_ring_map(&cpu->ring, fd, events->ring_size, err);
}

static void close_ring(struct perf_cpu *cpu)
{
    perf_ring_unmap(&cpu->ring);
    if (cpu->ring_fd >= 0)
        close(cpu->ring_fd);
    cpu->ring_fd = -1;
}

static int open_rings(struct perf_events *events, struct error *err)
{
    int code = 0;
    for (size_t i = 0; i < events->cpus.length && !code; i++)
        code = open_ring(events, &events->cpus.data[i], err);
    return code;
}

static int open_largest_rings(struct perf_events *events, struct error *err)
{
    uint32_t wanted_stack = events->stack_size;
    int code;
    while ((code = open_rings(events, err)) == -EPERM && events->ring_size > RING_MIN / 4) {
        for (size_t i = 0; i < events->cpus.length; i++)
            close_ring(&events->cpus.data[i]);
        events->ring_size /= 2;
    }
    if (code == -EPERM)
        return error_set(
            err, EPERM,
            "cannot lock memory for ring buffers; raise the limit ('ulimit -l', in addition to %ld KiB per CPU from kernel.perf_event_mlock_kb), or end other profilers of this user",
            proc_read_kernel_setting("perf_event_mlock_kb", 516));
    if (code)
        return code;
    fit_stack_to_rings(events);
    if (events->stack_size < wanted_stack)
        add_note(
            events,
            "prof copies only %u KiB of each stack instead of %u KiB, because this user may lock too little memory; a higher 'ulimit -l' or kernel.perf_event_mlock_kb permits more",
            events->stack_size / 1024, (wanted_stack + 1023) / 1024);
    return 0;
}

/* ---- opening ---- */

static void choose_rate(struct perf_events *events, uint32_t rate)
{
    long most = proc_read_kernel_setting("perf_event_max_sample_rate", 100000);
    events->rate = rate;
    if (most > 0 && (long)rate > most) {
        events->rate = (uint32_t)most;
        add_note(events, "sampling at %ld Hz, not %u: kernel.perf_event_max_sample_rate is %ld", most, rate, most);
    }
}

static int open_announcements(struct perf_events *events, struct error *err)
{
    sigset_t announcement;
    sigemptyset(&announcement);
    sigaddset(&announcement, ANNOUNCEMENT);
    events->announcement_fd = signalfd(-1, &announcement, SFD_NONBLOCK | SFD_CLOEXEC);
    if (events->announcement_fd < 0)
        return error_set(err, errno, "cannot wait for samples: %s", strerror(errno));
    pthread_sigmask(SIG_BLOCK, &announcement, &events->mask);
    return 0;
}

/* Directs the announcements of the event to the calling thread. */
static int set_announcements(int event_fd, bool on)
{
    struct f_owner_ex this_thread = {.type = F_OWNER_TID, .pid = (pid_t)syscall(SYS_gettid)};
    return fcntl(event_fd, F_SETSIG, ANNOUNCEMENT) || fcntl(event_fd, F_SETOWN_EX, &this_thread) ||
           fcntl(event_fd, F_SETFL, on ? O_ASYNC : 0);
}

static int add_event(struct perf_cpu *cpu, struct perf_event_attr *attr, struct perf_target target)
{
    int fd = perf_attr_open(attr, target, (int)cpu->cpu);
    if (fd < 0)
        return fd;
    if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, cpu->ring_fd) || set_announcements(fd, cpu->announces)) {
        int code = -errno;
        close(fd);
        return code;
    }
    if (array_push(&cpu->events, fd))
        return 0;
    close(fd);
    return -ENOMEM;
}

static int add_other_events(struct perf_events *events, const struct perf_cpu *cpu, const struct perf_event_attr *clock,
                            struct perf_target target)
{
    const struct event_place place = {.pid = target.pid,
                                      .cpu = (int)cpu->cpu,
                                      .flags = target.is_cgroup ? PERF_FLAG_PID_CGROUP : 0,
                                      .ring_fd = cpu->ring_fd};
    return event_sampling_add(&events->sampling, clock, &place);
}

/* Counts the CPU time of all threads, as `perf stat` does, with one event without samples. The counters of the sampling
 * events include the cost of setting their timers, which is high for threads that switch often. A software clock also
 * counts kernel time, whatever the event excludes. */
static int add_cpu_clock(struct perf_events *events, struct perf_target target, int cpu)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .config = PERF_COUNT_SW_CPU_CLOCK,
                                   .disabled = events->at_exec,
                                   .enable_on_exec = events->at_exec,
                                   .inherit = !events->all,
                                   .inherit_thread = events->threads_only,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    int fd = perf_attr_open(&attr, target, cpu);
    if (fd < 0)
        return fd;
    if (array_push(&events->cpu_clocks, fd))
        return 0;
    close(fd);
    return -ENOMEM;
}

static void note_tier(struct perf_events *events)
{
    if (events->tier == PERF_TIER_USER)
        add_note(
            events,
            "prof records no kernel frames (kernel.perf_event_paranoid is %ld); 'sudo sysctl kernel.perf_event_paranoid=1' permits them",
            proc_read_kernel_setting("perf_event_paranoid", 2));
    if (events->tier == PERF_TIER_USER && !events->switches)
        add_note(events,
                 "prof also counts no CPU time inside the kernel: this kernel does not report context switches");
    if (!events->all && event_sampling_has_probes(&events->sampling))
        add_note(
            events,
            "probes count only in threads that exist at the start of the recording; record all processes (-a) to include later threads");
}

static int list_cpus(struct perf_events *events, const struct cpu_list *wanted, struct error *err)
{
    struct cpu_list online = {0};
    size_t sampled = 0;
    int code = cpu_list_read_online(&online, err);
    for (size_t i = 0; i < online.length && !code; i++) {
        struct perf_cpu cpu = {.cpu = online.data[i], .ring_fd = -1, .sampled = cpu_list_has(wanted, online.data[i])};
        sampled += cpu.sampled;
        if (!array_push(&events->cpus, cpu))
            code = error_no_memory(err);
    }
    events->some_cpus = sampled < online.length;
    if (!code && !sampled)
        code = error_set(err, ENODEV, "none of the CPUs to sample is online; %zu CPUs are online, starting at CPU %u",
                         online.length, online.length ? online.data[0] : 0);
    array_free(&online);
    return code;
}

/* Tests whether this user may sample the events other than the clock. */
static int try_other_events(const struct perf_events *events, struct error *err)
{
    const struct event_list *list = events->sampling.list;
    struct perf_event_attr clock = perf_attr_make_clock(events);
    struct event_place place = {.pid = events->all ? -1 : 0, .cpu = (int)events->cpus.data[0].cpu, .ring_fd = -1};
    struct error why;
    clock.disabled = 1;
    clock.enable_on_exec = 0;
    for (size_t i = 0; list && i < list->length; i++)
        if (event_check_access(&list->data[i], &clock, &place, &why))
            return error_set(err, -PERF_EVENT_REFUSED, "cannot record %s: %s", list->data[i].name, why.text);
    return 0;
}

/* Opens the events that report processes and mappings of the whole system. */
static int open_sideband(struct perf_events *events, struct error *err)
{
    struct perf_event_attr attr = perf_attr_make_sideband(events);
    int code = 0;
    for (size_t i = 0; i < events->cpus.length && !code; i++)
        code = add_event(&events->cpus.data[i], &attr, perf_target_all);
    return code ? error_set(err, -code, "cannot open a perf event of all processes: %s", strerror(-code)) : 0;
}

static int fail_too_many_files(const struct perf_events *events, struct error *err)
{
    return error_set(
        err, EMFILE,
        "too many open files: prof needs 2 for each of the %zu CPUs, and %zu more for each running thread; raise 'ulimit -n'",
        events->cpus.length, 1 + (events->sampling.list ? events->sampling.list->length : 0));
}

static int open_all(struct perf_events *events, const struct perf_options *options, struct error *err)
{
    events->switches = options->switches;
    int code = list_cpus(events, options->cpus, err);
    if (code)
        return code;
    events->at_exec = options->at_exec;
    events->all = options->all;
    events->threads_only = options->threads_only;
    events->no_samples = options->no_cpu_samples;
    events->sampling.list = options->events && options->events->length ? options->events : NULL;
    choose_rate(events, options->rate);
    choose_sizes(events, events->cpus.length);
    code = perf_attr_find_supported(events);
    if (code)
        return perf_attr_explain_refusal(events, code, err);
    note_tier(events);
    if (events->switches && !events->at_exec && !events->all && !events->hardware && !events->no_samples)
        events->rates.interval = UINT64_C(1000000000) / events->rate; /* the kernel rounds in the same way */
    code = try_other_events(events, err);
    if (!code)
        code = open_largest_rings(events, err);
    if (!code)
        code = open_announcements(events, err);
    if (!code && events->all)
        code = open_sideband(events, err);
    return code == -EMFILE ? fail_too_many_files(events, err) : code;
}

int perf_events_open(struct perf_events *events, const struct perf_options *options, struct error *err)
{
    *events = PERF_EVENTS_NONE;
    int code = open_all(events, options, err);
    if (code)
        perf_events_close(events);
    return code;
}

static int report_not_added(const struct perf_events *events, pid_t tid, int code, struct error *err)
{
    if (code == -ESRCH)
        return error_set(err, ESRCH, "thread %d does not exist", (int)tid);
    if (code == -EACCES || code == -EPERM)
        return error_set(
            err, -code,
            "this user may not sample process %d: it belongs to another user or has more permissions; run prof as its user or as root",
            (int)tid);
    if (code == -EMFILE)
        return fail_too_many_files(events, err);
    return error_set(err, -code, "cannot open a perf event for thread %d: %s", (int)tid, strerror(-code));
}

int perf_events_add_thread(struct perf_events *events, pid_t tid, struct error *err)
{
    const struct perf_target target = {.pid = tid};
    struct perf_event_attr clock = perf_attr_make_clock(events), sampling = perf_attr_make_sampling(events),
                           sideband = perf_attr_make_sideband(events);
    int code = events->some_cpus ? 0 : add_cpu_clock(events, target, ANY_CPU);
    if (!code && !perf_rate_begin_thread(&events->rates, (uint32_t)tid))
        code = -ENOMEM;
    for (size_t i = 0; i < events->cpus.length && !code; i++) {
        struct perf_cpu *cpu = &events->cpus.data[i];
        code = add_event(cpu, cpu->sampled ? &sampling : &sideband, target);
        if (!code && cpu->sampled && !perf_rate_add_event(&events->rates, cpu->events.data[cpu->events.length - 1]))
            code = -ENOMEM;
        if (!code && cpu->sampled)
            code = add_other_events(events, cpu, &clock, target);
        if (!code && events->some_cpus && cpu->sampled)
            code = add_cpu_clock(events, target, (int)cpu->cpu);
    }
    return code ? report_not_added(events, tid, code, err) : 0;
}

int perf_events_add_all(struct perf_events *events, int cgroup, struct error *err)
{
    const struct perf_target target =
        cgroup < 0 ? perf_target_all : (struct perf_target){.pid = cgroup, .is_cgroup = true};
    struct perf_event_attr attr = perf_attr_make_sampling(events), clock = perf_attr_make_clock(events);
    attr.mmap = attr.mmap2 = attr.mmap_data = attr.build_id = attr.comm = attr.comm_exec = attr.task = attr.ksymbol =
        attr.context_switch = 0; /* sideband */
    int code = 0;
    for (size_t i = 0; i < events->cpus.length && !code; i++) {
        struct perf_cpu *cpu = &events->cpus.data[i];
        if (!cpu->sampled)
            continue;
        code = add_event(cpu, &attr, target);
        if (!code)
            code = add_other_events(events, cpu, &clock, target);
        if (!code && target.is_cgroup) /* the clock of a CPU never stops */
            code = add_cpu_clock(events, target, (int)cpu->cpu);
    }
    if (code && target.is_cgroup)
        return error_set(
            err, -code, "cannot sample the cgroup: %s%s", strerror(-code),
            code == -EINVAL || code == -EBADF
                ? " (the kernel has no perf events for cgroups, or this hierarchy lacks the perf_event controller)"
                : "");
    return code == -EMFILE ? fail_too_many_files(events, err)
           : code          ? error_set(err, -code, "cannot sample all processes: %s", strerror(-code))
                           : 0;
}

void perf_events_set_announcing(struct perf_cpu *cpu, bool announce)
{
    if (cpu->announces == announce)
        return;
    for (size_t i = 0; i < cpu->events.length; i++)
        fcntl(cpu->events.data[i], F_SETFL, announce ? O_ASYNC : 0);
    cpu->announces = announce;
}

void perf_events_clear_announcements(struct perf_events *events)
{
    struct signalfd_siginfo signal; /* at most one: the kernel does not queue a pending signal again */
    (void)!read(events->announcement_fd, &signal, sizeof(signal));
}

void perf_events_stop(struct perf_events *events)
{
    for (size_t i = 0; i < events->cpus.length; i++)
        for (size_t j = 0; j < events->cpus.data[i].events.length; j++)
            ioctl(events->cpus.data[i].events.data[j], PERF_EVENT_IOC_DISABLE, 0);
    event_sampling_stop(&events->sampling);
    for (size_t i = 0; i < events->cpu_clocks.length; i++)
        ioctl(events->cpu_clocks.data[i], PERF_EVENT_IOC_DISABLE, 0);
}

/* Returns the clock's samples lost on this CPU. In a recording of the whole system, the first event of a CPU only
 * reports processes and mappings, so this function skips the event. */
static uint64_t count_lost_on_cpu(const struct perf_events *events, const struct perf_cpu *cpu)
{
    uint64_t lost = 0;
    for (size_t i = events->all ? 1 : 0; i < cpu->events.length; i++) {
        uint64_t values[5] = {0}; /* value, enabled, running, id, lost */
        if (read(cpu->events.data[i], values, sizeof(values)) == sizeof(values))
            lost += values[4];
    }
    return lost;
}

uint64_t perf_events_count_lost(struct perf_events *events, size_t ring, uint64_t records)
{
    struct perf_cpu *cpu = &events->cpus.data[ring];
    if (!events->all || !(events->layout.read_format & PERF_FORMAT_LOST) || events->sampling.list)
        return records;
    uint64_t before = cpu->lost;
    cpu->lost = count_lost_on_cpu(events, cpu);
    return cpu->lost - before;
}

/* The counters sum up all threads, including those that have ended. */
struct perf_totals perf_events_read_totals(const struct perf_events *events)
{
    struct perf_totals totals = {0};
    for (size_t i = 0; i < events->cpu_clocks.length; i++) {
        uint64_t time;
        if (read(events->cpu_clocks.data[i], &time, sizeof(time)) == sizeof(time))
            totals.cpu_time += time;
    }
    if (!(events->layout.read_format & PERF_FORMAT_LOST))
        return totals;
    for (size_t i = 0; i < events->cpus.length; i++)
        totals.lost += count_lost_on_cpu(events, &events->cpus.data[i]);
    return totals;
}

static void close_all(struct perf_fds *fds)
{
    for (size_t i = 0; i < fds->length; i++)
        close(fds->data[i]);
    array_free(fds);
}

uint32_t perf_events_count_new_cpus(const struct perf_events *events)
{
    struct cpu_list online = {0};
    uint32_t count = 0;
    if (cpu_list_read_online(&online, NULL) == 0) {
        for (size_t i = 0; i < online.length; i++) {
            bool known = false;
            for (size_t j = 0; j < events->cpus.length; j++)
                known |= events->cpus.data[j].cpu == online.data[i];
            count += !known;
        }
    }
    array_free(&online);
    return count;
}

void perf_events_close(struct perf_events *events)
{
    perf_rate_destroy(&events->rates);
    for (size_t i = 0; i < events->cpus.length; i++) {
        close_all(&events->cpus.data[i].events);
        close_ring(&events->cpus.data[i]);
    }
    event_sampling_close(&events->sampling);
    close_all(&events->cpu_clocks);
    if (events->announcement_fd >= 0) {
        close(events->announcement_fd);
        pthread_sigmask(SIG_SETMASK, &events->mask, NULL);
    }
    events->announcement_fd = -1;
    array_free(&events->cpus);
}
