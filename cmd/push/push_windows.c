#include "cmd/push/push_windows.h"

#include "cmd/common/companion.h"
#include "cmd/common/directories.h"
#include "cmd/push/pushing.h"
#include "cmd/common/ui.h"

#include "assemble/assemble.h"
#include "os/clock.h"
#include "os/ending_signals.h"
#include "file/profile_file.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the process ---- */

#define NOT_KNOWN UINT64_MAX

struct pusher {
    const struct push_windows_options *options;
    const char *saved; /* path of the saved profile to push, or NULL (push windows) */
    int socket;
    struct pushing pushing;
    struct recording_window window;
    uint64_t missed;       /* number of lost chunks in the messages so far */
    uint64_t queued_until; /* ns: samples before this time are in the queue, or lost */
    bool is_behind;        /* the last window failed: the next window includes its samples */
    bool has_lost;
    pthread_t sender;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool has_more;      /* guarded by `lock`: the queue has new profiles for the sender */
    atomic_bool ending; /* no more windows will come */
};

static bool has_samples(const struct profile *profile)
{
    for (size_t i = 0; i < profile->threads.length; i++) {
        const struct thread *thread = &profile->threads.data[i];
        if (thread->samples.length)
            return true;
        for (size_t k = 0; k < thread->more.length; k++)
            if (thread->more.data[k].length)
                return true;
    }
    return false;
}

static void wake_sender(struct pusher *pusher)
{
    pthread_mutex_lock(&pusher->lock);
    pusher->has_more = true;
    pthread_cond_signal(&pusher->changed);
    pthread_mutex_unlock(&pusher->lock);
}

static void print_dropped_samples(struct pusher *pusher)
{
    if (pusher->window.missed == pusher->missed)
        return;
    pusher->missed = pusher->window.missed;
    ui_print_message("prof dropped samples before pushing them: --last is too short for --every");
}

/* Makes the profile of the next window. Sets *samples to its sample count, even on failure. NOT_KNOWN otherwise. */
static int make_profile(struct pusher *pusher, const char *rest, struct profile *profile, uint64_t *samples,
                        struct error *err)
{
    struct directory_path path;
    struct assemble_options options = {.threads = 1, /* the processor count is the target's, not that of this process */
                                       .cache_directory =
                                           pusher->options->no_cache ? NULL : find_cache_directory(&path),
                                       .rest = rest && rest[0] == '/' ? rest : NULL,
                                       .search = &pusher->options->symbols->search,
                                       .window = &pusher->window};
    struct assemble_result result;
    int code = assemble_recording(pusher->options->spool, NULL, &options, &result, err);
    if (code)
        return code;
    *samples = result.samples;
    print_dropped_samples(pusher);
    code = profile_load_fd(result.memory_fd, NULL, profile, err);
    close(result.memory_fd);
    return code;
}

static int add_window(struct pusher *pusher, const char *rest, uint64_t *samples, struct error *err)
{
    struct profile profile;
    profile_init(&profile);
    int code = make_profile(pusher, rest, &profile, samples, err);
    if (code || !has_samples(&profile)) {
        profile_destroy(&profile);
        return code;
    }
    code = pushing_add(&pusher->pushing, &profile, (struct time_range){pusher->window.from, pusher->window.to}, err);
    if (!code)
        wake_sender(pusher);
    return code;
}

/* Reports a window that prof could not queue. The samples of a failed window are in the next window, or lost. */
static void print_failed_window(struct pusher *pusher, uint64_t samples, bool are_lost, const struct error *err)
{
    char what[80];
    double seconds = (double)(monotonic_ns() - pusher->queued_until) / 1e9;
    int length = snprintf(what, sizeof(what), "%.1f s", seconds);
    if (samples != NOT_KNOWN)
        snprintf(what + length, sizeof(what) - (size_t)length, " (%" PRIu64 " sample%s)", samples,
                 samples == 1 ? "" : "s");
    if (are_lost)
        ui_fail("cannot push %s of the recording: %s", what, err->text);
    else if (!pusher->is_behind)
        ui_print_message("%s; the next window includes the %s of this window", err->text, what);
    pusher->is_behind = !are_lost;
    pusher->has_lost |= are_lost;
}

/* Whether the samples of a failed window are lost, so that the next window does not include them. */
static bool are_samples_lost(const struct pusher *pusher, int code)
{
    return code == -E2BIG || pusher->window.is_last;
}

static int queue_profile(struct pusher *pusher, const char *rest, uint64_t *samples, struct error *err)
{
    struct recording_window before;
    int code = recording_window_copy(&before, &pusher->window, err);
    if (code)
        return code;
    code = add_window(pusher, rest, samples, err);
    if (code && !are_samples_lost(pusher, code)) {
        struct recording_window failed = pusher->window;
        pusher->window = before;
        before = failed;
    }
    recording_window_destroy(&before);
    return code;
}

/* Makes the next window and puts its profile into the queue. If that fails, the next window includes the samples, as
 * long as the spool file still has them. `rest` is the recorder's last message: the path of a file, or "none". NULL
 * while the recorder runs, or after it was killed. */
static void queue_window(struct pusher *pusher, const char *rest)
{
    struct error err = {0};
    uint64_t samples = NOT_KNOWN, now = monotonic_ns();
    int code = queue_profile(pusher, rest, &samples, &err);
    bool has_begun = rest || pusher->window.zero || samples != NOT_KNOWN; /* the spool file may have no samples yet */
    if (code && has_begun)
        print_failed_window(pusher, samples, are_samples_lost(pusher, code), &err);
    if (!code)
        pusher->is_behind = false;
    if (!code || are_samples_lost(pusher, code))
        pusher->queued_until = now;
}

/* Sends queued profiles until the recording ends. While a server is down, this thread retries without a time limit. */
static void *run_sender(void *context)
{
    struct pusher *pusher = context;
    while (!atomic_load(&pusher->ending)) {
        pthread_mutex_lock(&pusher->lock);
        while (!pusher->has_more && !atomic_load(&pusher->ending))
            pthread_cond_wait(&pusher->changed, &pusher->lock);
        pusher->has_more = false;
        pthread_mutex_unlock(&pusher->lock);
        if (!atomic_load(&pusher->ending))
            pushing_send(&pusher->pushing, UINT64_MAX);
    }
    return NULL;
}

/* Waits until the recording ends, or until the time `end` (ns). Returns false at the time limit. Copies the recorder's
 * last message to `rest`. */
static bool wait_for_recorder(const struct pusher *pusher, uint64_t end, char *rest, size_t size)
{
    struct pollfd waits = {.fd = pusher->socket, .events = POLLIN};
    for (uint64_t now; (now = monotonic_ns()) < end;) {
        uint64_t ms = (end - now) / 1000000 + 1;
        if (poll(&waits, 1, ms > INT_MAX ? INT_MAX : (int)ms) <= 0)
            continue;
        ssize_t got = recv(pusher->socket, rest, size - 1, 0);
        rest[got > 0 ? got : 0] = '\0';
        return got >= 0 || errno != EINTR;
    }
    return false;
}

/* Discards the pending signals: during the recording they were meant for the recorder. */
static void discard_signals(const sigset_t *signals)
{
    const struct timespec now = {0};
    while (sigtimedwait(signals, NULL, &now) > 0)
        continue;
}

/* Returns the exit status of the process: EXIT_FAILURE if a profile is neither sent nor queued. */
static int send_queue(struct pusher *pusher)
{
    sigset_t signals;
    list_ending_signals(&signals);
    discard_signals(&signals);
    pusher->pushing.ending = &signals;
    pusher->pushing.hurry = NULL;
    pusher->pushing.is_background = false;
    pushing_send(&pusher->pushing, pusher->options->push->retry);
    pushing_print_sent(&pusher->pushing);
    return pusher->has_lost || pusher->pushing.dropped || pusher->pushing.refused ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int push_saved_profile(struct pusher *pusher)
{
    struct profile profile;
    struct error err = {0};
    int status = pushing_open(&pusher->pushing, pusher->options->push);
    pusher->pushing.is_quiet = pusher->options->quiet;
    profile_init(&profile);
    if (!status && profile_load(pusher->saved, &profile, &err)) {
        profile_destroy(&profile);
        status = ui_fail_with_error(&err);
    } else if (!status && pushing_add(&pusher->pushing, &profile, (struct time_range){0}, &err)) {
        status = ui_fail_with_error(&err);
    }
    if (!status)
        status = send_queue(pusher);
    pushing_close(&pusher->pushing);
    return status;
}

static int queue_windows(struct pusher *pusher)
{
    char rest[64] = "";
    pusher->queued_until = monotonic_ns();
    uint64_t next = pusher->queued_until + pusher->options->every;
    symbol_options_open(pusher->options->symbols);
    int status = pushing_open(&pusher->pushing, pusher->options->push);
    if (status)
        return status;
    pusher->pushing.hurry = &pusher->ending;
    pusher->pushing.is_background = true;
    pusher->pushing.is_quiet = pusher->options->quiet;
    pthread_mutex_init(&pusher->lock, NULL);
    pthread_cond_init(&pusher->changed, NULL);
    if (pthread_create(&pusher->sender, NULL, run_sender, pusher))
        return ui_fail("cannot start a thread that pushes profiles");
    wake_sender(pusher); /* the queue may have profiles of earlier recordings */
    while (!wait_for_recorder(pusher, next, rest, sizeof(rest))) {
        queue_window(pusher, NULL);
        while (next <= monotonic_ns())
            next += pusher->options->every;
    }
    pusher->window.is_last = true;
    queue_window(pusher, rest[0] ? rest : NULL);
    (void)!send(pusher->socket, "1", 1, MSG_NOSIGNAL);
    atomic_store(&pusher->ending, true);
    wake_sender(pusher);
    pthread_join(pusher->sender, NULL);
    status = send_queue(pusher);
    recording_window_destroy(&pusher->window);
    pushing_close(&pusher->pushing);
    symbol_options_stop(pusher->options->symbols);
    return status;
}

static int run_pusher(void *context, int socket)
{
    struct pusher *pusher = context;
    pusher->socket = socket;
    return pusher->saved ? push_saved_profile(pusher) : queue_windows(pusher);
}

/* ---- the recorder's side ---- */

int push_windows_start(struct companion **out, const struct push_windows_options *options, const char *saved,
                       struct error *err)
{
    struct pusher pusher = {.options = options, .saved = saved};
    return companion_start(out, run_pusher, &pusher, "push profiles", err);
}

void push_windows_send_last(struct companion *windows, int rest_fd)
{
    char rest[64] = "none", answer;
    if (rest_fd >= 0)
        snprintf(rest, sizeof(rest), "/proc/%d/fd/%d", (int)getpid(), rest_fd);
    if (send(windows->socket, rest, strlen(rest), MSG_NOSIGNAL) > 0)
        while (recv(windows->socket, &answer, 1, 0) < 0 && errno == EINTR)
            continue;
}

int push_windows_end(struct companion *windows, bool is_last_call)
{
    int status = 0;
    sigset_t signals;
    const struct timespec step = {.tv_nsec = 100 * 1000 * 1000};
    if (!windows)
        return EXIT_SUCCESS;
    close(windows->socket);
    list_ending_signals(&signals);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    while (waitpid(windows->pid, &status, WNOHANG) == 0)
        if (sigtimedwait(&signals, NULL, &step) > 0 || is_last_call)
            kill(windows->pid, SIGTERM);
    free(windows);
    if (WIFSIGNALED(status))
        ui_print_message(
            "signal %d ended the process that pushes profiles; the windows that were not queued yet are lost",
            WTERMSIG(status));
    return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
