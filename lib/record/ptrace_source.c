#include "record/source.h"

#include "os/clock.h"
#include "os/file_io.h"
#include "record/ptrace_limits.h"
#include "record/wait_readings.h"
#include "record/wait_store.h"
#include "sample/cpu_list.h"
#include "sample/ptrace_sampler.h"

#include <linux/perf_event.h>
#include <signal.h>

struct ptrace_source {
    struct source common;
    struct ptrace_sampler *sampler;
    struct ptrace_limits limits;
    int epoll_fd;      /* the caller's */
    uint64_t cpu_time; /* ns of CPU time of the traced processes up to the end of the recording */
    int end_code;      /* error code from the last end of a process; end_error has its sentence */
    struct error end_error;
};

static struct ptrace_source *ptrace_source_of(struct source *source)
{
    return (struct ptrace_source *)source;
}

/* ---- callbacks of the sampler ---- */

static int handle_record(void *context, const struct perf_record *record, struct error *err)
{
    struct ptrace_source *ptrace = context;
    const struct source *common = &ptrace->common;
    if (record->type == PERF_RECORD_SWITCH)
        return common->sinks.waits ? waits_handle_switch(common->sinks.waits, record, err) : 0;
    if (record->type == PERF_RECORD_COMM && record->comm.exec &&
        ptrace_limits_check_program(&ptrace->limits, common->result, common->options->argv, record->pid,
                                    record->comm.name))
        ptrace_sampler_stop_tracing_children(ptrace->sampler, (pid_t)record->tid);
    int code = common->sinks.waits ? waits_end_tasks(common->sinks.waits, record, err) : 0;
    return code ? code : tracker_handle_record(common->sinks.tracker, record, err);
}

static int handle_sample(void *context, struct ptrace_sample *sample, struct error *err)
{
    struct ptrace_source *ptrace = context;
    const struct source *common = &ptrace->common;
    struct cpu_sample_quality quality;
    if (!cpu_list_has(common->options->cpus, sample->record.cpu))
        return 0;
    if (sample->is_unreadable)
        ptrace_limits_add_unreadable_note(&ptrace->limits, common->result, sample->record.pid);
    int code = cpu_samples_add(common->sinks.samples, &sample->record, sample->is_stopped, &quality, err);
    bool is_deeper = quality.depth != WAKEUP_STACK_FITS;
    sample->was_short = is_deeper && sample->record.sample.stack_full;
    sample->was_bad = (is_deeper && !sample->was_short) || quality.is_truncated || quality.has_python;
    return code;
}

static void handle_end(void *context, pid_t tid, int status, const struct rusage *usage)
{
    struct ptrace_source *ptrace = context;
    const struct source_sinks *sinks = &ptrace->common.sinks;
    bool is_command = ptrace->common.options->argv && tid == target_get_pid(sinks->target);
    struct error err = {0};
    int code = is_command ? sinks->target_ended(sinks->context, status, usage, &err)
                          : process_ends_add(sinks->ends, (uint32_t)tid, status, monotonic_ns(), &err);
    if (!code || ptrace->end_code)
        return;
    ptrace->end_code = code;
    ptrace->end_error = err;
}

static int handle_signal(void *context, pid_t pid, pid_t tid, int signal, pid_t sender, struct error *err)
{
    const struct source_sinks *sinks = &((struct ptrace_source *)context)->common.sinks;
    uint64_t now = monotonic_ns();
    char path[32], status[4096];
    snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
    if (pauses_include(sinks->pauses, now) ||
        (file_read_text(path, status, sizeof(status)) && !process_signals_has_effect(status, (uint32_t)signal)))
        return 0;
    const struct process_signal_note note = {.pid = (uint32_t)pid,
                                             .tid = (uint32_t)tid,
                                             .number = (uint32_t)signal,
                                             .sender = (uint32_t)sender,
                                             .time = now};
    return process_ends_add_signal(sinks->ends, &note, err);
}

static int serve_stops(struct source *source, struct error *err)
{
    struct ptrace_source *ptrace = ptrace_source_of(source);
    int code = ptrace_sampler_handle_stops(ptrace->sampler, err);
    if (!code && ptrace->end_code)
        code = error_set(err, -ptrace->end_code, "%s", ptrace->end_error.text);
    return code;
}

/* ---- rounds ---- */

static uint64_t get_deadline(struct source *source, uint64_t now)
{
    enum { ROUND_NS = 100000000 };
    struct waits *waits = source->sinks.waits;
    uint64_t pass = waits && waits_want_reading(waits) ? waits->next_look : UINT64_MAX;
    bool is_placed = ptrace_sampler_arm(ptrace_source_of(source)->sampler, pass);
    if (waits)
        waits->is_placed = is_placed;
    return now + ROUND_NS;
}

static int start_round(struct source *source, const struct epoll_event *ready, int count, struct error *err)
{
    struct ptrace_source *ptrace = ptrace_source_of(source);
    bool is_tick = false;
    for (int i = 0; i < count; i++)
        is_tick |= ready[i].data.fd == ptrace_sampler_get_timer(ptrace->sampler);
    bool reads_waits = source->sinks.waits && waits_are_due(source->sinks.waits);
    int code = reads_waits ? ptrace_sampler_check_threads(ptrace->sampler, err) : 0;
    return code || !is_tick ? code : ptrace_sampler_interrupt_threads(ptrace->sampler, err);
}

static int update_runs(struct source *source, bool all, struct error *err)
{
    return source->sinks.waits ? ptrace_sampler_update_times(ptrace_source_of(source)->sampler, all, err) : 0;
}

static void update_every_second(struct source *source)
{
    (void)source;
}

/* Waits until each interrupted thread has stopped and resumed: if it stopped only after the detach, the interrupt could
 * disturb a system call. Waits up to `most` (ns). */
static int wait_for_stops(struct ptrace_source *ptrace, uint64_t most, struct error *err)
{
    static const struct timespec step = {.tv_nsec = 4000000};
    uint64_t end = monotonic_ns() + most;
    sigset_t stops;
    sigemptyset(&stops);
    sigaddset(&stops, SIGCHLD);
    int code = serve_stops(&ptrace->common, err);
    while (!code && ptrace_sampler_is_waiting(ptrace->sampler) && monotonic_ns() < end) {
        sigtimedwait(&stops, NULL, &step);
        code = serve_stops(&ptrace->common, err);
    }
    return code;
}

/* Stores the stack and the reason of a waiting thread, or interrupts another thread for a sample. */
static int read_thread(struct ptrace_source *ptrace, struct waits *waits, struct tracked_thread *thread,
                       struct tracked_process *process, struct error *err)
{
    thread->run.is_stopped = ptrace_sampler_is_stopped(ptrace->sampler, (pid_t)thread->tid);
    int code = read_wait_stack(waits, thread, process, err);
    const struct wait_stack *stack = thread->run.stack;
    if (code || !stack || !stack->frame_count) {
        ptrace_sampler_sample_once(ptrace->sampler, (pid_t)thread->tid);
        return code;
    }
    uint64_t now = monotonic_ns();
    const struct stored_wait wait = {
        .start = now - ptrace_sampler_measure_sleep(ptrace->sampler, (pid_t)thread->tid), .end = now, .kind = BLOCKED};
    return store_wait(waits, thread, &wait, err);
}

int ptrace_source_read_once(struct source *source, struct waits *waits, struct error *err)
{
    struct ptrace_source *ptrace = ptrace_source_of(source);
    struct tracker *tracker = source->sinks.tracker;
    int code = 0;
    for (size_t i = 0; i < tracker_count_threads(tracker) && !code; i++) {
        struct tracked_process *process;
        struct tracked_thread *thread = tracker_get_thread_at(tracker, i, &process);
        code = thread ? read_thread(ptrace, waits, thread, process, err) : 0;
    }
    if (!code)
        code = wait_for_stops(ptrace, 5 * SECOND, err); /* on a busy machine, a thread runs late */
    source->result->stopped = monotonic_ns();
    return code;
}

static int stop(struct source *source, struct error *err)
{
    struct ptrace_source *ptrace = ptrace_source_of(source);
    int code = wait_for_stops(ptrace, SECOND / 5, err);
    if (!code)
        code = update_runs(source, true, err);
    ptrace->cpu_time = ptrace_sampler_get_cpu_time(ptrace->sampler);
    tracker_read_clocks(source->sinks.tracker);
    source->result->stopped = monotonic_ns();
    return code;
}

/* ---- threads ---- */

/* Traces a thread. Returns -EEXIST if the kernel has already reported the thread as a new thread of a traced
 * process. */
static int add(struct source *source, pid_t pid, pid_t tid, bool is_command, struct error *err)
{
    int code = ptrace_sampler_seize(ptrace_source_of(source)->sampler, pid, tid, is_command, err);
    return code == -EEXIST ? -ESRCH : code;
}

static void set_clock_start(struct source *source, pid_t pid, uint64_t clock)
{
    ptrace_sampler_set_clock_start(ptrace_source_of(source)->sampler, pid, clock);
}

/* ---- beginning and end ---- */

static uint64_t cpu_time(const struct source *source)
{
    return ptrace_sampler_get_cpu_time(((const struct ptrace_source *)source)->sampler);
}

static struct source_totals fill_result(struct source *source, bool counts_events)
{
    const struct ptrace_source *ptrace = ptrace_source_of(source);
    (void)counts_events; /* ptrace has no events */
    source->result->check_interval = ptrace_sampler_get_check_interval(ptrace->sampler);
    if (ptrace->limits.tracer)
        source->result->target_cpu =
            0; /* the resource usage of the command includes programs that prof does not trace */
    return (struct source_totals){.cpu_time = ptrace->cpu_time};
}

static void close_in_child(struct source *source)
{
    (void)source;
}

static void free_source(struct source *source)
{
    ptrace_sampler_free(ptrace_source_of(source)->sampler);
    free(source);
}

static void describe(const struct source *source, struct metadata_start *start)
{
    (void)source;
    start->event = "ptrace";
    start->tier = "ptrace";
    start->stack_size = PTRACE_STACK_SIZE;
}

static const struct source_class ptrace_class = {
    .describe = describe,
    .add = add,
    .count_from = set_clock_start,
    .deadline = get_deadline,
    .begin_round = start_round,
    .end_round = serve_stops, /* arm the timer last: the sampler samples no threads until it sleeps */
    .read = serve_stops,
    .settle = update_runs,
    .second = update_every_second,
    .stop = stop,
    .cpu_time = cpu_time,
    .fill_result = fill_result,
    .close_in_child = close_in_child,
    .free = free_source};

int ptrace_source_open(struct source **out, const struct source *common, int epoll_fd, const char *refusal,
                       struct error *err)
{
    struct ptrace_source *ptrace = calloc(1, sizeof(*ptrace));
    *out = NULL;
    if (!ptrace)
        return error_no_memory(err);
    const struct ptrace_consumer consumer = {.record = handle_record,
                                             .sample = handle_sample,
                                             .signal = handle_signal,
                                             .ended = handle_end,
                                             .context = ptrace};
    const struct record_options *options = common->options;
    ptrace->common = *common;
    ptrace->common.class = &ptrace_class;
    ptrace->common.rate = options->rate;
    ptrace->common.covers_kernel = true;
    ptrace->common.has_switches = options->off_cpu && !options->cpus; /* the CPU on which a wait begins is unknown */
    ptrace->epoll_fd = epoll_fd;
    *out = &ptrace->common;
    if (refusal[0])
        record_result_add_note(common->result, "sampled with ptrace, because %s", refusal);
    int code = ptrace_sampler_new(&ptrace->sampler, &consumer, options->rate, !options->no_inherit, common->pin, err);
    if (!code && options->off_cpu && options->cpus)
        record_result_add_note(
            common->result,
            "prof records no waits with --cpu and ptrace, because the CPU at the begin of a wait is unknown");
    if (!code && options->wakers == WAKERS_REQUESTED)
        record_result_add_note(common->result,
                               "prof records no wakers, because only perf events report wakers, not ptrace");
    return code ? code : source_watch(epoll_fd, ptrace_sampler_get_timer(ptrace->sampler), err);
}
