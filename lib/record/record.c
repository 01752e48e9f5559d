/*
 * The recording loop: sleep until there is something to read, read all rings in causal order, tell the tracker about
 * processes and mappings, walk the stack of each sample where it lies in its ring, and append the chain of addresses to
 * the spool.
 *
 * Stacks are walked at once because they are large (up to 64 KiB each, 64 MB a second for each busy CPU at 1 kHz) and
 * their call chains are small (some 10 bytes); and because what lies above the copy can still be read then
 * (stack_reader.c, wakeup_mode.c). Nothing here grows with the length of a recording.
 */
#include "record/record.h"

#include "base/clock.h"
#include "base/path.h"
#include "record/attach.h"
#include "record/kernel_map.h"
#include "record/launch.h"
#include "record/library_table.h"
#include "record/metadata.h"
#include "record/scheduling.h"
#include "record/spool.h"
#include "record/stack_reader.h"
#include "record/tracker.h"
#include "record/wakeup_mode.h"
#include "sample/cpu_list.h"
#include "sample/perf_events.h"
#include "sample/perf_merge.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

enum {
    IDLE_MS = 100,       /* between two looks at a target that is no longer sampled */
    ROUNDS_AT_ONCE = 64, /* before signals are looked at again */
    FAST_START_HZ = 2000 /* a rate above it is too high to start in the fast mode */
};

static const uint64_t flush_interval = SECOND;            /* what a killed recorder loses at most */
static const uint64_t look_interval = 40 * SECOND / 1000; /* between two looks at the rings; more would save little */
enum { MAX_LOOK_DOUBLINGS = 3 };                          /* where nothing happens, a look every 320 ms is enough */

struct recording {
    const struct record_options *options;
    struct record_result *result;
    struct launch target;
    bool target_reaped;
    char **running_command;  /* of the first process of options.pids */
    struct perf_fds pid_fds; /* of those of options.pids that still run */

    struct perf_events events;
    struct perf_merge *merge;
    struct wakeup_mode *wakeup_modes; /* for each CPU */
    struct spool_writer *spool;
    struct library_table *libraries;
    struct tracker *tracker;
    struct stack_reader reader;
    uint64_t *frames; /* CHUNK_MAX_FRAMES */

    int epoll_fd, signal_fd;
    uint64_t started, next_flush; /* ns */
    bool ending;                  /* result.end says why */
    bool interrupted;             /* one SIGINT came */
    bool kernel_mapped;
    unsigned empty_looks; /* at the rings, one after the other */
    struct cpu_pin pin;

    uint64_t samples, truncated, lost_records;
    uint64_t truncated_by_reason[UNWIND_ENDS];
};

/* ---- samples ---- */

static size_t copy_kernel_frames(const struct perf_sample *sample, uint64_t *frames, size_t max)
{
    size_t count = 0;
    for (size_t i = 0; i < sample->callchain_length && count < max; i++) {
        uint64_t address;
        memcpy(&address, sample->callchain + 8 * i, sizeof(address));
        if (address >= (uint64_t)PERF_CONTEXT_MAX)
            continue;
        frames[count] = count ? address - 1 : address; /* callers are inside their call instruction */
        count++;
    }
    return count;
}

struct user_stack {
    size_t frames;
    uint32_t flags;
    enum wakeup_stack depth;
};

/* Returns no frames and UNWIND_COMPLETE if execve has dropped the old program: only kernel frames are left. */
static struct unwind_result walk(struct recording *recording, const struct perf_record *record,
                                 struct tracked_process *process, uint64_t *frames, size_t max)
{
    const struct perf_sample *sample = &record->sample;
    struct unwind_regs regs;
    _Static_assert(sizeof(regs.r) == sizeof(sample->registers), "both are the registers by their DWARF numbers");
    memcpy(regs.r, sample->registers, sizeof(regs.r));
    struct unwind_stack stack = {.sp = regs.r[UNWIND_REG_SP],
                                 .bytes = sample->stack,
                                 .size = sample->stack_size,
                                 .read_above = stack_reader_read,
                                 .read_off_copied_stack = stack_reader_read_off_copied_stack,
                                 .read_code = stack_reader_read_code,
                                 .context = &recording->reader};
    if (sample->callchain_length && unwind_has_no_user_stack(&regs, &stack))
        return (struct unwind_result){.end = UNWIND_COMPLETE};
    stack_reader_start(&recording->reader, record->pid, record->time, stack.sp, stack.bytes, stack.size,
                       sample->stack_full);
    if (process->dump)
        jitdump_unwind_follow(process->dump, &process->space);
    return unwind_walk(&process->space, &regs, &stack, frames, max);
}

static int walk_user_stack(struct recording *recording, const struct perf_record *record,
                           struct tracked_process *process, uint64_t *frames, size_t max, struct user_stack *user,
                           struct error *err)
{
    struct unwind_result result = {.frames = 1, .end = UNWIND_32_BIT};
    *user = (struct user_stack){.depth = WAKEUP_STACK_FITS};
    if (record->sample.registers_abi == PERF_SAMPLE_REGS_ABI_NONE)
        return 0; /* the process is exiting: its memory is gone */
    if (record->sample.registers_abi == PERF_SAMPLE_REGS_ABI_64)
        result = walk(recording, record, process, frames, max);
    else
        frames[0] = record->sample.registers[UNWIND_REG_PC];
    if (result.end == UNWIND_NO_MODULE) {
        bool changed;
        int code = tracker_refresh(recording->tracker, process, record->time, &changed, err);
        if (code)
            return code;
        if (changed)
            result = walk(recording, record, process, frames, max);
    }
    user->frames = result.frames;
    if (result.end != UNWIND_COMPLETE)
        user->flags |= SAMPLE_TRUNCATED;
    recording->truncated_by_reason[result.end] += result.end != UNWIND_COMPLETE;
    if (result.used_no_cfi)
        user->flags |= SAMPLE_WITHOUT_CFI;
    if (result.used_read_above)
        user->flags |= SAMPLE_COMPLETED_LIVE;
    bool is_short = result.end == UNWIND_STACK_SHORT || result.end == UNWIND_OFF_COPIED_STACK;
    bool may_be_deeper = record->sample.stack_full || recording->reader.went_off_copied_stack;
    if (may_be_deeper && (result.used_read_above || is_short))
        user->depth = recording->reader.was_late ? WAKEUP_STACK_LATE : WAKEUP_STACK_SHORT;
    return 0;
}

/* The counter where there is one; the sampling period of a clock is a time as well, that of cycles only nominally. */
static uint64_t cpu_time_of(const struct recording *recording, struct tracked_thread *thread,
                            const struct perf_record *record)
{
    const struct perf_sample *sample = &record->sample;
    if (recording->events.counts)
        return thread_clock_advance(&thread->clock, sample->id,
                                    recording->events.hardware ? sample->running : sample->value, record->time);
    return recording->events.hardware ? SECOND / recording->events.rate : sample->period;
}

static int take_sample(struct recording *recording, const struct perf_record *record, size_t cpu_index,
                       struct error *err)
{
    struct tracked_thread *thread;
    struct tracked_process *process;
    int code = tracker_find(recording->tracker, record->pid, record->tid, record->time, &thread, &process, err);
    if (code)
        return code;
    uint64_t *frames = recording->frames;
    size_t kernel_frames = copy_kernel_frames(&record->sample, frames, CHUNK_MAX_FRAMES / 2);
    if (kernel_frames && !recording->kernel_mapped) {
        recording->kernel_mapped = true;
        code = kernel_map_write(recording->libraries, recording->spool, record->time, err);
        if (code)
            return code;
    }
    struct user_stack user;
    code = walk_user_stack(recording, record, process, frames + kernel_frames, CHUNK_MAX_FRAMES - kernel_frames, &user,
                           err);
    if (code)
        return code;
    struct sample sample = {.thread = thread->number,
                            .cpu = record->cpu,
                            .time = record->time,
                            .cpu_time = cpu_time_of(recording, thread, record),
                            .flags = user.flags,
                            .frame_count = (uint32_t)(kernel_frames + user.frames),
                            .kernel_frame_count = (uint32_t)kernel_frames,
                            .frames = frames};
    if (!sample.frame_count) {
        frames[0] = record->sample.ip;
        sample.frame_count = 1;
    }
    recording->samples++;
    recording->truncated += (sample.flags & SAMPLE_TRUNCATED) != 0;
    wakeup_mode_sample(&recording->wakeup_modes[cpu_index], record->time, user.depth);
    if (user.depth != WAKEUP_STACK_FITS)
        cpu_pin_deep_stack(&recording->pin, sample.cpu, record->time);
    return spool_writer_sample(recording->spool, &sample, err);
}

static int take_record(struct recording *recording, const struct perf_merge_record *raw, struct error *err)
{
    struct perf_record record;
    if (perf_record_parse(&recording->events.layout, raw->bytes, raw->size, &record)) {
        recording->lost_records++;
        return 0;
    }
    if (record.type == PERF_RECORD_SAMPLE)
        return take_sample(recording, &record, raw->ring, err);
    if (record.type == PERF_RECORD_KSYMBOL)
        return kernel_map_symbol(recording->libraries, recording->spool, record.time, &record.kernel_symbol, err);
    if (record.type == PERF_RECORD_LOST || record.type == PERF_RECORD_LOST_SAMPLES) {
        recording->lost_records += record.lost;
        wakeup_mode_lost(&recording->wakeup_modes[raw->ring], record.time);
    }
    return tracker_record(recording->tracker, &record, err);
}

/* Reads one round. Returns 1 if there may be more, 0 if the rings were empty. */
static int read_round(struct recording *recording, struct error *err)
{
    struct perf_merge_record raw;
    if (!perf_merge_begin(recording->merge))
        return 0;
    while (perf_merge_next(recording->merge, &raw)) {
        int code = take_record(recording, &raw, err);
        if (code)
            return code;
    }
    return 1;
}

static int read_rings(struct recording *recording, unsigned rounds, struct error *err)
{
    int code = read_round(recording, err);
    recording->empty_looks = code ? 0 : recording->empty_looks + 1;
    while (code > 0 && --rounds)
        code = read_round(recording, err);
    return code < 0 ? code : 0;
}

/* ---- signals ---- */

static void end_recording(struct recording *recording, enum record_end end, int signal)
{
    if (recording->ending)
        return;
    recording->ending = true;
    if (recording->result->end == RECORD_SPOOL_FULL)
        return;
    recording->result->end = end;
    recording->result->signal = signal;
}

static uint64_t timeval_ns(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * SECOND + (uint64_t)time->tv_usec * 1000;
}

static void reap_target(struct recording *recording, int flags)
{
    int status;
    struct rusage usage;
    if (!recording->options->argv || recording->target_reaped ||
        wait4(recording->target.pid, &status, flags, &usage) != recording->target.pid)
        return;
    recording->target_reaped = true;
    recording->result->target_cpu = timeval_ns(&usage.ru_utime) + timeval_ns(&usage.ru_stime);
    recording->result->target_ended = true;
    recording->result->target_status = status;
    end_recording(recording, RECORD_TARGET_ENDED, 0);
}

static void take_interrupt(struct recording *recording, bool from_terminal)
{
    if (recording->interrupted || !recording->options->argv) {
        end_recording(recording, RECORD_STOPPED, SIGINT);
        return;
    }
    recording->interrupted = true;
    if (!from_terminal)
        kill(recording->target.pid, SIGINT);
}

static void take_signals(struct recording *recording)
{
    struct signalfd_siginfo info;
    while (read(recording->signal_fd, &info, sizeof(info)) == sizeof(info)) {
        if (info.ssi_signo == SIGCHLD)
            reap_target(recording, WNOHANG);
        else if (info.ssi_signo == SIGINT)
            take_interrupt(recording, info.ssi_code == SI_KERNEL);
        else
            end_recording(recording, RECORD_STOPPED, (int)info.ssi_signo);
    }
}

/* Notes that a process that ran already has ended: its descriptor has become readable. */
static void take_end(struct recording *recording, int pid_fd)
{
    for (size_t i = 0; i < recording->pid_fds.length; i++) {
        if (recording->pid_fds.data[i] != pid_fd)
            continue;
        close(pid_fd);
        recording->pid_fds.data[i] = recording->pid_fds.data[--recording->pid_fds.length];
        recording->result->target_ended = !recording->pid_fds.length;
        if (!recording->pid_fds.length)
            end_recording(recording, RECORD_TARGET_ENDED, 0);
    }
}

/* ---- the loop ---- */

/* Has the samples of a CPU announced while its stacks are deeper than their copies, and while the rings are empty: the
 * next sample ends a pause, of which nobody knows how deep the stacks are after it. */
static void choose_announcements(struct recording *recording)
{
    for (size_t i = 0; i < recording->events.cpus.length; i++)
        perf_events_announce(&recording->events.cpus.data[i],
                             recording->wakeup_modes[i].fast || recording->empty_looks);
}

/* Returns when to wake up even without a record or a signal. */
static uint64_t next_deadline(const struct recording *recording, uint64_t now)
{
    unsigned doublings = recording->empty_looks < MAX_LOOK_DOUBLINGS ? recording->empty_looks : MAX_LOOK_DOUBLINGS;
    uint64_t deadline = now + (look_interval << doublings), duration = recording->options->duration;
    if (recording->next_flush < deadline)
        deadline = recording->next_flush;
    if (duration && recording->started + duration < deadline)
        deadline = recording->started + duration;
    return deadline;
}

static int wait_ms(const struct recording *recording, uint64_t now)
{
    uint64_t deadline = next_deadline(recording, now);
    return deadline > now ? (int)((deadline - now + 999999) / 1000000) : 0;
}

/* Ends the recording when its duration is over, and flushes the spool each second. */
static int keep_time(struct recording *recording, uint64_t now, struct error *err)
{
    if (recording->options->duration && now >= recording->started + recording->options->duration)
        end_recording(recording, RECORD_TIME_UP, 0);
    if (now < recording->next_flush)
        return 0;
    recording->next_flush = now + flush_interval;
    return spool_writer_flush(recording->spool, err);
}

static int record_until_end(struct recording *recording, struct error *err)
{
    int code = 0;
    while (!recording->ending && !code) {
        struct epoll_event ready[16];
        uint64_t now = monotonic_ns();
        code = keep_time(recording, now, err);
        if (code || recording->ending)
            break;
        int count = epoll_wait(recording->epoll_fd, ready, 16, wait_ms(recording, now));
        bool signals = false;
        for (int i = 0; i < count; i++) {
            signals |= ready[i].data.fd == recording->signal_fd;
            take_end(recording, ready[i].data.fd);
        }
        perf_events_take_announcements(&recording->events);
        code = read_rings(recording, ROUNDS_AT_ONCE, err);
        choose_announcements(recording);
        cpu_pin_choose(&recording->pin, monotonic_ns());
        if (signals)
            take_signals(recording);
    }
    perf_events_stop(&recording->events);
    return code ? code : read_rings(recording, UINT32_MAX, err);
}

/* ---- beginning and end ---- */

static int watch(int epoll_fd, int fd, struct error *err)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event))
        return error_set(err, errno, "cannot wait for events: %s", strerror(errno));
    return 0;
}

static int open_merge(struct recording *recording, struct error *err)
{
    size_t count = recording->events.cpus.length;
    struct perf_ring **rings = calloc(count, sizeof(struct perf_ring *));
    if (!rings)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++)
        rings[i] = &recording->events.cpus.data[i].ring;
    recording->merge = perf_merge_new(&recording->events.layout, rings, count);
    free(rings);
    return recording->merge ? 0 : error_no_memory(err);
}

static int watch_all(struct recording *recording, struct error *err)
{
    recording->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (recording->epoll_fd < 0)
        return error_set(err, errno, "cannot wait for ring buffers: %s", strerror(errno));
    int code = watch(recording->epoll_fd, recording->signal_fd, err);
    if (!code)
        code = watch(recording->epoll_fd, recording->events.announcement_fd, err);
    for (size_t i = 0; i < recording->events.cpus.length && !code; i++)
        code = watch(recording->epoll_fd, recording->events.cpus.data[i].ring_fd, err);
    return code;
}

static int prepare(struct recording *recording, struct error *err)
{
    struct perf_options options = {.rate = recording->options->rate, .at_exec = recording->options->argv};
    int code = perf_events_open(&recording->events, &options, err);
    if (!code)
        code = open_merge(recording, err);
    if (!code)
        code = stack_reader_init(&recording->reader, err);
    if (!code)
        code = watch_all(recording, err);
    if (code)
        return code;
    recording->started = monotonic_ns();
    recording->next_flush = recording->started + flush_interval / 4; /* the first one, for who reads along */
    recording->frames = malloc(CHUNK_MAX_FRAMES * sizeof(*recording->frames));
    recording->wakeup_modes = calloc(recording->events.cpus.length, sizeof(*recording->wakeup_modes));
    if (!recording->frames || !recording->wakeup_modes)
        return error_no_memory(err);
    for (size_t i = 0; i < recording->events.cpus.length; i++)
        wakeup_mode_init(&recording->wakeup_modes[i], recording->options->rate <= FAST_START_HZ);
    choose_announcements(recording);
    code = spool_writer_new(&recording->spool, recording->options->spool_path, err);
    if (code)
        return code;
    recording->libraries = library_table_new(recording->spool);
    recording->tracker = tracker_new(recording->spool, recording->libraries);
    if (!recording->libraries || !recording->tracker)
        return error_no_memory(err);
    library_table_keep(recording->libraries, recording->options->files);
    if (recording->options->files)
        tracker_note_jit_files(recording->tracker, &recording->options->files->jit);
    return metadata_write_start(recording->spool,
                                recording->options->argv ? recording->options->argv : recording->running_command,
                                recording->options->recorder, &recording->events, recording->started, err);
}

static void add_note(struct record_result *result, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add_note(struct record_result *result, const char *format, ...)
{
    va_list args;
    if (result->note_count == PERF_NOTES)
        return;
    va_start(args, format);
    vsnprintf(result->notes[result->note_count++], PERF_NOTE_SIZE, format, args);
    va_end(args);
}

static void note_new_cpus(struct recording *recording)
{
    struct cpu_list online = {0};
    uint32_t missed = 0;
    if (cpu_list_online(&online, NULL) == 0) {
        for (size_t i = 0; i < online.length; i++) {
            bool known = false;
            for (size_t j = 0; j < recording->events.cpus.length; j++)
                known |= recording->events.cpus.data[j].cpu == online.data[i];
            missed += !known;
        }
    }
    array_free(&online);
    if (missed)
        add_note(recording->result,
                 "%" PRIu32 " CPUs came online during the recording; what ran on them was not sampled", missed);
}

/* Stacks are truncated where they pass through such a file. */
static void note_lost_files(struct recording *recording)
{
    const char *path = "";
    size_t count = library_table_lost(recording->libraries, &path);
    if (count == 1)
        add_note(recording->result, "%s was replaced or became unreadable before its unwinding information was read",
                 path_base_name(path));
    else if (count)
        add_note(recording->result,
                 "%s and %zu more were replaced or became unreadable before their unwinding information was read",
                 path_base_name(path), count - 1);
    struct rlimit limit;
    const struct open_files *files = recording->options->files;
    if (files && files->lost && getrlimit(RLIMIT_NOFILE, &limit) == 0)
        add_note(recording->result,
                 "the limit of %" PRIu64
                 " open files is too low to hold %zu deleted file%s open; functions in them may "
                 "have no names; raise 'ulimit -n'",
                 (uint64_t)limit.rlim_cur, files->lost, files->lost == 1 ? "" : "s");
}

static void fill_result(struct recording *recording, uint64_t cpu_before)
{
    struct record_result *result = recording->result;
    struct perf_totals totals = perf_events_totals(&recording->events);
    /* Where neither samples nor counters tell of the time inside the kernel, the rest is not that of ended threads. */
    if (recording->events.counts || recording->events.tier == PERF_TIER_KERNEL_AND_USER)
        result->cpu_time = totals.cpu_time;
    result->recorder_cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before;
    result->lost = recording->lost_records > totals.lost ? recording->lost_records : totals.lost;
    result->samples = recording->samples;
    result->truncated = recording->truncated;
    memcpy(result->notes, recording->events.notes, sizeof(result->notes));
    result->note_count = recording->events.note_count;
    if (result->target_ended)
        result->survivors = tracker_count_survivors(recording->tracker);
    note_new_cpus(recording);
    note_lost_files(recording);
}

/* Waits for, or ends, a target that runs longer than its recording. */
static void end_target(struct recording *recording)
{
    recording->ending = false; /* for what take_signals() finds */
    while (recording->result->end == RECORD_SPOOL_FULL && !recording->target_reaped && !recording->ending) {
        struct epoll_event ready;
        epoll_wait(recording->epoll_fd, &ready, 1, IDLE_MS);
        take_signals(recording);
    }
    if (!recording->target_reaped)
        kill(recording->target.pid, SIGTERM);
}

static void run(struct recording *recording, uint64_t cpu_before)
{
    struct scheduling_policy policy;
    scheduling_raise(&policy);
    cpu_pin_init(&recording->pin);
    int code = record_until_end(recording, &recording->result->problem);
    cpu_pin_release(&recording->pin);
    scheduling_restore(&policy);
    fill_result(recording, cpu_before);
    if (recording->options->files)
        open_files_reopen_roots(recording->options->files);
    if (!code)
        code = metadata_write_end(recording->spool, recording->result, recording->truncated_by_reason,
                                  &recording->result->problem);
    int close_code = spool_writer_close(recording->spool, code ? NULL : &recording->result->problem);
    recording->spool = NULL;
    if (code || close_code)
        recording->result->end = RECORD_SPOOL_FULL;
    if (recording->options->argv)
        end_target(recording);
}

static void recording_destroy(struct recording *recording)
{
    tracker_free(recording->tracker);
    library_table_free(recording->libraries);
    if (recording->spool)
        spool_writer_close(recording->spool, NULL);
    for (size_t i = 0; i < recording->pid_fds.length; i++)
        close(recording->pid_fds.data[i]);
    array_free(&recording->pid_fds);
    free(recording->running_command);
    perf_merge_free(recording->merge);
    perf_events_close(&recording->events);
    stack_reader_destroy(&recording->reader);
    free(recording->frames);
    free(recording->wakeup_modes);
    if (recording->epoll_fd >= 0)
        close(recording->epoll_fd);
}

/* A program of many libraries has many open files, and so has a machine of many CPUs. The soft limit protects programs
 * that use select(), and prof does not. `before`: the limit that the target is to have. */
static void raise_files_limit(struct rlimit *before)
{
    static const rlim_t enough = 65536;
    getrlimit(RLIMIT_NOFILE, before);
    struct rlimit raised = {.rlim_cur = before->rlim_max < enough ? before->rlim_max : enough,
                            .rlim_max = before->rlim_max};
    if (raised.rlim_cur > before->rlim_cur)
        setrlimit(RLIMIT_NOFILE, &raised);
}

static int launch_and_record(struct recording *recording, struct error *err)
{
    uint64_t cpu_before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const struct record_options *options = recording->options;
    struct launch_options launch = {
        .argv = options->argv, .mask = options->target_mask, .output_to_error = options->output_to_error};
    raise_files_limit(&launch.files_limit);
    int code = launch_fork(&recording->target, &launch, err);
    if (code)
        return code;
    signal(SIGCHLD, SIG_DFL); /* ignored, it would not tell that the target has ended; the target keeps what it was */
    recording->result->pid = recording->target.pid;
    code = prepare(recording, err);
    if (!code)
        code = perf_events_add(&recording->events, recording->target.pid, err);
    if (code) {
        launch_cancel(&recording->target);
    } else {
        code = launch_exec(&recording->target, options->argv[0], err);
        recording->result->launch_failed = code != 0;
        if (!code)
            run(recording, cpu_before);
    }
    if (code && recording->spool)
        unlink(options->spool_path);
    return code;
}

/* ---- processes that run already ---- */

/* Samples the threads that the process has now and that are not known. Appends them to `added`. */
static int sample_unknown_threads(struct recording *recording, pid_t pid, struct tid_array *added, struct error *err)
{
    struct tid_array tids = {0};
    int code = attach_list_threads(pid, &tids, err);
    for (size_t i = 0; i < tids.length && !code; i++) {
        if (tracker_knows(recording->tracker, (uint32_t)tids.data[i]))
            continue;
        code = perf_events_add(&recording->events, tids.data[i], err);
        if (!code && !array_push(added, tids.data[i]))
            code = error_no_memory(err);
        else if (code == -ESRCH)
            code = 0; /* it has ended since */
    }
    array_free(&tids);
    return code;
}

static int track_threads(struct recording *recording, pid_t pid, const struct tid_array *tids, struct error *err)
{
    int code = 0;
    for (size_t i = 0; i < tids->length && !code; i++) {
        char name[32];
        attach_thread_name(pid, tids->data[i], name, sizeof(name));
        code = tracker_add_running_thread(recording->tracker, (uint32_t)pid, (uint32_t)tids->data[i], name,
                                          recording->started, err);
    }
    return code;
}

static int track_process(struct recording *recording, pid_t pid, struct error *err)
{
    char name[32];
    attach_thread_name(pid, pid, name, sizeof(name));
    return tracker_add_running_process(recording->tracker, (uint32_t)pid, name, recording->started, err);
}

/*
 * The events are opened before the mappings are read, so that no new one is missed.
 *
 * A thread that starts meanwhile is sampled already if the one that started it is, and the records say so; else it has
 * to be added. So after each round we take in the records, and look again until no thread is unknown. The record of a
 * thread's start comes an instant after the thread appears.
 */
static int attach(struct recording *recording, pid_t pid, struct error *err)
{
    enum { ROUNDS = 100 };
    static const struct timespec instant = {.tv_nsec = 1000000};
    struct tid_array added = {0};
    int code = sample_unknown_threads(recording, pid, &added, err);
    if (!code)
        code = track_process(recording, pid, err);
    for (int round = 0; added.length && !code && round < ROUNDS; round++) {
        code = track_threads(recording, pid, &added, err);
        added.length = 0;
        nanosleep(&instant, NULL);
        if (!code)
            code = read_rings(recording, ROUNDS_AT_ONCE, err);
        if (!code)
            code = sample_unknown_threads(recording, pid, &added, err);
    }
    array_free(&added);
    return code == -ESRCH ? 0 : code; /* it has ended, and its samples are there */
}

static int attach_and_record(struct recording *recording, struct error *err)
{
    uint64_t cpu_before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const struct record_options *options = recording->options;
    struct rlimit files_limit;
    raise_files_limit(&files_limit);
    recording->running_command = attach_command(options->pids[0]);
    int code = recording->running_command ? prepare(recording, err) : error_no_memory(err);
    for (size_t i = 0; i < options->pid_count && !code; i++) {
        int fd = attach_watch(options->pids[i], err);
        code = fd < 0                                ? fd
               : array_push(&recording->pid_fds, fd) ? watch(recording->epoll_fd, fd, err)
                                                     : error_no_memory(err);
        if (!code)
            code = attach(recording, options->pids[i], err);
    }
    if (!code) {
        options->attached(options->context);
        run(recording, cpu_before);
    } else if (recording->spool) {
        unlink(options->spool_path);
    }
    return code;
}

static void add_unless_ignored(sigset_t *signals, int signal)
{
    struct sigaction action;
    if (sigaction(signal, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
        sigaddset(signals, signal);
}

void record_signals(sigset_t *signals)
{
    sigemptyset(signals);
    add_unless_ignored(signals, SIGINT);
    add_unless_ignored(signals, SIGTERM);
    add_unless_ignored(signals, SIGHUP);
    sigaddset(signals, SIGCHLD);
}

int record_command(const struct record_options *options, struct record_result *result, struct error *err)
{
    memset(result, 0, sizeof(*result));
    struct recording recording = {.options = options, .result = result, .events = PERF_EVENTS_NONE, .epoll_fd = -1};
    sigset_t signals;
    record_signals(&signals);
    int code;
    recording.signal_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
    if (recording.signal_fd < 0)
        code = error_set(err, errno, "cannot wait for signals: %s", strerror(errno));
    else
        code = options->argv ? launch_and_record(&recording, err) : attach_and_record(&recording, err);
    recording_destroy(&recording);
    if (recording.signal_fd >= 0)
        close(recording.signal_fd);
    return code;
}
