/*
 * A recording from start to end: starts the command or finds the processes, opens the resources, runs the
 * loop (recording_loop.c) with a source (perf_source.c or ptrace_source.c), and stores the results.
 */
#include "record/record.h"

#include "os/clock.h"
#include "os/ending_signals.h"
#include "os/target_memory.h"
#include "record/control.h"
#include "record/metadata.h"
#include "record/recording.h"
#include "record/recording_loop.h"
#include "record/running_targets.h"
#include "record/system_counters.h"
#include "spool/info.h"

#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { IDLE_MS = 100 }; /* time between two checks of a target after the end of sampling */

/* ---- beginning and end ---- */

static int write_start(struct recording *recording, struct error *err)
{
    const struct source *source = recording->source;
    struct metadata_start start = {.command = target_command(recording->target),
                                   .rate = source->rate,
                                   .switches = source->has_switches,
                                   .off_cpu = recording_stores_waits(recording) || recording->options->once,
                                   .started = recording->loop.started};
    source->class->describe(source, &start);
    if (recording->options->pid_count)
        cpu_limit_read_start(&recording->cpu_limit, recording->options->pids[0]);
    else if (start.command)
        cpu_limit_read_start(&recording->cpu_limit, getpid()); /* the command starts in the cgroup of the recorder */
    return metadata_write_start(recording->spool, recording->options, &start, recording->result, err);
}

static int write_counters_info(const struct recording *recording, struct error *err)
{
    char text[128] = "";
    size_t used = 0;
    for (size_t i = 0; i < COUNTER_GROUPS; i++)
        if (recording->options->counters & 1U << i)
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", used ? "," : "", counter_groups[i]);
    int code = info_write(recording->spool, INFO_COUNTERS, used ? text : "none", err);
    const struct system_counters *system = recording->counters.system;
    return code || !system ? code
                           : info_write(recording->spool, INFO_POWER, system_counters_list_power_names(system), err);
}

static int open_report_mapping(void *context, uint32_t pid, const struct perf_mapping *mapping, struct error *err)
{
    struct recording *recording = context;
    return marks_open_mapping(&recording->marks, pid, mapping, err);
}

static void report_excess_mappings(void *context, struct tracked_process *process)
{
    struct recording *recording = context;
    excesses_add(&recording->excesses, recording->tracker, EXCESS_MAPPINGS, process);
}

static void mark_process_running(void *context, struct tracked_process *process, uint64_t time, bool by_sample)
{
    struct recording *recording = context;
    counters_mark_running(&recording->counters, process, time, by_sample);
}

static int read_last_counters(void *context, struct tracked_process *process, struct error *err)
{
    struct recording *recording = context;
    return counters_read_ending_process(&recording->counters, process, err);
}

static void free_counters(void *context, struct tracked_process *process)
{
    struct recording *recording = context;
    counters_free_process(&recording->counters, process);
}

static int open_counters(struct recording *recording, struct error *err)
{
    const struct counters_options options = {.spool = recording->spool,
                                             .tracker = recording->tracker,
                                             .wanted = recording->options->counters,
                                             .sampling = SECOND / recording->options->rate,
                                             .target = (uint32_t)target_get_pid(recording->target),
                                             .has_switches =
                                                 recording_has_switches(recording) && !recording->sampler.is_ptrace,
                                             .only_after_sample = recording->options->all};
    return counters_init(&recording->counters, &options, err);
}

static int open_samples(struct recording *recording, struct error *err)
{
    recording->work = (struct recorder_work){.spool = recording->spool, .since = recording->loop.started};
    const struct cpu_samples_options options = {.spool = recording->spool,
                                                .libraries = recording->libraries,
                                                .tracker = recording->tracker,
                                                .work = &recording->work,
                                                .excesses = &recording->excesses,
                                                .filter = &recording->filter,
                                                .pauses = &recording->control.pauses,
                                                .python = recording->options->python ? &recording->python : NULL,
                                                .merge = recording->source->merge,
                                                .period = recording->source->period,
                                                .has_switches = recording_has_switches(recording),
                                                .has_waits = recording_stores_waits(recording),
                                                .events = recording->options->events,
                                                .result = recording->result};
    return cpu_samples_new(&recording->samples, &options, err);
}

static int open_waits(struct recording *recording, struct error *err)
{
    const struct record_options *wanted = recording->options;
    const struct waits_options options = {.spool = recording->spool,
                                          .tracker = recording->tracker,
                                          .filter = &recording->filter,
                                          .python = wanted->python ? &recording->python : NULL,
                                          .interval = SECOND / recording->source->rate,
                                          .late_switches = recording->sampler.is_ptrace,
                                          .no_cpus = recording->sampler.is_ptrace,
                                          .only_runs = !wanted->off_cpu,
                                          .cpus = wanted->cpus};
    return recording_has_switches(recording) || wanted->once ? waits_init(&recording->waits, &options, err) : 0;
}

static int open_source(struct recording *recording, struct error *err)
{
    const struct source common = {
        .options = recording->options, .result = recording->result, .pin = &recording->loop.thread.pin};
    int epoll_fd = recording->loop.epoll_fd;
    int code = recording->sampler.is_ptrace
                   ? ptrace_source_open(&recording->source, &common, epoll_fd, recording->sampler.refusal, err)
                   : perf_source_open(&recording->source, &common, epoll_fd, recording->sampler.refusal,
                                      sizeof(recording->sampler.refusal), err);
    if (!code && recording->options->off_cpu && !recording_has_switches(recording) && !recording->sampler.is_ptrace)
        record_result_add_note(
            recording->result,
            "prof records no waits: this kernel does not report context switches (Linux 4.3 and later do)");
    return code;
}

static void connect_source(struct recording *recording)
{
    recording->source->sinks =
        (struct source_sinks){.spool = recording->spool,
                              .libraries = recording->libraries,
                              .tracker = recording->tracker,
                              .samples = recording->samples,
                              .waits = recording_has_switches(recording) ? &recording->waits : NULL,
                              .wants_waits = recording_stores_waits(recording),
                              .ends = &recording->ends,
                              .work = &recording->work,
                              .pauses = &recording->control.pauses,
                              .target = recording->target,
                              .target_ended = recording_store_target_end,
                              .context = recording};
}

/* Opens the process table, with its observers. */
static int open_tracker(struct recording *recording, struct error *err)
{
    struct open_files *files = recording->options->files;
    recording->libraries = library_table_new(recording->spool);
    recording->tracker = tracker_new(recording->spool, recording->libraries);
    if (!recording->libraries || !recording->tracker)
        return error_no_memory(err);
    tracker_select_threads(recording->tracker, &recording->filter);
    tracker_set_observer(recording->tracker, &(struct tracker_observer){.context = recording,
                                                                        .is_report = marks_may_be_in_file,
                                                                        .maps_report = open_report_mapping,
                                                                        .maps_too_often = report_excess_mappings,
                                                                        .execs = counters_move_at_exec,
                                                                        .runs = mark_process_running,
                                                                        .ends = read_last_counters,
                                                                        .forgets = free_counters});
    library_table_set_open_files(recording->libraries, files);
    if (files)
        tracker_set_jit_files(recording->tracker, &files->jit);
    if (recording->sampler.is_ptrace)
        tracker_read_mappings(recording->tracker);
    return 0;
}

static int open_python(struct recording *recording, struct error *err)
{
    if (!recording->options->python)
        return 0;
    tracker_expect_python(recording->tracker);
    return python_stacks_init(&recording->python, recording->spool, err);
}

static int open_producers(struct recording *recording, struct error *err)
{
    process_ends_init(&recording->ends, recording->spool, !recording->sampler.is_ptrace);
    marks_init(&recording->marks, recording->spool, recording->tracker, &recording->control.pauses,
               recording->loop.started);
    int code = open_counters(recording, err);
    if (!code)
        code = open_python(recording, err);
    if (!code)
        code = open_samples(recording, err);
    return code ? code : open_waits(recording, err);
}

static int open_loop(struct recording *recording, struct error *err)
{
    struct recording_loop *loop = &recording->loop;
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (loop->epoll_fd < 0)
        return error_set(err, errno, "cannot wait for events: %s", strerror(errno));
    return source_watch(loop->epoll_fd, loop->signal_fd, err);
}

static int prepare_recording(struct recording *recording, struct error *err)
{
    const struct record_options *wanted = recording->options;
    recording->filter = (struct thread_filter){.patterns = wanted->thread_names, .count = wanted->thread_name_count};
    int code = open_loop(recording, err);
    if (!code)
        code = open_source(recording, err);
    if (code)
        return code;
    recording->loop.started = wanted->once ? 1 : monotonic_ns(); /* the waits of one reading began earlier */
    recording->loop.next_flush =
        recording->loop.started + SECOND / 4; /* flush early, for readers of the growing spool */
    code = target_read_clocks(recording->target, err);
    if (!code)
        code = spool_writer_new_bounded(&recording->spool, wanted->spool_path, &wanted->control.keep, err);
    if (!code)
        code = open_tracker(recording, err);
    if (!code)
        code = open_producers(recording, err);
    if (code)
        return code;
    connect_source(recording);
    code = write_start(recording, err);
    if (!code)
        code = write_counters_info(recording, err);
    return code ? code : control_start(recording, err);
}

/* Waits for a target that outlives its recording, or ends the target. */
static void end_target(struct recording *recording)
{
    recording->loop.ending = false; /* recording_loop_handle_signals() may set `ending` again */
    bool runs_on = recording->result->end == RECORD_SPOOL_FULL || recording->result->end == RECORD_SIZE_REACHED;
    while (runs_on && !target_is_reaped(recording->target) && !recording->loop.ending) {
        struct epoll_event ready;
        epoll_wait(recording->loop.epoll_fd, &ready, 1, IDLE_MS);
        recording_loop_handle_signals(recording);
    }
    if (!target_is_reaped(recording->target))
        kill(target_get_pid(recording->target), SIGTERM);
}

static void run_recording(struct recording *recording, uint64_t cpu_before)
{
    struct error *problem = &recording->result->problem;
    int code = recording_loop_run(recording, problem);
    control_stop(recording);
    recording_fill_result(recording, cpu_before);
    if (recording->options->files)
        open_files_reopen_roots(recording->options->files);
    library_table_check_roots(recording->libraries);
    recording->result->cpu_limit = cpu_limit_read_change(&recording->cpu_limit);
    if (!code)
        code = metadata_write_end(recording->spool, recording->options, recording->result, problem);
    control_wait_for_snapshot(recording);
    if (!code)
        code = spool_writer_move_queued(recording->spool, &recording->result->rest_fd, problem);
    int close_code = spool_writer_close(recording->spool, code ? NULL : problem);
    recording->spool = NULL;
    if (code || close_code)
        recording->result->end = RECORD_SPOOL_FULL;
    recording->loop.was_run = true;
}

/* Frees the source, also at the end of the tracing thread: a ptrace source must end on its thread. */
static void free_source(struct recording *recording)
{
    if (recording->source)
        recording->source->class->free(recording->source);
    recording->source = NULL;
}

static void recording_destroy(struct recording *recording)
{
    control_stop(recording);
    control_wait_for_snapshot(recording);
    waits_destroy(&recording->waits);
    marks_destroy(&recording->marks);
    tracker_free(recording->tracker);
    target_memory_stop();
    counters_destroy(&recording->counters);
    library_table_free(recording->libraries);
    if (recording->spool)
        spool_writer_close(recording->spool, NULL);
    free_source(recording);
    process_ends_close(&recording->ends);
    cpu_samples_free(recording->samples);
    python_stacks_destroy(&recording->python);
    if (recording->loop.epoll_fd >= 0)
        close(recording->loop.epoll_fd);
    if (recording->loop.signal_fd >= 0)
        close(recording->loop.signal_fd);
    target_free(recording->target);
}

static int start_command(struct recording *recording, struct error *err)
{
    mark_buffers_make_directory(&recording->marks.buffers);
    const char *marks = recording->marks.buffers.directory[0] ? recording->marks.buffers.directory : NULL;
    int code = target_start(recording->target, marks, recording->sampler.is_ptrace, err);
    recording->result->pid = target_get_pid(recording->target);
    return code;
}

static int add_command(struct recording *recording, struct error *err)
{
    pid_t pid = target_get_pid(recording->target);
    return recording->options->all ? 0 : recording->source->class->add(recording->source, pid, pid, true, err);
}

/* Excludes the command's CPU time before exec, which is prof's own. */
static void store_command_clock(struct recording *recording)
{
    tracker_store_command_clock(recording->tracker, (uint32_t)target_get_pid(recording->target),
                                target_note_launch_clock(recording->target));
}

/* Restores the thread's settings for the fork, so that the command inherits the original settings. */
int recording_run_again(struct recording *recording, struct error *err)
{
    cpu_pin_release(&recording->loop.thread.pin);
    scheduling_restore(&recording->loop.thread.policy);
    int code = start_command(recording, err);
    scheduling_raise(&recording->loop.thread.policy);
    if (code)
        return code;
    recording->counters.options.target = (uint32_t)target_get_pid(recording->target);
    code = control_begin_run(recording, err);
    if (!code)
        code = add_command(recording, err);
    if (code) {
        target_cancel(recording->target);
        return code;
    }
    recording->result->target_ended = false;
    store_command_clock(recording);
    return target_exec_command(recording->target, err);
}

static int launch_and_record(struct recording *recording, struct error *err)
{
    uint64_t cpu_before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const struct record_options *options = recording->options;
    target_change_settings(recording->target);
    int code = start_command(recording, err);
    if (code)
        return code;
    code = prepare_recording(recording, err);
    if (!code)
        code = options->all ? running_targets_add_all(recording, err) : add_command(recording, err);
    if (code) {
        target_cancel(recording->target);
    } else {
        store_command_clock(recording);
        code = target_exec_command(recording->target, err);
        recording->result->launch_failed = code != 0;
        if (!code)
            run_recording(recording, cpu_before);
    }
    return code;
}

/* ---- running processes ---- */

static void run_attached(struct recording *recording, uint64_t cpu_before)
{
    if (recording->options->attached)
        recording->options->attached(recording->options->context);
    run_recording(recording, cpu_before);
}

static int attach_and_record(struct recording *recording, struct error *err)
{
    uint64_t cpu_before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const struct record_options *options = recording->options;
    target_change_settings(recording->target);
    int code = target_attach(recording->target, err);
    if (!code)
        code = prepare_recording(recording, err);
    for (size_t i = 0; i < options->pid_count && !code; i++) {
        int fd = target_watch(recording->target, options->pids[i], err);
        code = fd < 0 ? fd : source_watch(recording->loop.epoll_fd, fd, err);
        if (!code)
            code = running_targets_add(recording, options->pids[i], target_get_clock(recording->target, i), err);
    }
    if (!code)
        run_attached(recording, cpu_before);
    return code;
}

static int record_system(struct recording *recording, struct error *err)
{
    uint64_t cpu_before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    target_change_settings(recording->target);
    int code = prepare_recording(recording, err);
    if (!code)
        code = running_targets_add_all(recording, err);
    if (!code)
        run_attached(recording, cpu_before);
    return code;
}

void list_recorder_signals(sigset_t *signals)
{
    list_ending_signals(signals);
    sigaddset(signals, SIGCHLD);
    sigaddset(signals, SIGUSR1);
    sigaddset(signals, SIGUSR2);
}

static int record_with(struct recording *recording, struct error *err)
{
    const struct record_options *options = recording->options;
    int code = options->argv  ? launch_and_record(recording, err)
               : options->all ? record_system(recording, err)
                              : attach_and_record(recording, err);
    if (code && recording->spool)
        unlink(options->spool_path);
    return code;
}

/* Returns the initial state of a recording, for perf events or for ptrace. */
static struct recording recording_begin(const struct record_options *options, struct record_result *result)
{
    *result = (struct record_result){.rest_fd = -1};
    result->has_target = options->argv || options->pid_count;
    return (struct recording){.options = options,
                              .result = result,
                              .marks = MARKS_NONE,
                              .ends = PROCESS_ENDS_NONE,
                              .loop = RECORDING_LOOP_NONE};
}

static int open_signals(struct recording *recording, struct error *err)
{
    sigset_t signals;
    list_recorder_signals(&signals);
    recording->loop.signal_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
    return recording->loop.signal_fd < 0 ? error_set(err, errno, "cannot wait for signals: %s", strerror(errno)) : 0;
}

/* Records on a separate thread: ptrace belongs to a thread, and when the tracing thread ends, the kernel detaches from
 * the traced threads. */
struct tracing_thread {
    struct recording *recording;
    struct error *err;
    int code;
};

static void *run_tracing_thread(void *context)
{
    struct tracing_thread *thread = context;
    thread->code = record_with(thread->recording, thread->err);
    free_source(thread->recording);
    return NULL;
}

static int record_on_a_thread(struct recording *recording, struct error *err)
{
    struct tracing_thread run_recording = {.recording = recording, .err = err};
    pthread_t thread;
    int code = pthread_create(&thread, NULL, run_tracing_thread, &run_recording);
    if (code)
        return error_set(err, code, "cannot start a thread: %s", strerror(code));
    pthread_join(thread, NULL);
    return run_recording.code;
}

static int record_by_ptrace(struct recording *recording, struct error *err)
{
    struct recording by_ptrace = recording_begin(recording->options, recording->result);
    by_ptrace.sampler = recording->sampler;
    by_ptrace.sampler.is_ptrace = true;
    target_restore_settings(recording->target);
    recording_destroy(recording);
    *recording = by_ptrace;
    recording->target = target_new(recording->options);
    int code = recording->target ? open_signals(recording, err) : error_no_memory(err);
    return code ? code : record_on_a_thread(recording, err);
}

int record_command(const struct record_options *options, struct record_result *result, struct error *err)
{
    struct recording recording = recording_begin(options, result);
    int code = 0;
    if (!(recording.target = target_new(options)))
        return error_no_memory(err);
    if (options->sampler != RECORD_BY_PTRACE) {
        code = open_signals(&recording, err);
        if (!code)
            code = record_with(&recording, err);
    }
    bool has_events = options->events && options->events->length; /* ptrace has no events */
    if (options->sampler == RECORD_BY_PTRACE ||
        (options->sampler == RECORD_BY_ANY && recording.sampler.refusal[0] && !options->all && !has_events))
        code = record_by_ptrace(&recording, err);
    if (recording.loop.was_run && options->argv)
        end_target(&recording);
    recording_destroy(&recording);
    return code;
}
