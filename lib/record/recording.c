/*
 * The shared part of the recording loops, except samples (recording_samples.c): handles signals, flushes the spool
 * about once a second, adds notes about missing data. Its memory does not grow with the length of a recording.
 */
#include "record/recording.h"

#include "os/clock.h"
#include "os/file_io.h"
#include "base/path.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

enum { RECORDER_WORKS_MAX = 20000 }; /* SPOOL_WORK in a spool */

/* ---- waits ---- */

int recording_settle(struct recording *recording, bool all, struct error *err)
{
    return recording->by_ptrace && recording->follows_runs && recording->sampler
               ? ptrace_sampler_settle(recording->sampler, all, err)
               : 0;
}

int recording_end_runs(struct recording *recording, uint64_t stopped, struct error *err)
{
    if (!recording->follows_runs)
        return 0;
    int code = waits_flush(&recording->waits, stopped, true, err);
    /* a process's CPU clock also runs during pauses and on other CPUs */
    bool is_comparable = !recording->control.paused_cpu_time && !recording->control.paused &&
                         !recording->options->all && !recording->options->cpus && !recording->filter.count;
    return code || !is_comparable ? code : tracker_tell_unseen(recording->tracker, stopped, err);
}

bool recording_wants_waits(const struct recording *recording)
{
    return recording->follows_runs && recording->options->off_cpu;
}

void recording_note_no_waits(struct recording *recording)
{
    if (!recording->options->off_cpu || recording->follows_runs)
        return;
    record_result_add_note(
        recording->result,
        recording->by_ptrace
            ? "ptrace records no waits with --cpu, because the CPU at their begin is unknown"
            : "prof records no waits: this kernel does not report context switches (Linux 4.3 and later do)");
}

/* ---- wakeups ---- */

void recording_open_wakeups(struct recording *recording)
{
    struct error why;
    if (!recording->options->wakers)
        return;
    if (recording->by_ptrace)
        record_result_add_note(recording->result,
                               "prof records no wakers: ptrace does not report them, only perf events do");
    else if (!recording->follows_runs || !recording->options->off_cpu)
        record_result_add_note(recording->result, "prof records no wakers, because it records no waits");
    else if (wakeups_open(&recording->wakeups, recording->events.layout.sample_type & PERF_SAMPLE_ID, &why))
        record_result_add_note(recording->result, "%s", why.text);
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

/* ---- signals of the target ---- */

void recording_open_signals(struct recording *recording)
{
    struct error why;
    signals_open(&recording->signal_rings, recording->events.layout.sample_type & PERF_SAMPLE_ID, &why);
}

int recording_take_signal_record(struct recording *recording, const struct perf_merge_record *raw, struct error *err)
{
    struct signal_delivery delivery;
    struct tracked_process *process = NULL;
    if (!signals_parse(&recording->signal_rings, raw->bytes, raw->size, &delivery) ||
        pauses_include(&recording->control.pauses, delivery.time) ||
        !tracker_thread(recording->tracker, delivery.tid, &process))
        return 0;
    if (delivery.is_sent && delivery.number != SIGKILL) {
        const struct sent_signal sent = {.pid = process->pid, .number = delivery.number, .sender = delivery.sender};
        process_signals_note_sent(&recording->signals, &sent);
        return 0;
    }
    if (delivery.has_sender && !delivery.is_sent)
        delivery.sender = process_signals_take_sender(&recording->signals, process->pid, delivery.number);
    const struct process_signal_note note = {.pid = process->pid,
                                             .tid = delivery.tid,
                                             .number = delivery.number,
                                             .sender = delivery.sender,
                                             .time = delivery.time};
    return process_signals_note(&recording->signals, recording->spool, &note, err);
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

void recording_note_exit(struct recording *recording, uint32_t pid, int status, uint64_t time)
{
    const struct spool_process_exit ended = {.pid = pid, .time_ns = time, .status = (unsigned)status};
    if (!recording->spool)
        return;
    int code = spool_write_process_exit(recording->spool, &ended, &recording->result->problem);
    if (!code && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        code = process_signals_note_kill(&recording->signals, recording->spool, pid, time, &recording->result->problem);
    if (code)
        recording_end(recording, RECORD_SPOOL_FULL, 0);
}

void recording_note_end(struct recording *recording, uint32_t pid)
{
    int status;
    if ((pid_t)pid != recording->target.pid && process_exits_note_end(&recording->exits, pid, &status))
        recording_note_exit(recording, pid, status, monotonic_ns());
}

static void take_exit(void *context, const struct process_exit_message *message)
{
    recording_note_exit(context, message->pid, message->status, message->time);
}

void recording_take_exits(struct recording *recording)
{
    process_exits_read(&recording->exits);
    process_exits_match(&recording->exits, take_exit, recording);
}

void recording_target_ended(struct recording *recording, int status, const struct rusage *usage)
{
    recording->target_reaped = true;
    recording->result->target_cpu += timeval_ns(&usage->ru_utime) + timeval_ns(&usage->ru_stime);
    recording->result->target_ended = true;
    recording->result->target_status = status;
    recording_note_exit(recording, (uint32_t)recording->target.pid, status, monotonic_ns());
    recording->runs_again = status == 0 && !recording->interrupted && !recording->ending &&
                            recording->control.runs < recording->options->control.iterations;
    if (!recording->runs_again)
        end_with_target(recording);
}

/* Runs at normal priority: see scheduling.h. */
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

int recording_note_unwinding(struct recording *recording, uint64_t now, struct error *err)
{
    char text[96];
    uint64_t start = recording->unwinding.since ? recording->unwinding.since : recording->started;
    uint64_t time = recording->unwinding.time, stacks = recording->unwinding.stacks;
    recording->unwinding.time = recording->unwinding.stacks = 0;
    recording->unwinding.since = now;
    if (!stacks || recording->works >= RECORDER_WORKS_MAX)
        return 0;
    recording->works++;
    snprintf(text, sizeof(text), "Unwind: %.1f ms for %" PRIu64 " stack%s", (double)time / 1e6, stacks,
             stacks == 1 ? "" : "s");
    const struct spool_recorder_work work = {.time_ns = start, .end_ns = now, .name = text};
    return spool_write_recorder_work(recording->spool, &work, err);
}

int recording_watch(struct recording *recording, int fd, struct error *err)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(recording->epoll_fd, EPOLL_CTL_ADD, fd, &event))
        return error_set(err, errno, "cannot wait for events: %s", strerror(errno));
    return 0;
}

/* ---- notes ---- */

/* Stacks are truncated where they pass through such a file. */
void recording_note_lost_files(struct recording *recording)
{
    const char *path = "";
    size_t count = library_table_lost(recording->libraries, &path);
    if (count == 1)
        record_result_add_note(recording->result,
                               "%s was replaced or became unreadable before prof read its unwind information",
                               path_base_name(path));
    else if (count)
        record_result_add_note(
            recording->result,
            "%s and %zu more were replaced or became unreadable before prof read their unwind information",
            path_base_name(path), count - 1);
    count = library_table_silent(recording->libraries, &path);
    if (count)
        record_result_add_note(
            recording->result,
            "%s%s on a file system that does not answer: functions there have no symbols, and stacks "
            "through them may be truncated",
            path, count > 1 ? " and other files are" : " is");
    struct rlimit limit;
    const struct open_files *files = recording->options->files;
    if (files && files->lost && getrlimit(RLIMIT_NOFILE, &limit) == 0)
        record_result_add_note(recording->result,
                               "the limit of %" PRIu64
                               " open files is too low to hold %zu deleted file%s open; functions in them may "
                               "have no symbols; raise 'ulimit -n'",
                               (uint64_t)limit.rlim_cur, files->lost, files->lost == 1 ? "" : "s");
}

int recording_note_work(struct recording *recording, const char *what, uint64_t start, struct error *err)
{
    enum { LONG_NS = 1000000 };
    uint64_t now = monotonic_ns();
    if (now < start + LONG_NS || recording->works >= RECORDER_WORKS_MAX)
        return 0;
    recording->works++;
    const struct spool_recorder_work work = {.time_ns = start, .end_ns = now, .name = what};
    return spool_write_recorder_work(recording->spool, &work, err);
}

void recording_note_refused_waits(struct recording *recording)
{
    char scope[16];
    if (!recording->waits.refused)
        return;
    bool is_yama =
        file_read_text("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope)) && strcmp(scope, "0") != 0;
    record_result_add_note(recording->result, "some waits have no stack: this user may not read the processes%s",
                           is_yama ? " (kernel.yama.ptrace_scope); 'sudo sysctl kernel.yama.ptrace_scope=0' permits it"
                                   : "");
}
