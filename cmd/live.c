#include "cmd/live.h"

#include "cmd/browser.h"
#include "cmd/ctl.h"
#include "cmd/common/companion.h"
#include "cmd/common/directories.h"
#include "cmd/page.h"
#include "cmd/common/ui.h"

#include "assemble/live_assembly.h"
#include "os/clock.h"
#include "os/control_socket.h"
#include "os/ending_signals.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    LIVE_PERIOD_MS = 1000, /* minimum between two profiles */
    LIVE_REST =
        20, /* pause after a profile, in multiples of its CPU time: the process uses at most a twentieth of a CPU */
    LIVE_BEAT_MS = 3000, /* interval of the messages that show the page that the server runs */
    LIVE_POLL_MS = 100,
    LIVE_MOST_SAMPLES = 10000000,
};

/* ---- the process ---- */

struct follower {
    const char *spool;
    const struct serving_options *options;
    struct symbol_options *symbols;
    pid_t recorder;
    int socket;
    struct server *server; /* NULL until the first profile exists */
    struct stable_numbers numbers;
    struct directory_path cache;
    struct assemble_options assemble;
    struct live_assembly *growing; /* if NULL, each step makes the whole profile */
    bool drops_samples;            /* a flight recorder drops its oldest samples, so the profile cannot grow */
    unsigned base;                 /* number of times that `growing` was made anew */
    uint64_t next_base;            /* ns: the earliest time of the next new `growing` */
    uint64_t next, last_beat;      /* ns */
    double took;                   /* ms of CPU time that the last profile took */
    unsigned generation;
    uint64_t samples, length;
    off_t spool_size; /* bytes of the spool file when the last profile was made */
    bool is_saved;
    bool is_full; /* the last profile has LIVE_MOST_SAMPLES */
    struct browser_file browser;
};

/* Forwards a request of the page to the recorder, in the server's thread. */
static bool forward_request(void *context, const char *request, char *answer, size_t size)
{
    const struct follower *follower = context;
    char reply[CONTROL_LINE];
    if (!ctl_send_request(follower->recorder, request, reply, sizeof(reply))) {
        snprintf(answer, size, "the recording has ended");
        return false;
    }
    bool ok = strncmp(reply, "ok ", strlen("ok ")) == 0;
    snprintf(answer, size, "%s", reply + strcspn(reply, " ") + (strchr(reply, ' ') != NULL));
    return ok;
}

/* Requests the state of the recorder, one word such as "recording" or "paused". */
static void request_state(const struct follower *follower, char *state, size_t size)
{
    char reply[CONTROL_LINE], word[16] = "ending";
    if (ctl_send_request(follower->recorder, "status", reply, sizeof(reply)))
        sscanf(reply, "ok %15[a-z]", word);
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
             follower->took * LIVE_REST > LIVE_PERIOD_MS ? follower->took * LIVE_REST / 1e3 : LIVE_PERIOD_MS / 1e3,
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
        .cache_directory = options->no_cache ? NULL : find_cache_directory(&path),
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
    ui_print_message("%s follows the recording  (Ctrl+C ends it)", serve_get_url(follower->server));
    print_tunnel(serve_get_port(follower->server));
    if (!options->no_open && browser_has_desktop())
        open_browser(&follower->browser, serve_get_url(follower->server));
    return 0;
}

static off_t get_file_size(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? info.st_size : 0;
}

/* Returns the CPU time of this process in ns. Wall time would include the time in which the target, at higher priority,
 * runs. */
static uint64_t read_cpu_time(void)
{
    struct timespec used = {0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return timespec_to_ns(used);
}

/* Extends the growing profile, or begins a new one. */
static int grow_profile(struct follower *follower, struct assemble_result *result, struct serve_added *added,
                        struct error *err)
{
    struct live_assembly *growing = follower->growing;
    bool is_new = !growing || (monotonic_ns() >= follower->next_base && live_assembly_is_outdated(growing));
    if (is_new)
        growing = live_assembly_new(follower->spool, &follower->assemble);
    uint64_t cpu = read_cpu_time();
    int code = growing ? live_assembly_add_step(growing, result, &added->end, err) : error_no_memory(err);
    bool is_lost = code && code != -ENODATA;
    if (is_new && is_lost) {
        live_assembly_free(growing);
        return code;
    }
    if (is_new || is_lost) {
        live_assembly_free(is_new ? follower->growing : growing);
        follower->growing = is_lost ? NULL : growing;
        follower->base++;
        follower->next_base = monotonic_ns() + LIVE_REST * (read_cpu_time() - cpu);
    }
    added->fd = code ? -1 : live_assembly_get_fd(growing);
    added->base = follower->base;
    return code;
}

/* Makes a profile of the recording so far, and serves it. If the recording has no thread yet, the next step tries
 * again. */
static int publish_profile(struct follower *follower, struct error *err)
{
    struct assemble_result result;
    struct serve_added added = {.fd = -1};
    struct error ignored = {0};
    uint64_t start = monotonic_ns(), cpu = read_cpu_time();
    follower->spool_size = get_file_size(follower->spool);
    int code = follower->drops_samples
                   ? assemble_recording(follower->spool, NULL, &follower->assemble, &result, &ignored)
                   : grow_profile(follower, &result, &added, &ignored);
    follower->took = (double)(read_cpu_time() - cpu) / 1e6;
    follower->next = monotonic_ns() + (uint64_t)(follower->took * LIVE_REST * 1e6);
    if (follower->next < start + LIVE_PERIOD_MS * UINT64_C(1000000))
        follower->next = start + LIVE_PERIOD_MS * UINT64_C(1000000);
    if (!follower->server) /* the first profile appears without a longer delay */
        follower->next = start + LIVE_POLL_MS * UINT64_C(1000000);
    if (code)
        return 0;
    follower->next = follower->server ? follower->next : start + LIVE_PERIOD_MS * UINT64_C(1000000);
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
        ui_fail_with_error(&err);
    else
        send_state(follower, fd, NULL);
}

/* Waits up to LIVE_POLL_MS ms for a message of the recorder. Returns false after the recorder has ended. */
static bool read_message(struct follower *follower)
{
    char path[PATH_MAX];
    struct pollfd waits = {.fd = follower->socket, .events = POLLIN};
    if (poll(&waits, 1, LIVE_POLL_MS) <= 0)
        return true;
    ssize_t got = recv(follower->socket, path, sizeof(path) - 1, 0);
    if (got <= 0)
        return got < 0 && errno == EINTR;
    path[got] = '\0';
    publish_saved(follower, path);
    (void)!send(follower->socket, follower->server ? "1" : "0", 1, MSG_NOSIGNAL);
    return follower->server != NULL;
}

static int follow_recording(void *context, int socket)
{
    struct follower *follower = context;
    struct error err = {0};
    follower->socket = socket;
    symbol_options_open(follower->symbols);
    follower->assemble = (struct assemble_options){
        .threads = 1, /* one thread, because the target needs the other CPUs */
        .cache_directory = follower->options->no_cache ? NULL : find_cache_directory(&follower->cache),
        .search = &follower->symbols->search,
        .numbers = &follower->numbers};
    while (read_message(follower)) {
        uint64_t now = monotonic_ns();
        bool is_wanted = !follower->server || serve_count_pages(follower->server);
        if (follower->server && now - follower->last_beat >= LIVE_BEAT_MS * UINT64_C(1000000)) {
            serve_send_heartbeat(follower->server);
            follower->last_beat = now;
        }
        if (follower->is_saved || follower->is_full || now < follower->next || !is_wanted ||
            get_file_size(follower->spool) == follower->spool_size)
            continue;
        if (publish_profile(follower, &err)) {
            ui_fail_with_error(&err);
            break;
        }
    }
    remove_browser_file(&follower->browser);
    symbol_options_stop(follower->symbols);
    serve_stop(follower->server);
    live_assembly_free(follower->growing);
    stable_numbers_destroy(&follower->numbers);
    return EXIT_SUCCESS;
}

/* ---- the recorder's side ---- */

int live_view_start(struct companion **out, const char *spool, bool drops_samples,
                    const struct serving_options *options, struct symbol_options *symbols, struct error *err)
{
    struct follower follower = {
        .spool = spool, .drops_samples = drops_samples, .options = options, .symbols = symbols, .recorder = getpid()};
    return companion_start(out, follow_recording, &follower, "show the live page", err);
}

/* Waits for SIGINT, SIGTERM or SIGHUP, or for the end of the live process. */
static void wait_for_end(const struct companion *live)
{
    sigset_t signals;
    struct pollfd ended = {.fd = live->socket, .events = POLLIN};
    const struct timespec step = {.tv_nsec = 200 * 1000 * 1000};
    list_ending_signals(&signals);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    while (sigtimedwait(&signals, NULL, &step) < 0 && poll(&ended, 1, 0) == 0)
        continue;
}

bool live_view_show_saved(struct companion *live, const char *profile_path)
{
    char answer = '0';
    bool is_shown = send(live->socket, profile_path, strlen(profile_path), MSG_NOSIGNAL) > 0 &&
                    recv(live->socket, &answer, 1, 0) == 1 && answer == '1';
    if (is_shown)
        wait_for_end(live);
    return is_shown;
}
