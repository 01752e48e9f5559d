#include "cmd/live.h"

#include "cmd/browser.h"
#include "cmd/ctl.h"
#include "cmd/common/directories.h"
#include "cmd/page.h"
#include "cmd/common/ui.h"

#include "assemble/live_assembly.h"
#include "os/clock.h"
#include "record/control_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    LIVE_PERIOD = 1000, /* ms between two profiles, at least */
    LIVE_REST = 20,     /* so many times as long as a profile took: its share of a processor is a twentieth at most */
    LIVE_BEAT = 3000,   /* ms */
    LIVE_POLL = 100,    /* ms */
    LIVE_NICE = 10,     /* at 19, busy programs would let a profile wait for minutes */
    LIVE_MOST_SAMPLES = 10000000,
};

struct live_view {
    pid_t pid;
    int socket; /* the end of the recorder's; the other end reads the path of the saved profile */
};

/* ---- the process ---- */

struct follower {
    const char *spool;
    const struct serving_options *options;
    struct symbol_options *symbols;
    pid_t recorder;
    int socket;
    struct server *server; /* NULL until there is a profile */
    struct stable_numbers numbers;
    struct directory_path cache;
    struct assemble_options assemble;
    struct live_assembly *growing; /* NULL: the profile is made as a whole each time */
    bool drops_samples;            /* the oldest: then nothing can grow */
    unsigned base;                 /* counts those that began anew */
    uint64_t next_base;            /* ns: when another one may */
    uint64_t next, last_beat;      /* ns */
    double took;                   /* ms of CPU time: the last profile */
    unsigned generation;
    uint64_t samples, length;
    off_t spool_size; /* bytes, when the last one was made */
    bool is_saved;
    bool is_full; /* the last one has LIVE_MOST_SAMPLES */
    struct browser_file browser;
};

/* Called in the server's thread. */
static bool forward_request(void *context, const char *request, char *answer, size_t size)
{
    const struct follower *follower = context;
    char said[CONTROL_LINE];
    if (!ctl_ask(follower->recorder, request, said, sizeof(said))) {
        snprintf(answer, size, "the recording has ended");
        return false;
    }
    bool ok = strncmp(said, "ok ", strlen("ok ")) == 0;
    snprintf(answer, size, "%s", said + strcspn(said, " ") + (strchr(said, ' ') != NULL));
    return ok;
}

/* State of the recorder: "recording", "paused" or another word of it. */
static void request_state(const struct follower *follower, char *state, size_t size)
{
    char said[CONTROL_LINE], word[16] = "ending";
    if (ctl_ask(follower->recorder, "status", said, sizeof(said)))
        sscanf(said, "ok %15[a-z]", word);
    snprintf(state, size, "%s", word);
}

static void send_state(struct follower *follower, int profile_fd, const struct serve_added *added)
{
    char state[256], word[16] = "saved";
    if (!follower->is_saved)
        request_state(follower, word, sizeof(word));
    snprintf(state, sizeof(state),
             "{\"generation\":%u,\"state\":\"%s\",\"samples\":%" PRIu64
             ",\"seconds\":%.3f,\"period\":%.3f,\"isFull\":%s}",
             follower->generation, word, follower->samples, (double)follower->length / 1e9,
             follower->took * LIVE_REST > LIVE_PERIOD ? follower->took * LIVE_REST / 1e3 : LIVE_PERIOD / 1e3,
             follower->is_full ? "true" : "false");
    serve_live_publish(follower->server, profile_fd, added, state, !follower->is_saved);
}

static int start_server(struct follower *follower, int profile_fd, const struct serve_added *added, struct error *err)
{
    struct directory_path path;
    const struct serving_options *options = follower->options;
    const struct serve_options serve = {
        .assets = page_assets,
        .asset_count = page_asset_count,
        .port = options->port,
        .search_port = options->search_port,
        .cache_directory = options->no_cache ? NULL : cache_directory(&path),
        .search = &follower->symbols->search,
        .source_maps = options->source_maps.data,
        .source_map_count = options->source_maps.length,
        .added = added,
        .is_live = true,
        .control = forward_request,
        .control_context = follower,
    };
    int code = serve_start(&follower->server, &serve, profile_fd, err);
    if (code)
        return code;
    ui_print_message("%s follows the recording  (Ctrl+C ends it)", serve_url(follower->server));
    if (!options->no_open && browser_has_desktop())
        browser_open(&follower->browser, serve_url(follower->server));
    return 0;
}

static off_t size_of(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? info.st_size : 0;
}

/* ns that the process has used. Wall time would say how busy the target is, which goes first. */
static uint64_t cpu_time(void)
{
    struct timespec used = {0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

/* Goes on with the profile that grows, or begins another one. */
static int grow_profile(struct follower *follower, struct assemble_result *result, struct serve_added *added,
                        struct error *err)
{
    struct live_assembly *growing = follower->growing;
    bool is_new = !growing || (monotonic_ns() >= follower->next_base && live_assembly_is_outdated(growing));
    if (is_new)
        growing = live_assembly_new(follower->spool, &follower->assemble);
    uint64_t cpu = cpu_time();
    int code = growing ? live_assembly_go_on(growing, result, &added->end, err) : error_no_memory(err);
    bool is_lost = code && code != -ENODATA;
    if (is_new && is_lost) {
        live_assembly_free(growing);
        return code;
    }
    if (is_new || is_lost) {
        live_assembly_free(is_new ? follower->growing : growing);
        follower->growing = is_lost ? NULL : growing;
        follower->base++;
        follower->next_base = monotonic_ns() + LIVE_REST * (cpu_time() - cpu);
    }
    added->fd = code ? -1 : live_assembly_fd(growing);
    added->base = follower->base;
    return code;
}

/* Makes a profile of what there is, and serves it. A recording that has no thread yet is looked at again later. */
static int publish_profile(struct follower *follower, struct error *err)
{
    struct assemble_result result;
    struct serve_added added = {.fd = -1};
    struct error ignored = {0};
    uint64_t start = monotonic_ns(), cpu = cpu_time();
    follower->spool_size = size_of(follower->spool);
    int code = follower->drops_samples
                   ? assemble_recording(follower->spool, NULL, &follower->assemble, &result, &ignored)
                   : grow_profile(follower, &result, &added, &ignored);
    follower->took = (double)(cpu_time() - cpu) / 1e6;
    follower->next = monotonic_ns() + (uint64_t)(follower->took * LIVE_REST * 1e6);
    if (follower->next < start + LIVE_PERIOD * UINT64_C(1000000))
        follower->next = start + LIVE_PERIOD * UINT64_C(1000000);
    if (!follower->server) /* nobody waits longer than that for the first one */
        follower->next = start + LIVE_POLL * UINT64_C(1000000);
    if (code)
        return 0;
    follower->next = follower->server ? follower->next : start + LIVE_PERIOD * UINT64_C(1000000);
    follower->generation++;
    follower->samples = result.samples;
    follower->is_full = result.samples + result.waits > LIVE_MOST_SAMPLES;
    follower->length = result.length;
    const struct serve_added *is_added = added.fd >= 0 ? &added : NULL;
    if (!follower->server) {
        code = start_server(follower, result.memory_fd, is_added, err);
        if (!code)
            send_state(follower, -1, NULL);
        return code;
    }
    send_state(follower, result.memory_fd, is_added);
    return 0;
}

static void publish_saved(struct follower *follower, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct error err = {0};
    if (fd < 0)
        return;
    follower->is_saved = true;
    follower->generation++;
    int code = follower->server ? 0 : start_server(follower, fd, NULL, &err);
    if (code)
        ui_fail_error(&err);
    else
        send_state(follower, fd, NULL);
}

/* Waits a moment for a message of the recorder. False when it has ended. */
static bool read_message(struct follower *follower)
{
    char path[PATH_MAX];
    struct pollfd waits = {.fd = follower->socket, .events = POLLIN};
    if (poll(&waits, 1, LIVE_POLL) <= 0)
        return true;
    ssize_t got = recv(follower->socket, path, sizeof(path) - 1, 0);
    if (got <= 0)
        return got < 0 && errno == EINTR;
    path[got] = '\0';
    publish_saved(follower, path);
    (void)!send(follower->socket, follower->server ? "1" : "0", 1, MSG_NOSIGNAL);
    return follower->server != NULL;
}

static int follow_recording(struct follower *follower)
{
    struct error err = {0};
    symbol_options_open(follower->symbols);
    follower->assemble = (struct assemble_options){
        .threads = 1, /* the target's processors are not ours */
        .cache_directory = follower->options->no_cache ? NULL : cache_directory(&follower->cache),
        .search = &follower->symbols->search,
        .numbers = &follower->numbers};
    while (read_message(follower)) {
        uint64_t now = monotonic_ns();
        bool is_wanted = !follower->server || serve_live_pages(follower->server);
        if (follower->server && now - follower->last_beat >= LIVE_BEAT * UINT64_C(1000000)) {
            serve_live_beat(follower->server);
            follower->last_beat = now;
        }
        if (follower->is_saved || follower->is_full || now < follower->next || !is_wanted ||
            size_of(follower->spool) == follower->spool_size)
            continue;
        if (publish_profile(follower, &err)) {
            ui_fail_error(&err);
            break;
        }
    }
    browser_remove(&follower->browser);
    symbol_options_stop(follower->symbols);
    serve_stop(follower->server);
    live_assembly_free(follower->growing);
    stable_numbers_destroy(&follower->numbers);
    return EXIT_SUCCESS;
}

/* It takes nothing from the recorder and the target. Signals stay blocked: Ctrl+C, which reaches it as well, is the
 * recorder's, which ends it. */
static _Noreturn void run_live_process(struct follower *follower)
{
    const struct sched_param normal = {0};
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    sched_setscheduler(0, SCHED_OTHER, &normal);
    setpriority(PRIO_PROCESS, 0, LIVE_NICE);
    _exit(follow_recording(follower));
}

/* ---- the recorder's side ---- */

int live_view_start(struct live_view **out, const char *spool, bool drops_samples,
                    const struct serving_options *options, struct symbol_options *symbols, struct error *err)
{
    int ends[2];
    struct live_view *live = calloc(1, sizeof(*live));
    *out = NULL;
    if (!live)
        return error_no_memory(err);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
        free(live);
        return error_set(err, errno, "cannot start the live page: %s", strerror(errno));
    }
    fflush(NULL);
    pid_t recorder = getpid();
    live->pid = fork();
    if (live->pid == 0) {
        close(ends[0]);
        struct follower follower = {.spool = spool,
                                    .drops_samples = drops_samples,
                                    .options = options,
                                    .symbols = symbols,
                                    .recorder = recorder,
                                    .socket = ends[1]};
        run_live_process(&follower);
    }
    close(ends[1]);
    live->socket = ends[0];
    *out = live;
    if (live->pid > 0)
        return 0;
    int code = error_set(err, errno, "cannot start a process for the live page: %s", strerror(errno));
    close(live->socket);
    free(live);
    *out = NULL;
    return code;
}

static bool is_ignored(int signal_number)
{
    struct sigaction action;
    return sigaction(signal_number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* For one of the signals that end, or the end of the process. */
static void wait_for_end(const struct live_view *live)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t signals;
    struct pollfd ended = {.fd = live->socket, .events = POLLIN};
    const struct timespec step = {.tv_nsec = 200 * 1000 * 1000};
    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof(ending) / sizeof(*ending); i++)
        if (!is_ignored(ending[i]))
            sigaddset(&signals, ending[i]);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    while (sigtimedwait(&signals, NULL, &step) < 0 && poll(&ended, 1, 0) == 0)
        continue;
}

bool live_view_show_saved(struct live_view *live, const char *profile_path)
{
    char answer = '0';
    bool is_shown = send(live->socket, profile_path, strlen(profile_path), MSG_NOSIGNAL) > 0 &&
                    recv(live->socket, &answer, 1, 0) == 1 && answer == '1';
    if (is_shown)
        wait_for_end(live);
    return is_shown;
}

void live_view_end(struct live_view *live)
{
    if (!live)
        return;
    close(live->socket);
    while (waitpid(live->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    free(live);
}
