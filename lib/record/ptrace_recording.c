#include "record/ptrace_recording.h"

#include "os/clock.h"
#include "os/file_io.h"
#include "record/control.h"
#include "record/ptrace_limits.h"
#include "record/recording_loop.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* ---- the thread ---- */

struct ptrace_run {
    struct recording *recording;
    int (*record)(struct recording *, struct error *);
    struct error *err;
    int code;
};

static void *run_thread(void *context)
{
    struct ptrace_run *run = context;
    run->code = run->record(run->recording, run->err);
    ptrace_sampler_free(run->recording->sampler);
    run->recording->sampler = NULL;
    in_place_walker_free(run->recording->second_walker);
    run->recording->second_walker = NULL;
    return NULL;
}

int ptrace_recording_on_a_thread(struct recording *recording, int (*record)(struct recording *, struct error *),
                                 struct error *err)
{
    struct ptrace_run run = {.recording = recording, .record = record, .err = err};
    pthread_t thread;
    int code = pthread_create(&thread, NULL, run_thread, &run);
    if (code)
        return error_set(err, code, "cannot start a thread: %s", strerror(code));
    pthread_join(thread, NULL);
    return run.code;
}

/* ---- what the sampler tells ---- */

static int take_record(void *context, const struct perf_record *record, struct error *err)
{
    struct recording *recording = context;
    if (record->type == PERF_RECORD_SWITCH)
        return recording->follows_runs ? waits_switch(&recording->waits, record, err) : 0;
    if (record->type == PERF_RECORD_COMM && record->comm.exec &&
        ptrace_limits_note_program(&recording->limits, recording->result, recording->options->argv, record->pid,
                                   record->comm.name))
        ptrace_sampler_leave_children(recording->sampler, (pid_t)record->tid);
    return tracker_record(recording->tracker, record, err);
}

static int take_sample(void *context, struct ptrace_sample *sample, struct error *err)
{
    struct recording *recording = context;
    if (!cpu_list_has(recording->options->cpus, sample->record.cpu))
        return 0;
    enum wakeup_stack depth;
    uint64_t truncated = recording->truncated;
    if (sample->is_unreadable)
        ptrace_limits_note_unreadable(&recording->limits, recording->result, sample->record.pid);
    recording->thread_is_stopped = sample->is_stopped;
    recording->was_python = false;
    int code = recording_take_sample(recording, &sample->record, &depth, err);
    sample->was_short = depth != WAKEUP_STACK_FITS && sample->record.sample.stack_full;
    sample->was_bad = (depth != WAKEUP_STACK_FITS && !sample->was_short) || recording->truncated != truncated ||
                      recording->was_python;
    return code;
}

static void take_end(void *context, pid_t tid, int status, const struct rusage *usage)
{
    struct recording *recording = context;
    if (recording->options->argv && tid == recording->target.pid)
        recording_target_ended(recording, status, usage);
    else
        recording_note_exit(recording, (uint32_t)tid, status, monotonic_ns());
}

static int take_signal(void *context, pid_t pid, pid_t tid, int signal, pid_t sender, struct error *err)
{
    struct recording *recording = context;
    uint64_t now = monotonic_ns();
    char path[32], status[4096];
    snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
    if (pauses_include(&recording->control.pauses, now) ||
        (file_read_text(path, status, sizeof(status)) && !process_signals_has_effect(status, (uint32_t)signal)))
        return 0;
    const struct process_signal_note note = {.pid = (uint32_t)pid,
                                             .tid = (uint32_t)tid,
                                             .number = (uint32_t)signal,
                                             .sender = (uint32_t)sender,
                                             .time = now};
    return process_signals_note(&recording->signals, recording->spool, &note, err);
}

/* ---- beginning ---- */

int ptrace_recording_open(struct recording *recording, struct error *err)
{
    struct ptrace_consumer consumer = {
        .record = take_record, .sample = take_sample, .signal = take_signal, .ended = take_end, .context = recording};
    /* ptrace does not report on which CPU a wait began */
    recording->follows_runs = recording->options->off_cpu && !recording->options->cpus;
    if (recording->refusal[0])
        record_result_add_note(recording->result, "sampled with ptrace, because %s", recording->refusal);
    int code = ptrace_sampler_new(&recording->sampler, &consumer, recording->options->rate,
                                  !recording->options->no_inherit, &recording->pin, err);
    return code ? code : recording_watch(recording, ptrace_sampler_timer(recording->sampler), err);
}

void ptrace_recording_describe(struct metadata_start *start)
{
    start->event = "ptrace";
    start->tier = "ptrace";
    start->stack_size = PTRACE_STACK_SIZE;
}

int ptrace_recording_add_command(struct recording *recording, struct error *err)
{
    return ptrace_sampler_seize(recording->sampler, recording->target.pid, recording->target.pid, true, err);
}

int ptrace_recording_add(struct recording *recording, pid_t pid, pid_t tid, struct error *err)
{
    int code = ptrace_sampler_seize(recording->sampler, pid, tid, false, err);
    return code == -EEXIST ? -ESRCH : code;
}

/* ---- the loop ---- */

/* Waits until each interrupted thread has stopped and resumed: if it stopped only after the detach, the interrupt could
 * disturb a system call. */
static int finish(struct recording *recording, struct error *err)
{
    enum { STEPS = 50, STEP_MS = 4 };
    int code = 0;
    for (int i = 0; i < STEPS && !code && ptrace_sampler_is_waiting(recording->sampler); i++) {
        struct epoll_event ready;
        epoll_wait(recording->epoll_fd, &ready, 1, STEP_MS);
        code = ptrace_sampler_serve(recording->sampler, err);
    }
    return code;
}

int ptrace_recording_until_end(struct recording *recording, struct error *err)
{
    enum { WAIT_MS = 100 };
    int code = 0;
    while (!recording->ending && !code) {
        struct epoll_event ready[16];
        code = recording_loop_keep_time(recording, monotonic_ns(), err);
        if (code || recording->ending)
            break;
        ptrace_sampler_sleeps(recording->sampler);
        int count = epoll_wait(recording->epoll_fd, ready, 16, WAIT_MS);
        bool is_tick = false, signals = false;
        for (int i = 0; i < count; i++) {
            is_tick |= ready[i].data.fd == ptrace_sampler_timer(recording->sampler);
            signals |= ready[i].data.fd == recording->signal_fd;
        }
        if (is_tick)
            code = ptrace_sampler_tick(recording->sampler, err);
        for (int i = 0; i < count; i++)
            recording_take_end(recording, ready[i].data.fd);
        if (signals)
            recording_loop_take_signals(recording);
        if (recording->follows_runs && !code)
            code = waits_look(&recording->waits, err);
        if (!code)
            code = recording_loop_read_marks(recording, false, err);
        for (int i = 0; i < count && !code; i++)
            code = control_take(recording, ready[i].data.fd, err);
        if (!code) /* last: threads are not sampled until the sampler sleeps */
            code = ptrace_sampler_serve(recording->sampler, err);
        if (recording->runs_again && !code)
            code = recording_run_again(recording, err);
    }
    if (!code)
        code = finish(recording, err);
    if (!code)
        code = recording_settle(recording, true, err);
    recording->traced_cpu = ptrace_sampler_cpu_time(recording->sampler);
    tracker_read_clocks(recording->tracker);
    uint64_t stopped = recording->result->stopped = monotonic_ns();
    return code ? code : recording_end_runs(recording, stopped, err);
}
