/*
 * A recording from start to end: starts the command or finds the processes, opens the resources, runs one of the two
 * loops (perf_recording.c, ptrace_recording.c), and stores the results.
 */
#include "record/control.h"
#include "record/record.h"
#include "record/recording.h"

#include "os/clock.h"
#include "process/attach.h"
#include "spool/info.h"
#include "record/launch.h"
#include "process/library_table.h"
#include "record/metadata.h"
#include "record/perf_recording.h"
#include "record/ptrace_recording.h"
#include "record/recording_loop.h"
#include "record/scheduling.h"
#include "spool/spool.h"
#include "record/stack_reader.h"
#include "record/system_counters.h"
#include "process/tracker.h"
#include "record/waits.h"
#include "record/whom.h"
#include "sample/perf_events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

enum { IDLE_MS = 100 }; /* between two checks of a target that is no longer sampled */

/* ---- beginning and end ---- */

static uint32_t rate_of(const struct recording *recording)
{
    return recording->by_ptrace ? recording->options->rate : recording->events.rate;
}

static int write_start(struct recording *recording, struct error *err)
{
    bool has_kernel = recording->events.tier == PERF_TIER_KERNEL_AND_USER;
    struct metadata_start start = {.command =
                                       recording->options->argv ? recording->options->argv : recording->running_command,
                                   .event = recording->options->no_cpu_samples ? "none"
                                            : recording->events.hardware       ? "cycles"
                                                                               : "cpu-clock",
                                   .tier = has_kernel ? "kernel and user" : "user only",
                                   .rate = rate_of(recording),
                                   .switches = recording->follows_runs,
                                   .off_cpu = recording_wants_waits(recording),
                                   .wakers = recording->wakeups.cpus.length != 0,
                                   .stack_size = recording->events.stack_size,
                                   .started = recording->started};
    if (recording->by_ptrace)
        ptrace_recording_describe(&start);
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
    return code || !system ? code : info_write(recording->spool, INFO_POWER, system_counters_power_names(system), err);
}

static int take_report(void *context, uint32_t pid, const struct perf_mapping *mapping, struct error *err)
{
    struct recording *recording = context;
    return marks_take_mapping(&recording->marks, pid, mapping, err);
}

static void note_mappings(void *context, struct tracked_process *process)
{
    struct recording *recording = context;
    excess_note(&recording->excesses, recording->tracker, EXCESS_MAPPINGS, process);
}

static int read_last_counters(void *context, struct tracked_process *process, struct error *err)
{
    struct recording *recording = context;
    return counters_process_ends(&recording->counters, process, err);
}

static void forget_counters(void *context, struct tracked_process *process)
{
    struct recording *recording = context;
    counters_forget(&recording->counters, process);
}

static int open_counters(struct recording *recording, struct error *err)
{
    const struct counters_options options = {.spool = recording->spool,
                                             .tracker = recording->tracker,
                                             .wanted = recording->options->counters,
                                             .sampling = SECOND / recording->options->rate,
                                             .target = (uint32_t)recording->target.pid,
                                             .has_switches = recording->events.switches,
                                             .only_after_sample = recording->options->all};
    return counters_init(&recording->counters, &options, err);
}

static int prepare(struct recording *recording, struct error *err)
{
    const struct record_options *wanted = recording->options;
    recording->filter = (struct thread_filter){.patterns = wanted->thread_names, .count = wanted->thread_name_count};
    recording->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (recording->epoll_fd < 0)
        return error_set(err, errno, "cannot wait for events: %s", strerror(errno));
    int code = recording_watch(recording, recording->signal_fd, err);
    if (!code)
        code = recording->by_ptrace ? ptrace_recording_open(recording, err) : perf_recording_open(recording, err);
    if (!code)
        recording_note_no_waits(recording);
    if (!code && recording->by_ptrace)
        recording_open_wakeups(recording);
    if (!code)
        code = stack_reader_init(&recording->reader, err);
    if (code)
        return code;
    recording->started = monotonic_ns();
    for (size_t i = 0; i < wanted->pid_count; i++)
        if (!array_push(&recording->clocks, process_clock_ns((uint32_t)wanted->pids[i])))
            return error_no_memory(err);
    recording->next_flush = recording->started + SECOND / 4; /* an early first flush for readers of the growing spool */
    recording->frames =
        malloc(2 * CHUNK_MAX_FRAMES * sizeof(*recording->frames)); /* the second half is for a second walk */
    if (!recording->frames)
        return error_no_memory(err);
    if (wanted->python && !(recording->sps = malloc(CHUNK_MAX_FRAMES * sizeof(*recording->sps))))
        return error_no_memory(err);
    code = spool_writer_new_bounded(&recording->spool, recording->options->spool_path,
                                    &recording->options->control.keep, err);
    if (code)
        return code;
    recording->libraries = library_table_new(recording->spool);
    recording->tracker = tracker_new(recording->spool, recording->libraries);
    if (!recording->libraries || !recording->tracker)
        return error_no_memory(err);
    tracker_select_threads(recording->tracker, &recording->filter);
    tracker_observe(recording->tracker, &(struct tracker_observer){.context = recording,
                                                                   .is_report = marks_is_report,
                                                                   .maps_report = take_report,
                                                                   .maps_too_often = note_mappings,
                                                                   .execs = counters_process_execs,
                                                                   .ends = read_last_counters,
                                                                   .forgets = forget_counters});
    code = open_counters(recording, err);
    if (code)
        return code;
    if (wanted->python) {
        tracker_expect_python(recording->tracker);
        code = python_stacks_init(&recording->python, recording->spool, err);
        if (code)
            return code;
    }
    if (recording->follows_runs) {
        const struct waits_options waits = {.spool = recording->spool,
                                            .tracker = recording->tracker,
                                            .filter = &recording->filter,
                                            .python = wanted->python ? &recording->python : NULL,
                                            .counters = &recording->counters,
                                            .interval = SECOND / rate_of(recording),
                                            .late_switches = recording->by_ptrace,
                                            .only_runs = !recording->options->off_cpu,
                                            .cpus = recording->options->cpus};
        code = waits_init(&recording->waits, &waits, err);
        if (code)
            return code;
    }
    library_table_keep(recording->libraries, recording->options->files);
    if (recording->options->files)
        tracker_note_jit_files(recording->tracker, &recording->options->files->jit);
    recording->marks.writer.spool = recording->spool;
    process_signals_init(&recording->signals);
    recording->marks.started = recording->started;
    if (recording->by_ptrace)
        tracker_read_mappings(recording->tracker);
    code = write_start(recording, err);
    if (!code)
        code = write_counters_info(recording, err);
    return code ? code : control_start(recording, err);
}

/* Waits for or ends a target that outlives its recording. */
static void end_target(struct recording *recording)
{
    recording->ending = false; /* recording_loop_take_signals() may set it again */
    bool runs_on = recording->result->end == RECORD_SPOOL_FULL || recording->result->end == RECORD_SIZE_REACHED;
    while (runs_on && !recording->target_reaped && !recording->ending) {
        struct epoll_event ready;
        epoll_wait(recording->epoll_fd, &ready, 1, IDLE_MS);
        recording_loop_take_signals(recording);
    }
    if (!recording->target_reaped)
        kill(recording->target.pid, SIGTERM);
}

static void run(struct recording *recording, uint64_t cpu_before)
{
    scheduling_raise(&recording->policy);
    cpu_pin_init(&recording->pin);
    struct error *problem = &recording->result->problem;
    int code = recording->by_ptrace ? ptrace_recording_until_end(recording, problem)
                                    : perf_recording_until_end(recording, problem);
    if (!code && !recording->control.paused)
        code = counters_finish(&recording->counters, problem);
    if (!code)
        code = recording_note_unwinding(recording, monotonic_ns(), problem);
    cpu_pin_release(&recording->pin);
    scheduling_restore(&recording->policy);
    control_stop(recording);
    recording_fill_result(recording, cpu_before);
    if (recording->options->files)
        open_files_reopen_roots(recording->options->files);
    library_table_check_roots(recording->libraries);
    if (!code)
        code = recording_loop_read_marks(recording, true, problem);
    marks_note_missing(&recording->marks, recording->result);
    if (!code)
        code = metadata_write_end(recording->spool, recording->options, recording->result,
                                  recording->truncated_by_reason, &recording->result->problem);
    control_wait(recording);
    if (!code)
        code = spool_writer_take_rest(recording->spool, &recording->result->rest_fd, &recording->result->problem);
    int close_code = spool_writer_close(recording->spool, code ? NULL : &recording->result->problem);
    recording->spool = NULL;
    if (code || close_code)
        recording->result->end = RECORD_SPOOL_FULL;
    recording->was_run = true;
}

static void recording_destroy(struct recording *recording)
{
    control_stop(recording);
    control_wait(recording);
    waits_destroy(&recording->waits);
    marks_destroy(&recording->marks);
    tracker_free(recording->tracker);
    counters_destroy(&recording->counters);
    library_table_free(recording->libraries);
    if (recording->spool)
        spool_writer_close(recording->spool, NULL);
    for (size_t i = 0; i < recording->pid_fds.length; i++)
        close(recording->pid_fds.data[i]);
    array_free(&recording->pid_fds);
    array_free(&recording->clocks);
    free(recording->running_command);
    perf_merge_free(recording->merge);
    perf_apart_destroy(&recording->apart);
    perf_events_close(&recording->events);
    wakeups_close(&recording->wakeups);
    signals_close(&recording->signal_rings);
    process_exits_close(&recording->exits);
    stack_reader_destroy(&recording->reader);
    python_stacks_destroy(&recording->python);
    free(recording->frames);
    free(recording->sps);
    free(recording->wakeup_modes);
    if (recording->epoll_fd >= 0)
        close(recording->epoll_fd);
    if (recording->signal_fd >= 0)
        close(recording->signal_fd);
}

/* prof needs many open files for programs with many libraries, and for machines with many CPUs. The soft limit only
 * protects programs that use select(), which prof does not. `before`: receives the old limit, for the target. */
static void raise_files_limit(struct rlimit *before)
{
    static const rlim_t enough = 65536;
    getrlimit(RLIMIT_NOFILE, before);
    struct rlimit raised = {.rlim_cur = before->rlim_max < enough ? before->rlim_max : enough,
                            .rlim_max = before->rlim_max};
    if (raised.rlim_cur > before->rlim_cur)
        setrlimit(RLIMIT_NOFILE, &raised);
}

static void restore_actions(const struct recording *recording)
{
    if (!recording->has_actions)
        return;
    sigaction(SIGCHLD, &recording->child_action, NULL);
    sigaction(SIGXFSZ, &recording->size_action, NULL);
}

/* Starts the command, which then waits. Sets the actions of two signals: an ignored SIGCHLD would not report the
 * command's end, and SIGXFSZ would kill prof at a file-size limit. The command keeps the old actions. */
static int start_command(struct recording *recording, struct error *err)
{
    const struct record_options *options = recording->options;
    mark_buffers_make_directory(&recording->marks.buffers);
    const struct launch_options launch = {
        .argv = options->argv,
        .mask = options->target_mask,
        .files_limit = recording->files_limit,
        .marks_directory = recording->marks.buffers.directory[0] ? recording->marks.buffers.directory : NULL,
        .is_traced = recording->by_ptrace,
        .output_to_error = options->output_to_error};
    restore_actions(recording);
    sigaction(SIGCHLD, NULL, &recording->child_action);
    sigaction(SIGXFSZ, NULL, &recording->size_action);
    recording->has_actions = true;
    int code = launch_fork(&recording->target, &launch, err);
    signal(SIGCHLD, SIG_DFL);
    signal(SIGXFSZ, SIG_IGN);
    recording->result->pid = recording->target.pid;
    return code;
}

static int add_command(struct recording *recording, struct error *err)
{
    if (recording->options->all)
        return 0;
    return recording->by_ptrace ? ptrace_recording_add_command(recording, err)
                                : perf_events_add(&recording->events, recording->target.pid, err);
}

/* The CPU time of the command before exec is prof's own. */
static void note_command_clock(struct recording *recording)
{
    uint64_t clock = process_clock_ns((uint32_t)recording->target.pid);
    recording->launch_cpu += clock;
    tracker_note_command(recording->tracker, (uint32_t)recording->target.pid, clock);
}

/* Restores the thread's settings for the fork, so that the command inherits the original ones. */
int recording_run_again(struct recording *recording, struct error *err)
{
    recording->runs_again = false;
    cpu_pin_release(&recording->pin);
    scheduling_restore(&recording->policy);
    int code = start_command(recording, err);
    scheduling_raise(&recording->policy);
    if (code)
        return code;
    recording->control.runs++;
    recording->counters.options.target = (uint32_t)recording->target.pid;
    code = control_note_run(recording, err);
    if (!code)
        code = add_command(recording, err);
    if (code) {
        launch_cancel(&recording->target);
        return code;
    }
    recording->target_reaped = recording->result->target_ended = false;
    note_command_clock(recording);
    return launch_exec(&recording->target, recording->options->argv[0], err);
}

static int launch_and_record(struct recording *recording, struct error *err)
{
    uint64_t cpu_before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const struct record_options *options = recording->options;
    raise_files_limit(&recording->files_limit);
    int code = start_command(recording, err);
    if (code)
        return code;
    code = prepare(recording, err);
    if (!code)
        code = options->all ? whom_sample_system(recording, err) : add_command(recording, err);
    if (code) {
        launch_cancel(&recording->target);
    } else {
        note_command_clock(recording);
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

/* Samples the threads of the process that are not yet known. Appends them to `added`. */
static int sample_unknown_threads(struct recording *recording, pid_t pid, struct tid_array *added, struct error *err)
{
    struct tid_array tids = {0};
    int code = attach_list_threads(pid, &tids, err);
    for (size_t i = 0; i < tids.length && !code; i++) {
        if (tracker_knows(recording->tracker, (uint32_t)tids.data[i]))
            continue;
        code = recording->by_ptrace ? ptrace_recording_add(recording, pid, tids.data[i], err)
                                    : perf_events_add(&recording->events, tids.data[i], err);
        if (!code && !array_push(added, tids.data[i]))
            code = error_no_memory(err);
        else if (code == -ESRCH)
            code = 0; /* it has ended since */
    }
    array_free(&tids);
    return code;
}

static int track_process(struct recording *recording, pid_t pid, uint64_t clock, struct error *err)
{
    char name[32];
    attach_thread_name(pid, pid, name, sizeof(name));
    int code = tracker_add_running_process(recording->tracker, (uint32_t)pid, name, recording->started, err);
    struct tracked_process *process = tracker_process(recording->tracker, (uint32_t)pid);
    if (process)
        process->clock_before = clock;
    if (!code && process) /* counting starts now */
        counters_note_run(&recording->counters, process, recording->started, true);
    return code;
}

/*
 * Samples a running process.
 *
 * Opens the events before it reads the mappings, so that it misses no new mapping. A thread that starts meanwhile is
 * already sampled if its parent thread is, as the records show; otherwise attach() adds it. So after each round
 * attach() reads the records, and repeats until no thread is unknown. The record of a thread's start comes an instant
 * after the thread appears.
 *
 * `clock`: ns of the process's CPU clock at the start of the recording. CPU time that threads use before they are
 * sampled has no sample.
 */
static int attach(struct recording *recording, pid_t pid, uint64_t clock, struct error *err)
{
    enum { ROUNDS = 100 };
    static const struct timespec instant = {.tv_nsec = 1000000};
    struct tid_array added = {0};
    int code = sample_unknown_threads(recording, pid, &added, err);
    if (!code)
        code = track_process(recording, pid, clock, err);
    if (recording->by_ptrace)
        ptrace_sampler_count_from(recording->sampler, pid, clock);
    for (int round = 0; added.length && !code && round < ROUNDS; round++) {
        code = whom_track_threads(recording, pid, &added, err);
        added.length = 0;
        nanosleep(&instant, NULL);
        if (!code)
            code = recording->by_ptrace ? ptrace_sampler_serve(recording->sampler, err)
                                        : perf_recording_read(recording, err);
        if (!code)
            code = sample_unknown_threads(recording, pid, &added, err);
    }
    array_free(&added);
    return code == -ESRCH ? 0 : code; /* it has ended; its samples are stored */
}

static int attach_and_record(struct recording *recording, struct error *err)
{
    uint64_t cpu_before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const struct record_options *options = recording->options;
    raise_files_limit(&recording->files_limit);
    signal(SIGXFSZ, SIG_IGN);
    recording->running_command = attach_command(options->pids[0]);
    int code = recording->running_command ? prepare(recording, err) : error_no_memory(err);
    for (size_t i = 0; i < options->pid_count && !code; i++) {
        int fd = attach_watch(options->pids[i], err);
        code = fd < 0                                ? fd
               : array_push(&recording->pid_fds, fd) ? recording_watch(recording, fd, err)
                                                     : error_no_memory(err);
        if (!code)
            code = attach(recording, options->pids[i], recording->clocks.data[i], err);
    }
    if (!code) {
        options->attached(options->context);
        run(recording, cpu_before);
    } else if (recording->spool) {
        unlink(options->spool_path);
    }
    return code;
}

static int record_system(struct recording *recording, struct error *err)
{
    uint64_t cpu_before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    raise_files_limit(&recording->files_limit);
    signal(SIGXFSZ, SIG_IGN);
    int code = prepare(recording, err);
    if (!code)
        code = whom_sample_system(recording, err);
    if (!code) {
        recording->options->attached(recording->options->context);
        run(recording, cpu_before);
    } else if (recording->spool) {
        unlink(recording->options->spool_path);
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
    sigaddset(signals, SIGUSR1);
    sigaddset(signals, SIGUSR2);
}

static int record_with(struct recording *recording, struct error *err)
{
    const struct record_options *options = recording->options;
    return options->argv  ? launch_and_record(recording, err)
           : options->all ? record_system(recording, err)
                          : attach_and_record(recording, err);
}

/* Returns the initial state of a recording, for perf events or for ptrace. */
static struct recording recording_begin(const struct record_options *options, struct record_result *result)
{
    *result = (struct record_result){.rest_fd = -1};
    result->has_target = options->argv || options->pid_count;
    return (struct recording){.options = options,
                              .result = result,
                              .events = PERF_EVENTS_NONE,
                              .marks = MARKS_NONE,
                              .exits = PROCESS_EXITS_NONE,
                              .epoll_fd = -1,
                              .signal_fd = -1};
}

static int open_signals(struct recording *recording, struct error *err)
{
    sigset_t signals;
    record_signals(&signals);
    recording->signal_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
    return recording->signal_fd < 0 ? error_set(err, errno, "cannot wait for signals: %s", strerror(errno)) : 0;
}

static int record_by_ptrace(struct recording *recording, struct error *err)
{
    struct recording by_ptrace = recording_begin(recording->options, recording->result);
    by_ptrace.by_ptrace = true;
    memcpy(by_ptrace.refusal, recording->refusal, sizeof(by_ptrace.refusal));
    restore_actions(recording);
    if (recording->files_limit.rlim_max)
        setrlimit(RLIMIT_NOFILE, &recording->files_limit);
    recording_destroy(recording);
    *recording = by_ptrace;
    int code = open_signals(recording, err);
    return code ? code : ptrace_recording_on_a_thread(recording, record_with, err);
}

int record_command(const struct record_options *options, struct record_result *result, struct error *err)
{
    struct recording recording = recording_begin(options, result);
    int code = 0;
    if (options->sampler != RECORD_BY_PTRACE) {
        code = open_signals(&recording, err);
        if (!code)
            code = record_with(&recording, err);
    }
    bool has_events = options->events && options->events->length; /* ptrace has no events */
    if (options->sampler == RECORD_BY_PTRACE ||
        (options->sampler == RECORD_BY_ANY && recording.refusal[0] && !options->all && !has_events))
        code = record_by_ptrace(&recording, err);
    if (recording.was_run && options->argv)
        end_target(&recording);
    recording_destroy(&recording);
    return code;
}
