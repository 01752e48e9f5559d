#include "record/control.h"

#include "os/clock.h"
#include "os/control_socket.h"
#include "record/recording.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct control_options *get_control_options(const struct recording *recording)
{
    return &recording->options->control;
}

static void notify_user(const struct recording *recording, const char *sentence)
{
    const struct control_options *options = get_control_options(recording);
    if (options->notice)
        options->notice(options->context, sentence);
}

/* ---- pauses and marks ---- */

static uint64_t read_cpu_time(const struct recording *recording)
{
    const struct source *source = recording->source;
    return source ? source->class->cpu_time(source) : 0;
}

static int update_runs(struct recording *recording, struct error *err)
{
    return recording->source->class->settle(recording->source, true, err);
}

static int pause_recording(struct recording *recording, struct error *err)
{
    struct control *control = &recording->control;
    if (control->paused)
        return 0;
    int counted = counters_finish(&recording->counters, err); /* up to the start of the pause */
    if (counted)
        return counted;
    control->paused = true;
    control->pauses.before = control->pauses.last;
    control->pauses.last = (struct pause){.start = monotonic_ns(), .end = UINT64_MAX};
    control->cpu_time_before = read_cpu_time(recording);
    int code = update_runs(recording, err);
    if (!code && recording_has_switches(recording))
        code = waits_pause(&recording->waits, control->pauses.last.start, err);
    const struct spool_paused paused = {.time_ns = control->pauses.last.start};
    return code ? code : spool_write_paused(recording->spool, &paused, err);
}

static int resume_recording(struct recording *recording, struct error *err)
{
    struct control *control = &recording->control;
    control->delayed = false;
    if (!control->paused)
        return 0;
    control->paused = false;
    control->pauses.last.end = monotonic_ns();
    control->paused_cpu_time += read_cpu_time(recording) - control->cpu_time_before;
    int code = update_runs(recording, err);
    if (recording_has_switches(recording))
        waits_resume(&recording->waits, control->pauses.last.end);
    counters_resume(&recording->counters, control->pauses.last.end);
    const struct spool_resumed resumed = {.time_ns = control->pauses.last.end};
    return code ? code : spool_write_resumed(recording->spool, &resumed, err);
}

static int write_user_mark(struct recording *recording, const char *text, struct error *err)
{
    const struct spool_user_mark moment = {.time_ns = monotonic_ns(), .text = text};
    int code = spool_write_user_mark(recording->spool, &moment, err);
    return code ? code : spool_writer_flush(recording->spool, err);
}

int control_begin_run(struct recording *recording, struct error *err)
{
    if (get_control_options(recording)->iterations < 2)
        return 0;
    const struct spool_run run = {.time_ns = monotonic_ns(), .run = target_count_runs(recording->target)};
    return spool_write_run(recording->spool, &run, err);
}

/* ---- snapshots ---- */

static void answer_clients(const int *clients, size_t count, bool ok, const char *answer)
{
    char line[CONTROL_ANSWER_SIZE + 16];
    int length = snprintf(line, sizeof(line), "%s %s\n", ok ? "ok" : "error", answer);
    for (size_t i = 0; i < count; i++)
        (void)!send(clients[i], line, (size_t)length, MSG_NOSIGNAL);
}

/* Makes the snapshot: runs in the forked child, at low priority, so that it takes no CPU time from the recorder and the
 * target. Signals stay blocked: Ctrl+C also reaches the child, but ends only the recording, not the snapshot. */
static void make_snapshot(struct recording *recording, const int *clients, size_t count)
{
    const struct control_options *options = get_control_options(recording);
    char answer[CONTROL_ANSWER_SIZE] = "";
    const struct sched_param normal = {0};
    sched_setscheduler(0, SCHED_OTHER, &normal);
    setpriority(PRIO_PROCESS, 0, 19);
    cpu_pin_release(&recording->loop.thread.pin);
    recording->source->class->close_in_child(recording->source);
    if (recording->options->files)
        open_files_reopen_roots(recording->options->files);
    bool ok = options->snapshot(options->context, answer, sizeof(answer));
    answer_clients(clients, count, ok, answer);
    _exit(ok ? 0 : 1);
}

/* Queues the client for the next snapshot, because the current snapshot lacks the newest data. */
static bool queue_for_next_snapshot(struct control *control, int client, char *answer, size_t size)
{
    int own = fcntl(client, F_DUPFD_CLOEXEC, 0);
    if (own >= 0 && array_push(&control->snapshot_clients, own))
        return true;
    snprintf(answer, size, "prof is still saving another snapshot, and cannot queue a second one: %s",
             strerror(own < 0 ? errno : ENOMEM));
    if (own >= 0)
        close(own);
    return false;
}

static bool fork_snapshot(struct recording *recording, const int *clients, size_t count, char *answer, size_t size)
{
    struct control *control = &recording->control;
    struct error err = {0};
    if (!get_control_options(recording)->snapshot) {
        snprintf(answer, size,
                 "this recording writes its profile to the standard output, so a snapshot has no file name");
        return false;
    }
    if (spool_writer_flush(recording->spool, &err)) {
        snprintf(answer, size, "%.*s", (int)size - 1, err.text);
        return false;
    }
    pid_t pid = fork();
    if (pid < 0) {
        snprintf(answer, size, "cannot start a process: %s", strerror(errno));
        return false;
    }
    if (pid == 0)
        make_snapshot(recording, clients, count);
    control->snapshot_pid = pid;
    return true;
}

static bool request_snapshot(struct recording *recording, int client, char *answer, size_t size)
{
    return recording->control.snapshot_pid ? queue_for_next_snapshot(&recording->control, client, answer, size)
                                           : fork_snapshot(recording, &client, 1, answer, size);
}

/* Makes a snapshot for SIGUSR1: without a client, the user gets the answer. */
static void make_signaled_snapshot(struct recording *recording)
{
    char answer[CONTROL_ANSWER_SIZE], sentence[CONTROL_ANSWER_SIZE + 32];
    if (recording->control.snapshot_pid) {
        recording->control.snapshot_wanted = true;
        return;
    }
    if (fork_snapshot(recording, NULL, 0, answer, sizeof(answer)))
        return;
    snprintf(sentence, sizeof(sentence), "no snapshot: %s", answer);
    notify_user(recording, sentence);
}

static void close_clients(struct control *control)
{
    for (size_t i = 0; i < control->snapshot_clients.length; i++)
        close(control->snapshot_clients.data[i]);
    array_free(&control->snapshot_clients);
}

static void make_queued_snapshot(struct recording *recording)
{
    struct control *control = &recording->control;
    char answer[CONTROL_ANSWER_SIZE];
    if (!fork_snapshot(recording, control->snapshot_clients.data, control->snapshot_clients.length, answer,
                       sizeof(answer)))
        answer_clients(control->snapshot_clients.data, control->snapshot_clients.length, false, answer);
    close_clients(control);
}

static void reap_snapshot(struct recording *recording, int flags)
{
    struct control *control = &recording->control;
    pid_t ended = control->snapshot_pid ? waitpid(control->snapshot_pid, NULL, flags) : 0;
    if (ended == 0 || (ended < 0 && errno != ECHILD)) /* the ptrace sampler waits for all children */
        return;
    control->snapshot_pid = 0;
    if (control->snapshot_clients.length && recording->spool)
        make_queued_snapshot(recording);
    else if (control->snapshot_wanted && recording->spool) {
        control->snapshot_wanted = false;
        make_signaled_snapshot(recording);
    }
}

int control_handle_signal(struct recording *recording, int signal, struct error *err)
{
    if (signal == SIGCHLD)
        reap_snapshot(recording, WNOHANG);
    else if (signal == SIGUSR1)
        make_signaled_snapshot(recording);
    else if (signal == SIGUSR2)
        return recording->control.paused ? resume_recording(recording, err) : pause_recording(recording, err);
    return 0;
}

void control_wait_for_snapshot(struct recording *recording)
{
    struct control *control = &recording->control;
    control->snapshot_wanted = false;
    answer_clients(control->snapshot_clients.data, control->snapshot_clients.length, false,
                   "the recording ended before the next snapshot; its profile has all data");
    close_clients(control);
    reap_snapshot(recording, 0);
}

/* ---- requests ---- */

static void describe_state(const struct recording *recording, char *answer, size_t size)
{
    const struct record_options *options = recording->options;
    char *const *argv = target_command(recording->target);
    pid_t target = options->argv ? target_get_pid(recording->target) : options->pid_count ? options->pids[0] : 0;
    snprintf(answer, size, "%s %.1f %" PRIu64 " %d %.200s", recording->control.paused ? "paused" : "recording",
             (double)(monotonic_ns() - recording->loop.started) / 1e9, cpu_samples_get_count(recording->samples),
             (int)target, argv ? argv[0] : "the whole system");
}

/* Carries out a request. A snapshot answers later; a request during a snapshot gets the next snapshot. */
static int handle_request(void *context, struct control_request *request, struct error *err)
{
    struct recording *recording = context;
    const char *verb = request->verb;
    bool was_paused = recording->control.paused;
    int code = 0;
    if (strcmp(verb, "pause") == 0) {
        code = pause_recording(recording, err);
        snprintf(request->answer, sizeof(request->answer), was_paused ? "was paused already" : "paused");
    } else if (strcmp(verb, "resume") == 0) {
        code = resume_recording(recording, err);
        snprintf(request->answer, sizeof(request->answer), was_paused ? "resumed" : "was not paused");
    } else if (strcmp(verb, "mark") == 0 && request->text[0]) {
        code = write_user_mark(recording, request->text, err);
        snprintf(request->answer, sizeof(request->answer), "marked");
    } else if (strcmp(verb, "stop") == 0) {
        recording_end(recording, RECORD_STOPPED_BY_CONTROL, 0);
        snprintf(request->answer, sizeof(request->answer), "ends, and saves its profile");
    } else if (strcmp(verb, "status") == 0) {
        describe_state(recording, request->answer, sizeof(request->answer));
    } else if (strcmp(verb, "snapshot") == 0) {
        request->answers_later = request_snapshot(recording, request->client, request->answer, sizeof(request->answer));
        request->failed = !request->answers_later;
    } else {
        request->failed = true;
        snprintf(request->answer, sizeof(request->answer), "this prof does not know the request '%.40s'", verb);
    }
    return code;
}

/* ---- time, size and the disk ---- */

static uint64_t get_delay_end(const struct recording *recording)
{
    return recording->loop.started + get_control_options(recording)->delay;
}

uint64_t control_get_deadline(const struct recording *recording)
{
    return recording->control.delayed ? get_delay_end(recording) : UINT64_MAX;
}

static void report_disk_state(struct recording *recording)
{
    struct control *control = &recording->control;
    bool is_full = spool_writer_has_queued(recording->spool);
    if (is_full && !control->said_full)
        notify_user(
            recording,
            "the disk is full: prof keeps the newest 64 MiB of the recording in memory until the disk has room, or until the end");
    else if (!is_full && control->said_full)
        notify_user(recording, "the disk has room again: prof writes the recording to it");
    control->said_full = is_full;
}

int control_run_due(struct recording *recording, uint64_t now, struct error *err)
{
    const struct control_options *options = get_control_options(recording);
    if (options->max_size && spool_writer_get_size(recording->spool) >= options->max_size && !recording->loop.ending) {
        recording_end(recording, RECORD_SIZE_REACHED, 0);
        notify_user(recording, "the recording has reached --max-size, and ends here");
    }
    report_disk_state(recording);
    return recording->control.delayed && now >= get_delay_end(recording) ? resume_recording(recording, err) : 0;
}

/* ---- beginning and end ---- */

int control_start(struct recording *recording, struct error *err)
{
    const struct control_options *options = get_control_options(recording);
    struct control *control = &recording->control;
    control->delayed = options->delay != 0;
    int code = options->paused || options->delay ? pause_recording(recording, err) : 0;
    if (!code && options->has_socket)
        code = control_socket_open(&control->socket, err);
    if (control->socket && source_watch(recording->loop.epoll_fd, control_socket_get_fd(control->socket), NULL)) {
        control_socket_close(control->socket);
        control->socket = NULL;
    }
    char sentence[512], problem[400];
    if (!code && options->has_socket && !control->socket && control_socket_find_problem(problem, sizeof(problem))) {
        snprintf(sentence, sizeof(sentence), "prof ctl cannot reach this recording: %s", problem);
        notify_user(recording, sentence);
    }
    snprintf(sentence, sizeof(sentence), "paused; %sSIGUSR2 to process %d starts the recording",
             control->socket ? "'prof ctl resume' or " : "", (int)getpid());
    if (!code && options->paused)
        notify_user(recording, sentence);
    return code ? code : control_begin_run(recording, err);
}

int control_handle_event(struct recording *recording, int fd, struct error *err)
{
    struct control_socket *socket = recording->control.socket;
    const struct control_handler handler = {.take = handle_request, .context = recording};
    return socket && control_socket_get_fd(socket) == fd ? control_socket_serve(socket, &handler, err) : 0;
}

void control_stop(struct recording *recording)
{
    struct control *control = &recording->control;
    if (control->paused) /* still paused: CPU time since the start of the pause does not count */
        control->paused_cpu_time += read_cpu_time(recording) - control->cpu_time_before;
    control->paused = false;
    control_socket_close(control->socket);
    control->socket = NULL;
}
