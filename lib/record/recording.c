/*
 * What the recording loops have in common: a sample becomes a call chain in the spool, signals end the recording, the
 * spool is flushed about each second.
 *
 * Stacks are walked at once because they are large (up to 64 KiB each, 64 MB a second for each busy CPU at 1 kHz) and
 * their call chains are small (some 10 bytes); and because what lies above the copy can still be read then
 * (stack_reader.c, wakeup_mode.c). Nothing here grows with the length of a recording.
 */
#include "record/recording.h"

#include "base/clock.h"
#include "base/file_io.h"
#include "base/path.h"
#include "record/kernel_map.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

/* What a killed recorder loses at most. A power cut loses the time that the disk takes as well, together a second. */
static const uint64_t flush_interval = SECOND * 9 / 10;

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
    enum unwind_end end;
    enum wakeup_stack depth;
    bool has_sps; /* recording->sps is of these frames */
};

/* Returns no frames and UNWIND_COMPLETE if execve has dropped the old program: only kernel frames are left. */
static struct unwind_result walk(struct recording *recording, const struct perf_record *record,
                                 struct tracked_process *process, uint64_t *frames, size_t max)
{
    const struct perf_sample *sample = &record->sample;
    struct unwind_regs regs = {0};
    _Static_assert(sizeof(regs.r) == sizeof(sample->registers), "both are the registers by their DWARF numbers");
    memcpy(regs.r, sample->registers, sizeof(regs.r));
    struct unwind_stack stack = {.sp = regs.r[UNWIND_REG_SP],
                                 .bytes = sample->stack,
                                 .size = sample->stack_size,
                                 .read_above = stack_reader_read,
                                 .read_off_copied_stack = stack_reader_read_off_copied_stack,
                                 .read_code = stack_reader_read_code,
                                 .context = &recording->reader,
                                 .sps = process->python ? recording->sps : NULL};
    if (sample->callchain_length && unwind_has_no_user_stack(&regs, &stack))
        return (struct unwind_result){.end = UNWIND_COMPLETE};
    stack_reader_start(&recording->reader, record->pid, record->time, stack.sp, stack.bytes, stack.size,
                       sample->stack_full);
    if (process->dump)
        jitdump_unwind_follow(process->dump, &process->space);
    return unwind_walk(&process->space, &regs, &stack, frames, max);
}

/* Only a thread that is stopped by ptrace can be walked by libunwind. */
static bool walk_again_in_place(struct recording *recording, const struct perf_record *record,
                                struct tracked_process *process, uint64_t *frames, size_t max,
                                struct unwind_result *result)
{
    if (result->end == UNWIND_COMPLETE || result->end == UNWIND_32_BIT || !recording->thread_is_stopped ||
        recording->has_no_second_walker)
        return false;
    if (!recording->second_walker)
        recording->second_walker = in_place_walker_new();
    recording->has_no_second_walker = !recording->second_walker;
    if (recording->has_no_second_walker)
        return false;
    struct in_place_thread thread = {.tid = (pid_t)record->tid, .program = process->number, .space = &process->space};
    uint64_t *found = recording->frames + CHUNK_MAX_FRAMES;
    size_t count = in_place_walk(recording->second_walker, &thread, found, max);
    if (!count)
        return false;
    memcpy(frames, found, count * sizeof(*frames));
    *result = (struct unwind_result){.frames = count, .end = UNWIND_COMPLETE, .used_read_above = true};
    recording->completed_by_libunwind++;
    return true;
}

static int walk_user_stack(struct recording *recording, const struct perf_record *record,
                           struct tracked_process *process, uint64_t *frames, size_t max, struct user_stack *user,
                           struct error *err)
{
    struct unwind_result result = {.frames = 1, .end = UNWIND_32_BIT};
    *user = (struct user_stack){.depth = WAKEUP_STACK_FITS, .end = UNWIND_COMPLETE};
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
    bool was_completed = walk_again_in_place(recording, record, process, frames, max, &result);
    user->frames = result.frames;
    user->end = result.end;
    user->has_sps = process->python && !was_completed && record->sample.registers_abi == PERF_SAMPLE_REGS_ABI_64;
    if (result.end != UNWIND_COMPLETE)
        user->flags |= SAMPLE_TRUNCATED;
    if (result.used_no_cfi)
        user->flags |= SAMPLE_WITHOUT_CFI;
    if (result.used_read_above)
        user->flags |= SAMPLE_COMPLETED_LIVE;
    bool is_short = result.end == UNWIND_STACK_SHORT || result.end == UNWIND_OFF_COPIED_STACK;
    bool may_be_deeper = record->sample.stack_full || recording->reader.went_off_copied_stack;
    if (was_completed)
        user->depth = WAKEUP_STACK_LATE; /* the next one will need it too */
    else if (may_be_deeper && (result.used_read_above || is_short))
        user->depth = recording->reader.was_late ? WAKEUP_STACK_LATE : WAKEUP_STACK_SHORT;
    return 0;
}

/* ---- Python ---- */

/* A recorder on the thread's own CPU is woken by the interrupt that took the sample, and the thread leaves its CPU
 * before it executes anything: so soon after its sample, which takes the copying of the stack. */
static const uint64_t longest_interrupt = 100000;                       /* ns */
static const uint64_t longest_wait_for_reading = STACK_READ_MAX_AGE_NS; /* ns */

/* Whether the thread of the sample at hand has executed nothing since. */
static bool stands_still(const struct recording *recording, const struct perf_record *record)
{
    return recording->by_ptrace
               ? recording->thread_is_stopped
               : perf_merge_stands_still(recording->merge, record->tid, record->time, record->time + longest_interrupt);
}

static int add_python_frames(struct recording *recording, const struct perf_record *record,
                             struct tracked_process *process, struct python_stack *stack, struct user_stack *user,
                             struct python_counts *counts, struct error *err)
{
    const struct python_sample sample = {.pid = record->pid,
                                         .tid = record->tid,
                                         .time = record->time,
                                         .sp = record->sample.registers[UNWIND_REG_SP],
                                         .copy = record->sample.stack,
                                         .copy_size = record->sample.stack_size,
                                         .sps = recording->sps,
                                         .frame_count = stack->count,
                                         .is_in_kernel =
                                             record->sample.callchain_length &&
                                             (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL};
    bool is_young = recording->by_ptrace || monotonic_ns() < record->time + longest_wait_for_reading;
    enum python_outcome outcome = is_young ? python_stacks_read(&recording->python, process, &sample) : PYTHON_CHANGED;
    bool stood_still = is_young && stands_still(recording, record), is_added = false;
    if (outcome == PYTHON_NO_THREAD || outcome == PYTHON_UNSUPPORTED)
        return 0;
    int code = 0;
    if (is_young && (outcome == PYTHON_READ || !stood_still))
        code = python_stacks_add(&recording->python, process, stood_still && outcome == PYTHON_READ, stack, &is_added,
                                 err);
    user->frames = stack->count;
    counts->samples++;
    counts->read += is_added;
    bool is_late = !stood_still || outcome == PYTHON_CHANGED;
    counts->late += is_late;
    counts->other += !is_late && !is_added;
    recording->was_python = true;
    if (!recording->by_ptrace) /* the next one is to be read in time, too */
        user->depth = stood_still ? WAKEUP_STACK_SHORT : WAKEUP_STACK_LATE;
    return code;
}

/* ---- samples ---- */

/* The frames of a sample, with all of `sample` that the record says. */
static int walk_stack(struct recording *recording, const struct perf_record *record, struct tracked_process *process,
                      struct sample *sample, struct user_stack *user, struct python_counts *counts, struct error *err)
{
    uint64_t *frames = recording->frames;
    size_t kernel_frames = copy_kernel_frames(&record->sample, frames, CHUNK_MAX_FRAMES / 2);
    int code = 0;
    if (kernel_frames && !recording->kernel_mapped) {
        recording->kernel_mapped = true;
        code = kernel_map_write(recording->libraries, recording->spool, record->time, err);
    }
    if (!code)
        code = walk_user_stack(recording, record, process, frames + kernel_frames, CHUNK_MAX_FRAMES - kernel_frames,
                               user, err);
    if (code)
        return code;
    struct python_stack python = {.pcs = frames + kernel_frames,
                                  .sps = recording->sps,
                                  .count = user->frames,
                                  .max = CHUNK_MAX_FRAMES - kernel_frames,
                                  .is_complete = !(user->flags & SAMPLE_TRUNCATED)};
    if (user->has_sps && python_stack_has_python(process, &python))
        code = add_python_frames(recording, record, process, &python, user, counts, err);
    if (code)
        return code;
    *sample = (struct sample){.cpu = record->cpu,
                              .time = record->time,
                              .flags = user->flags,
                              .frame_count = (uint32_t)(kernel_frames + user->frames),
                              .kernel_frame_count = (uint32_t)kernel_frames,
                              .frames = frames};
    if (!sample->frame_count) {
        frames[0] = record->sample.ip;
        sample->frame_count = 1;
    }
    return 0;
}

/* By the thread's switches, if they are known; else by the counter, where there is one. The sampling period of a clock
 * is a time as well, that of cycles only nominally. */
static uint64_t cpu_time_of(struct recording *recording, struct tracked_thread *thread,
                            const struct perf_record *record)
{
    const struct perf_sample *sample = &record->sample;
    uint64_t by_switches;
    if (recording->follows_runs && waits_sample(thread, record->time, &by_switches))
        return by_switches;
    if (recording->events.counts)
        return thread_clock_advance(&thread->clock, sample->id,
                                    recording->events.hardware ? sample->running : sample->value, record->time);
    return recording->events.hardware ? SECOND / recording->events.rate : sample->period;
}

int recording_take_sample(struct recording *recording, const struct perf_record *record, enum wakeup_stack *depth,
                          struct error *err)
{
    struct tracked_thread *thread;
    struct tracked_process *process;
    int code = tracker_find(recording->tracker, record->pid, record->tid, record->time, &thread, &process, err);
    if (!code)
        code = tracker_keep_current(recording->tracker, process, record->time, err);
    if (code)
        return code;
    uint64_t cpu_time = cpu_time_of(recording, thread, record); /* its counter goes on, stored or not */
    counters_note_run(&recording->counters, process, record->time, true);
    if (control_was_paused(recording, record->time)) {
        *depth = WAKEUP_STACK_FITS;
        return 0;
    }
    if (!thread_filter_matches(&recording->filter, thread->name)) {
        recording->filter.left_out++;
        *depth = WAKEUP_STACK_FITS;
        return 0;
    }
    struct user_stack user;
    struct sample sample;
    code = walk_stack(recording, record, process, &sample, &user, &recording->python.counts, err);
    if (code)
        return code;
    sample.thread = thread->number;
    sample.cpu_time = cpu_time;
    recording->samples++;
    recording->truncated += (sample.flags & SAMPLE_TRUNCATED) != 0;
    recording->truncated_by_reason[user.end] += user.end != UNWIND_COMPLETE;
    *depth = user.depth;
    return spool_writer_sample(recording->spool, &sample, err);
}

int recording_take_event(struct recording *recording, const struct perf_record *record, uint32_t event,
                         struct error *err)
{
    struct tracked_thread *thread;
    struct tracked_process *process;
    struct record_event *counts = &recording->result->events[event - 1];
    if (!record->tid || control_was_paused(recording, record->time)) /* an idle CPU is no thread */
        return 0;
    int code = tracker_find(recording->tracker, record->pid, record->tid, record->time, &thread, &process, err);
    if (code || !thread_filter_matches(&recording->filter, thread->name))
        return code;
    struct user_stack user;
    struct sample sample;
    code = walk_stack(recording, record, process, &sample, &user, &recording->python.events, err);
    if (code)
        return code;
    sample.thread = thread->number;
    sample.event = event;
    sample.period = event_sampling_period(&recording->events.sampling, event, record->sample.period);
    counts->samples++;
    counts->truncated += (sample.flags & SAMPLE_TRUNCATED) != 0;
    return spool_writer_sample(recording->spool, &sample, err);
}

void recording_take_throttle(struct recording *recording, uint32_t event)
{
    uint64_t *count = event ? &recording->result->events[event - 1].throttled : &recording->result->throttled;
    ++*count;
}

/* ---- waits ---- */

int recording_settle(struct recording *recording, bool all, struct error *err)
{
    return recording->by_ptrace && recording->follows_runs && recording->sampler
               ? ptrace_sampler_settle(recording->sampler, all, err)
               : 0;
}

bool recording_wants_waits(const struct recording *recording)
{
    return recording->follows_runs && recording->options->off_cpu;
}

void recording_note_no_waits(struct recording *recording)
{
    if (!recording->options->off_cpu_asked || recording->follows_runs)
        return;
    recording_add_note(recording,
                       recording->by_ptrace
                           ? "waits are not recorded with --cpu by ptrace, which does not tell on which CPU they begin"
                           : "waits are not recorded: this kernel does not tell when threads run (Linux 4.3 does)");
}

/* ---- wakeups ---- */

void recording_open_wakeups(struct recording *recording)
{
    struct error why;
    if (!recording->options->wakers)
        return;
    if (recording->by_ptrace)
        recording_add_note(recording, "who woke whom is not recorded: perf events tell it, and ptrace does not");
    else if (!recording->follows_runs || !recording->options->off_cpu)
        recording_add_note(recording, "who woke whom is not recorded, because waits are not");
    else if (wakeups_open(&recording->wakeups, recording->events.layout.sample_type & PERF_SAMPLE_ID, &why))
        recording_add_note(recording, "%s", why.text);
}

void recording_take_wakeup(struct recording *recording, const struct perf_merge_record *raw)
{
    struct wakeup wakeup;
    struct perf_record record;
    if (wakeups_parse(&recording->wakeups, raw->bytes, raw->size, &wakeup))
        waits_wakeup(&recording->waits, &wakeup);
    else if (!perf_record_parse(&recording->events.layout, raw->bytes, raw->size, &record) &&
             record.type == PERF_RECORD_LOST)
        recording->lost_wakeups += record.lost;
}

/* ---- signals ---- */

void recording_end(struct recording *recording, enum record_end end, int signal)
{
    if (recording->ending)
        return;
    recording->ending = true;
    if (recording->result->end == RECORD_SPOOL_FULL || recording->result->end == RECORD_SIZE_REACHED)
        return; /* before the command ended */
    recording->result->end = end;
    recording->result->signal = signal;
}

static void end_with_target(struct recording *recording)
{
    recording->result->target_ended = true;
    recording->follows = recording->options->follow_daemons;
    if (!recording->follows)
        recording_end(recording, RECORD_TARGET_ENDED, 0);
}

static uint64_t timeval_ns(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * SECOND + (uint64_t)time->tv_usec * 1000;
}

void recording_note_exit(struct recording *recording, uint32_t pid, int status)
{
    struct spool_event event = {
        .kind = SPOOL_EXIT, .pid = pid, .time = monotonic_ns(), .count = (uint64_t)(unsigned)status};
    if (recording->spool && spool_writer_event(recording->spool, &event, &recording->result->problem))
        recording_end(recording, RECORD_SPOOL_FULL, 0);
}

void recording_target_ended(struct recording *recording, int status, const struct rusage *usage)
{
    recording->target_reaped = true;
    recording->result->target_cpu += timeval_ns(&usage->ru_utime) + timeval_ns(&usage->ru_stime);
    recording->result->target_ended = true;
    recording->result->target_status = status;
    recording_note_exit(recording, (uint32_t)recording->target.pid, status);
    recording->runs_again = status == 0 && !recording->interrupted && !recording->ending &&
                            recording->control.runs < recording->options->control.iterations;
    if (!recording->runs_again)
        end_with_target(recording);
}

/* At normal priority: see scheduling.h. */
static void reap_target(struct recording *recording)
{
    siginfo_t info = {0};
    int status;
    struct rusage usage;
    if (!recording->options->argv || recording->target_reaped ||
        waitid(P_PID, (id_t)recording->target.pid, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid)
        return;
    bool was_raised = recording->policy.size;
    scheduling_restore(&recording->policy);
    if (wait4(recording->target.pid, &status, WNOHANG, &usage) == recording->target.pid)
        recording_target_ended(recording, status, &usage);
    if (was_raised)
        scheduling_raise(&recording->policy);
}

static void take_interrupt(struct recording *recording, bool from_terminal)
{
    if (recording->follows) {
        recording_end(recording, RECORD_TARGET_ENDED, 0);
        return;
    }
    if (recording->interrupted || !recording->options->argv) {
        recording_end(recording, RECORD_STOPPED, SIGINT);
        return;
    }
    recording->interrupted = true;
    if (!from_terminal)
        kill(recording->target.pid, SIGINT);
}

void recording_take_signals(struct recording *recording)
{
    struct signalfd_siginfo info;
    while (read(recording->signal_fd, &info, sizeof(info)) == sizeof(info)) {
        bool is_control = info.ssi_signo == SIGUSR1 || info.ssi_signo == SIGUSR2;
        if ((is_control || info.ssi_signo == SIGCHLD) && recording->spool &&
            control_take_signal(recording, (int)info.ssi_signo, &recording->result->problem)) {
            recording->result->end = RECORD_SPOOL_FULL;
            recording->ending = true;
        }
        if (is_control)
            continue;
        if (info.ssi_signo == SIGCHLD && !recording->sampler)
            reap_target(recording);
        else if (info.ssi_signo == SIGCHLD)
            continue; /* it may be a stop, which the sampler serves */
        else if (info.ssi_signo == SIGINT)
            take_interrupt(recording, info.ssi_code == SI_KERNEL);
        else
            recording_end(recording, RECORD_STOPPED, (int)info.ssi_signo);
    }
}

void recording_take_end(struct recording *recording, int pid_fd)
{
    for (size_t i = 0; i < recording->pid_fds.length; i++) {
        if (recording->pid_fds.data[i] != pid_fd)
            continue;
        close(pid_fd);
        recording->pid_fds.data[i] = recording->pid_fds.data[--recording->pid_fds.length];
        if (!recording->pid_fds.length)
            end_with_target(recording);
    }
}

/* ---- time, and what to wait for ---- */

uint64_t recording_time_up(const struct recording *recording)
{
    const struct record_options *options = recording->options;
    return options->duration ? recording->started + options->control.delay + options->duration : UINT64_MAX;
}

/* Where the records of ends were lost. */
static void end_if_all_are_gone(struct recording *recording)
{
    struct record_result *result = recording->result;
    if (recording->follows && recording->lost_records &&
        !tracker_list_survivors(recording->tracker, result->survivor_names, sizeof(result->survivor_names)))
        recording_end(recording, RECORD_TARGET_ENDED, 0);
}

int recording_keep_time(struct recording *recording, uint64_t now, struct error *err)
{
    if (now >= recording_time_up(recording))
        recording_end(recording, RECORD_TIME_UP, 0);
    if (recording->follows && !tracker_count_processes(recording->tracker))
        recording_end(recording, RECORD_TARGET_ENDED, 0);
    int code = control_keep_time(recording, now, err);
    if (!code && !recording->control.paused)
        code = counters_keep_time(&recording->counters, now, err);
    if (code || now < recording->next_flush)
        return code;
    recording->next_flush = now + flush_interval;
    end_if_all_are_gone(recording);
    perf_apart_second(&recording->apart);
    if (recording->follows_runs) {
        code = recording_settle(recording, false, err);
        if (!code)
            code = waits_flush(&recording->waits, now, false, err);
    }
    uint64_t start = monotonic_ns();
    if (!code)
        code = spool_writer_flush(recording->spool, err);
    return code ? code : recording_note_work(recording, "Flush", start, err);
}

int recording_watch(struct recording *recording, int fd, struct error *err)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(recording->epoll_fd, EPOLL_CTL_ADD, fd, &event))
        return error_set(err, errno, "cannot wait for events: %s", strerror(errno));
    return 0;
}

/* ---- notes ---- */

void recording_add_note(struct recording *recording, const char *format, ...)
{
    struct record_result *result = recording->result;
    va_list args;
    if (result->note_count == PERF_NOTES)
        return;
    va_start(args, format);
    vsnprintf(result->notes[result->note_count++], PERF_NOTE_SIZE, format, args);
    va_end(args);
}

/* Stacks are truncated where they pass through such a file. */
void recording_note_lost_files(struct recording *recording)
{
    const char *path = "";
    size_t count = library_table_lost(recording->libraries, &path);
    if (count == 1)
        recording_add_note(recording, "%s was replaced or became unreadable before its unwinding information was read",
                           path_base_name(path));
    else if (count)
        recording_add_note(
            recording, "%s and %zu more were replaced or became unreadable before their unwinding information was read",
            path_base_name(path), count - 1);
    struct rlimit limit;
    const struct open_files *files = recording->options->files;
    if (files && files->lost && getrlimit(RLIMIT_NOFILE, &limit) == 0)
        recording_add_note(recording,
                           "the limit of %" PRIu64
                           " open files is too low to hold %zu deleted file%s open; functions in them may "
                           "have no names; raise 'ulimit -n'",
                           (uint64_t)limit.rlim_cur, files->lost, files->lost == 1 ? "" : "s");
}

int recording_note_work(struct recording *recording, const char *what, uint64_t start, struct error *err)
{
    enum { LONG_NS = 1000000, MOST = 10000 };
    uint64_t now = monotonic_ns();
    if (now < start + LONG_NS || recording->works >= MOST)
        return 0;
    recording->works++;
    struct spool_event event = {.kind = SPOOL_WORK, .time = start, .end = now, .name = what};
    return spool_writer_event(recording->spool, &event, err);
}

void recording_note_refused_waits(struct recording *recording)
{
    char scope[16];
    if (!recording->waits.refused)
        return;
    bool is_yama =
        file_read_text("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope)) && strcmp(scope, "0") != 0;
    recording_add_note(
        recording, "where threads waited is not known for all waits: this user may not look into their processes%s",
        is_yama ? " (kernel.yama.ptrace_scope); 'sudo sysctl kernel.yama.ptrace_scope=0' allows it" : "");
}
