#include "record/control.h"

#include "os/clock.h"
#include "record/control_socket.h"
#include "record/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct control_options *options_of(const struct recording *recording)
{
    return &recording->options->control;
}

static void say(const struct recording *recording, const char *sentence)
{
    const struct control_options *options = options_of(recording);
    if (options->notice)
        options->notice(options->context, sentence);
}

/* ---- pauses and marks ---- */

static uint64_t cpu_time_so_far(const struct recording *recording)
{
    const struct source *source = recording->source;
    return source ? source->class->cpu_time(source) : 0;
}

static int settle(struct recording *recording, struct error *err)
{
    return recording->source->class->settle(recording->source, true, err);
}

static int pause_recording(struct recording *recording, struct error *err)
{
    struct control *control = &recording->control;
    if (control->paused)
        return 0;
    int counted = counters_finish(&recording->counters, err); /* up to now */
    if (counted)
        return counted;
    control->paused = true;
    control->pauses.before = control->pauses.last;
    control->pauses.last = (struct pause){.start = monotonic_ns(), .end = UINT64_MAX};
    control->cpu_time_before = cpu_time_so_far(recording);
    int code = settle(recording, err);
    if (!code && recording_follows_runs(recording))
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
    control->paused_cpu_time += cpu_time_so_far(recording) - control->cpu_time_before;
    int code = settle(recording, err);
    if (recording_follows_runs(recording))
        waits_resume(&recording->waits, control->pauses.last.end);
    counters_resume(&recording->counters, control->pauses.last.end);
    const struct spool_resumed resumed = {.time_ns = control->pauses.last.end};
    return code ? code : spool_write_resumed(recording->spool, &resumed, err);
}

static int mark(struct recording *recording, const char *text, struct error *err)
{
    const struct spool_user_mark moment = {.time_ns = monotonic_ns(), .text = text};
    int code = spool_write_user_mark(recording->spool, &moment, err);
    return code ? code : spool_writer_flush(recording->spool, err);
}

int control_note_run(struct recording *recording, struct error *err)
{
    if (options_of(recording)->iterations < 2)
        return 0;
    const struct spool_run run = {.time_ns = monotonic_ns(), .run = target_runs(recording->target)};
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

/* Runs in the child, at low priority, so that it takes no CPU time from the recorder and the target. Signals stay
 * blocked: Ctrl+C, which also reaches the child, ends the recording but not the snapshot. */
static void make_snapshot(struct recording *recording, const int *clients, size_t count)
{
    const struct control_options *options = options_of(recording);
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

/* The current snapshot lacks the newest data, so this client gets the next one. */
static bool wait_for_next_snapshot(struct control *control, int client, char *answer, size_t size)
{
    int own = fcntl(client, F_DUPFD_CLOEXEC, 0);
    if (own >= 0 && array_push(&control->snapshot_clients, own))
        return true;
    snprintf(answer, size, "prof is still saving another snapshot, and cannot queue this one: %s",
             strerror(own < 0 ? errno : ENOMEM));
    if (own >= 0)
        close(own);
    return false;
}

static bool start_snapshot(struct recording *recording, const int *clients, size_t count, char *answer, size_t size)
{
    struct control *control = &recording->control;
    struct error err = {0};
    if (!options_of(recording)->snapshot) {
        snprintf(answer, size, "this recording goes to the standard output, so a snapshot has no file name");
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

static bool take_snapshot(struct recording *recording, int client, char *answer, size_t size)
{
    return recording->control.snapshot_pid ? wait_for_next_snapshot(&recording->control, client, answer, size)
                                           : start_snapshot(recording, &client, 1, answer, size);
}

/* For SIGUSR1: no client waits for the answer, so the user gets it. */
static void snapshot_by_signal(struct recording *recording)
{
    char answer[CONTROL_ANSWER_SIZE], sentence[CONTROL_ANSWER_SIZE + 32];
    if (recording->control.snapshot_pid) {
        recording->control.snapshot_wanted = true;
        return;
    }
    if (start_snapshot(recording, NULL, 0, answer, sizeof(answer)))
        return;
    snprintf(sentence, sizeof(sentence), "no snapshot: %s", answer);
    say(recording, sentence);
}

static void forget_clients(struct control *control)
{
    for (size_t i = 0; i < control->snapshot_clients.length; i++)
        close(control->snapshot_clients.data[i]);
    array_free(&control->snapshot_clients);
}

static void snapshot_for_clients(struct recording *recording)
{
    struct control *control = &recording->control;
    char answer[CONTROL_ANSWER_SIZE];
    if (!start_snapshot(recording, control->snapshot_clients.data, control->snapshot_clients.length, answer,
                        sizeof(answer)))
        answer_clients(control->snapshot_clients.data, control->snapshot_clients.length, false, answer);
    forget_clients(control);
}

static void reap_snapshot(struct recording *recording, int flags)
{
    struct control *control = &recording->control;
    pid_t ended = control->snapshot_pid ? waitpid(control->snapshot_pid, NULL, flags) : 0;
    if (ended == 0 || (ended < 0 && errno != ECHILD)) /* the ptrace sampler waits for all children */
        return;
    control->snapshot_pid = 0;
    if (control->snapshot_clients.length && recording->spool)
        snapshot_for_clients(recording);
    else if (control->snapshot_wanted && recording->spool) {
        control->snapshot_wanted = false;
        snapshot_by_signal(recording);
    }
}

int control_take_signal(struct recording *recording, int signal, struct error *err)
{
    if (signal == SIGCHLD)
        reap_snapshot(recording, WNOHANG);
    else if (signal == SIGUSR1)
        snapshot_by_signal(recording);
    else if (signal == SIGUSR2)
        return recording->control.paused ? resume_recording(recording, err) : pause_recording(recording, err);
    return 0;
}

void control_wait(struct recording *recording)
{
    struct control *control = &recording->control;
    control->snapshot_wanted = false;
    answer_clients(control->snapshot_clients.data, control->snapshot_clients.length, false,
                   "the recording ended before there was another snapshot; its profile has all");
    forget_clients(control);
    reap_snapshot(recording, 0);
}

/* ---- requests ---- */

static void describe(const struct recording *recording, char *answer, size_t size)
{
    const struct record_options *options = recording->options;
    char *const *argv = target_command(recording->target);
    pid_t target = options->argv ? target_pid(recording->target) : options->pid_count ? options->pids[0] : 0;
    snprintf(answer, size, "%s %.1f %" PRIu64 " %d %.200s", recording->control.paused ? "paused" : "recording",
             (double)(monotonic_ns() - recording->loop.started) / 1e9, cpu_samples_count(recording->samples),
             (int)target, argv ? argv[0] : "the whole system");
}

/* A snapshot answers later; a request during a snapshot gets the next one. */
static int take_request(void *context, struct control_request *request, struct error *err)
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
        snprintf(request->answer, sizeof(request->answer), was_paused ? "goes on" : "was not paused");
    } else if (strcmp(verb, "mark") == 0 && request->text[0]) {
        code = mark(recording, request->text, err);
        snprintf(request->answer, sizeof(request->answer), "marked");
    } else if (strcmp(verb, "stop") == 0) {
        recording_end(recording, RECORD_STOPPED_BY_CONTROL, 0);
        snprintf(request->answer, sizeof(request->answer), "ends, and saves its profile");
    } else if (strcmp(verb, "status") == 0) {
        describe(recording, request->answer, sizeof(request->answer));
    } else if (strcmp(verb, "snapshot") == 0) {
        request->answers_later = take_snapshot(recording, request->client, request->answer, sizeof(request->answer));
        request->failed = !request->answers_later;
    } else {
        request->failed = true;
        snprintf(request->answer, sizeof(request->answer), "this prof does not know the request '%.40s'", verb);
    }
    return code;
}

/* ---- time, size and the disk ---- */

static uint64_t delay_end(const struct recording *recording)
{
    return recording->loop.started + options_of(recording)->delay;
}

uint64_t control_deadline(const struct recording *recording)
{
    return recording->control.delayed ? delay_end(recording) : UINT64_MAX;
}

static void say_disk_state(struct recording *recording)
{
    struct control *control = &recording->control;
    bool is_full = spool_writer_has_queued(recording->spool);
    if (is_full && !control->said_full)
        say(recording,
            "the disk is full: prof keeps the newest 64 MiB of the recording in memory until the disk has room, or "
            "until the end");
    else if (!is_full && control->said_full)
        say(recording, "the disk has room again: prof writes the recording to it");
    control->said_full = is_full;
}

int control_keep_time(struct recording *recording, uint64_t now, struct error *err)
{
    const struct control_options *options = options_of(recording);
    if (options->max_size && spool_writer_size(recording->spool) >= options->max_size && !recording->loop.ending) {
        recording_end(recording, RECORD_SIZE_REACHED, 0);
        say(recording, "the recording has reached --max-size, and ends here");
    }
    say_disk_state(recording);
    return recording->control.delayed && now >= delay_end(recording) ? resume_recording(recording, err) : 0;
}

/* ---- beginning and end ---- */

int control_start(struct recording *recording, struct error *err)
{
    const struct control_options *options = options_of(recording);
    struct control *control = &recording->control;
    control->delayed = options->delay != 0;
    int code = options->paused || options->delay ? pause_recording(recording, err) : 0;
    if (!code && options->has_socket)
        code = control_socket_open(&control->socket, err);
    if (control->socket && source_watch(recording->loop.epoll_fd, control_socket_fd(control->socket), NULL)) {
        control_socket_close(control->socket);
        control->socket = NULL;
    }
    char sentence[512], problem[400];
    if (!code && options->has_socket && !control->socket && control_socket_find_problem(problem, sizeof(problem))) {
        snprintf(sentence, sizeof(sentence), "prof ctl cannot reach this recording: %s", problem);
        say(recording, sentence);
    }
    snprintf(sentence, sizeof(sentence), "paused; %sSIGUSR2 to process %d starts the recording",
             control->socket ? "'prof ctl resume' or " : "", (int)getpid());
    if (!code && options->paused)
        say(recording, sentence);
    return code ? code : control_note_run(recording, err);
}

int control_take(struct recording *recording, int fd, struct error *err)
{
    struct control_socket *socket = recording->control.socket;
    const struct control_handler handler = {.take = take_request, .context = recording};
    return socket && control_socket_fd(socket) == fd ? control_socket_serve(socket, &handler, err) : 0;
}

void control_stop(struct recording *recording)
{
    struct control *control = &recording->control;
    if (control->paused) /* paused to the end: the CPU time does not count */
        control->paused_cpu_time += cpu_time_so_far(recording) - control->cpu_time_before;
    control->paused = false;
    control_socket_close(control->socket);
    control->socket = NULL;
}
