/*
 * Several threads fetch debug files at once, but a client of libdebuginfod serves one thread. A client keeps its
 * connections open, and a TLS handshake costs more than the answer. So clients are pooled, and each fetch borrows one.
 *
 * A client of libdebuginfod can be stopped only when it reports progress, and some versions report no progress while a
 * server is silent (0.192 waits for minutes). So a separate thread fetches, and the caller waits for this thread up to
 * a time limit.
 *
 * Prototypes: debuginfod_find_debuginfo(3), elfutils 0.182 and later.
 */
#include "symbol/debug_server.h"

#include "base/array.h"
#include "os/clock.h"
#include "os/late_library.h"
#include "os/parallel.h"
#include "symbol/library_id.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUILD_ID_MAX = 63 }; /* limit of libdebuginfod */

struct debuginfod_client;

struct debuginfod_client *debuginfod_begin(void);
void debuginfod_end(struct debuginfod_client *client);
int debuginfod_find_debuginfo(struct debuginfod_client *client, const unsigned char *id, int id_size, char **path);
int debuginfod_find_executable(struct debuginfod_client *client, const unsigned char *id, int id_size, char **path);
int debuginfod_find_source(struct debuginfod_client *client, const unsigned char *id, int id_size, const char *name,
                           char **path);
void debuginfod_set_progressfn(struct debuginfod_client *client, int (*call)(struct debuginfod_client *, long, long));
void debuginfod_set_user_data(struct debuginfod_client *client, void *data);
void *debuginfod_get_user_data(struct debuginfod_client *client);

#define FUNCTIONS(use)                                                                                                 \
    use(debuginfod_begin) use(debuginfod_end) use(debuginfod_find_debuginfo) use(debuginfod_find_executable)           \
        use(debuginfod_find_source) use(debuginfod_set_progressfn) use(debuginfod_set_user_data)

struct library {
    FUNCTIONS(LATE_FUNCTION)
};

struct debug_server {
    struct debug_server_options options;
    struct library library;
    atomic_bool stopped;
    pthread_mutex_t lock; /* guards all members below; locked during options.progress() */
    ARRAY(struct debuginfod_client *) idle;
    uint32_t files;
    struct error problem;
    struct debug_server_progress newest; /* without a name */
    char newest_name[DEBUG_SERVER_NAME];
};

/* One fetch, shared by the fetching thread and the waiting thread. The last thread to finish frees the fetch. */
struct fetch {
    struct library library;
    struct debuginfod_client *client;
    enum debug_server_file kind;
    unsigned char build_id[BUILD_ID_MAX];
    size_t build_id_size;
    char *name;

    pthread_mutex_t lock; /* guards everything below */
    pthread_cond_t changed;
    uint64_t done, total; /* bytes; total 0: unknown */
    bool has_progress;    /* the client has reported progress, so the fetch is not a cache hit */
    bool ended;           /* `result` is valid */
    int result;
    bool is_canceled; /* the fetching thread should stop */
    bool left;        /* the waiting thread no longer waits */
};

static const char libdebuginfod[] = "libdebuginfod.so.1";

static bool load_library(struct library *library)
{
    static const struct late_symbol symbols[] = {FUNCTIONS(LATE_SYMBOL)};
    return late_library_load(libdebuginfod, symbols, sizeof(symbols) / sizeof(*symbols), library);
}

int debug_server_new(struct debug_server **out, const struct debug_server_options *options, struct error *err)
{
    struct debug_server *server = calloc(1, sizeof(*server));
    *out = NULL;
    if (!server)
        return error_no_memory(err);
    if (options)
        server->options = *options;
    if (!server->options.max_bytes)
        server->options.max_bytes = DEBUG_SERVER_MAX_BYTES;
    if (!server->options.max_seconds)
        server->options.max_seconds = DEBUG_SERVER_MAX_SECONDS;
    if (!server->options.silent_seconds)
        server->options.silent_seconds = DEBUG_SERVER_SILENT_SECONDS;
    pthread_mutex_init(&server->lock, NULL);
    if (load_library(&server->library)) {
        *out = server;
        return 0;
    }
    debug_server_free(server);
    return error_set(
        err, ENOSYS,
        "cannot download debug files: libdebuginfod is not installed (package libdebuginfod1 or elfutils)");
}

void debug_server_free(struct debug_server *server)
{
    if (!server)
        return;
    for (size_t i = 0; i < server->idle.length; i++)
        server->library.debuginfod_end(server->idle.data[i]);
    array_free(&server->idle);
    pthread_mutex_destroy(&server->lock);
    /* libdebuginfod stays loaded, because it and its dependencies (TLS, HTTP) do not support unloading. */
    free(server);
}

void debug_server_stop(struct debug_server *server)
{
    atomic_store(&server->stopped, true);
}

const char *debug_server_describe_problem(const struct debug_server *server)
{
    return server->problem.text;
}

/* ---- the fetching thread ---- */

/* Before libdebuginfod has received bytes, it reports a smaller count, which is not in bytes. */
enum { SURELY_BYTES = 4096 };

/* Progress callback of libdebuginfod; nonzero cancels the fetch. */
static int store_progress(struct debuginfod_client *client, long done, long total)
{
    static const struct late_symbol symbols[] = {LATE_SYMBOL(debuginfod_get_user_data)};
    void *(*user_data)(struct debuginfod_client *);
    if (!late_library_load(libdebuginfod, symbols, 1, &user_data))
        return 1;
    struct fetch *fetch = user_data(client);
    pthread_mutex_lock(&fetch->lock);
    fetch->has_progress = true;
    if (done > 0 && (uint64_t)done > fetch->done && (total > 0 || done >= SURELY_BYTES))
        fetch->done = (uint64_t)done;
    if (total > 0 && (uint64_t)total > fetch->total)
        fetch->total = (uint64_t)total;
    bool is_canceled = fetch->is_canceled;
    pthread_mutex_unlock(&fetch->lock);
    return is_canceled;
}

static int fetch_file(const struct fetch *fetch)
{
    const struct library *library = &fetch->library;
    const int size = (int)fetch->build_id_size;
    switch (fetch->kind) {
    case DEBUG_SERVER_DEBUG_INFO:
        return library->debuginfod_find_debuginfo(fetch->client, fetch->build_id, size, NULL);
    case DEBUG_SERVER_PROGRAM:
        return library->debuginfod_find_executable(fetch->client, fetch->build_id, size, NULL);
    case DEBUG_SERVER_SOURCE:
        return library->debuginfod_find_source(fetch->client, fetch->build_id, size, fetch->name, NULL);
    }
    return -EINVAL;
}

/* Finds libdebuginfod's cache directory: debuginfod-client-config(7). */
static bool find_cache_directory(char *path, size_t size)
{
    const char *own = getenv("DEBUGINFOD_CACHE_PATH"), *home = getenv("HOME"), *caches = getenv("XDG_CACHE_HOME");
    struct stat status;
    int length;
    if (own && *own)
        return (size_t)snprintf(path, size, "%s", own) < size;
    length = snprintf(path, size, "%s/.debuginfod_client_cache", home ? home : "/");
    if ((size_t)length >= size || stat(path, &status) == 0)
        return (size_t)length < size;
    if (caches && *caches)
        return (size_t)snprintf(path, size, "%s/debuginfod_client", caches) < size;
    return (size_t)snprintf(path, size, "%s/.cache/debuginfod_client", home ? home : "/") < size;
}

/* After a canceled fetch, libdebuginfod (0.188) caches the absence of the file as an empty file, and would not retry
 * for ten minutes. Removes that file. */
static void remove_cached_absence(const struct fetch *fetch)
{
    char path[PATH_MAX];
    char id[CODE_ID_SIZE];
    struct stat status;
    if (fetch->kind == DEBUG_SERVER_SOURCE || !find_cache_directory(path, sizeof(path)))
        return;
    write_code_id(fetch->build_id, fetch->build_id_size, id);
    size_t used = strlen(path);
    int length = snprintf(path + used, sizeof(path) - used, "/%s/%s", id,
                          fetch->kind == DEBUG_SERVER_PROGRAM ? "executable" : "debuginfo");
    if ((size_t)length < sizeof(path) - used && lstat(path, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size == 0)
        unlink(path);
}

static void fetch_free(struct fetch *fetch)
{
    pthread_cond_destroy(&fetch->changed);
    pthread_mutex_destroy(&fetch->lock);
    free(fetch->name);
    free(fetch);
}

static void *run_fetch(void *context)
{
    struct fetch *fetch = context;
    int result = fetch_file(fetch);
    pthread_mutex_lock(&fetch->lock);
    fetch->ended = true;
    fetch->result = result;
    if (result < 0 && fetch->is_canceled)
        remove_cached_absence(fetch);
    bool left = fetch->left;
    pthread_cond_signal(&fetch->changed);
    pthread_mutex_unlock(&fetch->lock);
    if (left) {
        if (result >= 0)
            close(result);
        fetch->library.debuginfod_end(fetch->client);
        fetch_free(fetch);
    }
    return NULL;
}

static struct fetch *fetch_new(const struct library *library, enum debug_server_file kind,
                               const unsigned char *build_id, size_t build_id_size, const char *name)
{
    struct fetch *fetch = calloc(1, sizeof(*fetch));
    char *copy = strdup(name);
    if (!fetch || !copy) {
        free(fetch);
        free(copy);
        return NULL;
    }
    fetch->library = *library;
    fetch->kind = kind;
    memcpy(fetch->build_id, build_id, build_id_size);
    fetch->build_id_size = build_id_size;
    fetch->name = copy;
    pthread_mutex_init(&fetch->lock, NULL);
    condition_init(&fetch->changed);
    return fetch;
}

/* ---- the waiting thread ---- */

#define MS UINT64_C(1000000)

enum {
    CHECK_MS = 100,      /* interval of checks by the waiting thread */
    SHOW_AFTER_MS = 500, /* progress is shown after this time, even without bytes */
    CANCEL_MS = 1500     /* libdebuginfod reports progress once a second */
};

/* State of a fetch in the waiting thread. */
struct watch {
    const char *name;
    uint64_t started, last_bytes; /* ns */
    uint64_t done, total;
    bool has_progress, ended;
    bool is_shown; /* options.progress() was called */
};

/* Waits at most `ms` for the end of the fetch. */
static void wait_for_ms(struct fetch *fetch, struct watch *watch, unsigned ms)
{
    const struct timespec end = make_monotonic_time_after_ms(ms);
    pthread_mutex_lock(&fetch->lock);
    while (!fetch->ended && pthread_cond_timedwait(&fetch->changed, &fetch->lock, &end) == 0)
        ;
    if (fetch->done > watch->done)
        watch->last_bytes = monotonic_ns();
    watch->done = fetch->done;
    watch->total = fetch->total;
    watch->has_progress = fetch->has_progress;
    watch->ended = fetch->ended;
    pthread_mutex_unlock(&fetch->lock);
}

static void report_progress(struct debug_server *server, struct watch *watch)
{
    watch->is_shown = true;
    pthread_mutex_lock(&server->lock);
    struct debug_server_progress progress = {
        .name = watch->name, .done = watch->done, .total = watch->total, .files = server->files, .ended = watch->ended};
    server->newest = progress;
    snprintf(server->newest_name, sizeof(server->newest_name), "%s", watch->name);
    if (server->options.progress && !server->options.progress(server->options.context, &progress))
        debug_server_stop(server);
    pthread_mutex_unlock(&server->lock);
}

struct debug_server_progress debug_server_get_progress(struct debug_server *server, char name[DEBUG_SERVER_NAME])
{
    pthread_mutex_lock(&server->lock);
    struct debug_server_progress progress = server->newest;
    memcpy(name, server->newest_name, DEBUG_SERVER_NAME);
    pthread_mutex_unlock(&server->lock);
    progress.name = name;
    return progress;
}

/* Returns 0, or an errno value: the reason to stop the fetch. */
static int find_cancel_reason(const struct debug_server *server, const struct watch *watch)
{
    const uint64_t second = 1000 * MS, now = monotonic_ns();
    const struct debug_server_options *options = &server->options;
    if (watch->done > options->max_bytes || watch->total > options->max_bytes)
        return E2BIG;
    if (now - watch->started > options->max_seconds * second ||
        now - watch->last_bytes > options->silent_seconds * second)
        return ETIMEDOUT;
    return atomic_load(&server->stopped) ? ECANCELED : 0;
}

/* Waits for the end of the fetch. Returns 0 at its end, or the errno value of the reason to stop the fetch. */
static int wait_for_fetch(struct debug_server *server, struct fetch *fetch, struct watch *watch)
{
    for (;;) {
        wait_for_ms(fetch, watch, CHECK_MS);
        if (watch->ended)
            return 0;
        bool is_long = watch->has_progress || monotonic_ns() - watch->started > SHOW_AFTER_MS * MS;
        if (is_long && !atomic_load(&server->stopped))
            report_progress(server, watch);
        int reason = find_cancel_reason(server, watch);
        if (!reason)
            continue;
        pthread_mutex_lock(&fetch->lock);
        fetch->is_canceled = true;
        pthread_mutex_unlock(&fetch->lock);
        wait_for_ms(fetch, watch, CANCEL_MS);
        return reason;
    }
}

/* ---- fetching ---- */

static struct debuginfod_client *take_idle_client(struct debug_server *server)
{
    struct debuginfod_client *client = NULL;
    pthread_mutex_lock(&server->lock);
    if (server->idle.length)
        client = server->idle.data[--server->idle.length];
    pthread_mutex_unlock(&server->lock);
    if (!client && (client = server->library.debuginfod_begin()))
        server->library.debuginfod_set_progressfn(client, store_progress);
    return client;
}

static void release_client(struct debug_server *server, struct debuginfod_client *client)
{
    pthread_mutex_lock(&server->lock);
    bool kept = array_push(&server->idle, client);
    pthread_mutex_unlock(&server->lock);
    if (!kept)
        server->library.debuginfod_end(client);
}

/* Returns whether the next fetch would fail the same way. */
static bool is_failure_of_server(int code)
{
    return code != ENOENT && code != E2BIG && code != EFBIG && code != ECANCELED && code != ENOMEM && code != EINVAL;
}

static int set_fetch_error(struct debug_server *server, const char *name, int code, struct error *err)
{
    struct error why = {""};
    const char *urls = getenv("DEBUGINFOD_URLS");
    if (code == EFBIG || code == E2BIG)
        code = error_set(&why, E2BIG, "the debug server's file for %s is larger than %llu MiB", name,
                         (unsigned long long)server->options.max_bytes >> 20);
    else if (code == ENOENT)
        code = error_set(&why, ENOENT, "no debug server has a file for %s", name);
    else if (code == ECANCELED)
        code = error_set(&why, ECANCELED, "downloads from debug servers were stopped");
    else if (code == ETIMEDOUT || code == ETIME)
        code = error_set(&why, ETIMEDOUT, "the debug server takes too long for %s", name);
    else if (!urls || !*urls)
        code = error_set(&why, code, "cannot download debug files: DEBUGINFOD_URLS names no server");
    else
        code = error_set(&why, code, "cannot download debug files from %s: %s", urls, strerror(code));
    pthread_mutex_lock(&server->lock);
    if (is_failure_of_server(-code)) {
        debug_server_stop(server);
        if (!server->problem.text[0])
            server->problem = why;
    }
    pthread_mutex_unlock(&server->lock);
    if (err)
        *err = why;
    return code;
}

/* Frees the fetch, now or when the fetching thread ends. Returns the result of a finished fetch. */
static int end_fetch(struct debug_server *server, struct fetch *fetch)
{
    pthread_mutex_lock(&fetch->lock);
    bool ended = fetch->ended;
    int result = fetch->result;
    fetch->left = true;
    pthread_mutex_unlock(&fetch->lock);
    if (!ended)
        return -ECANCELED;
    release_client(server, fetch->client);
    fetch_free(fetch);
    return result;
}

int debug_server_fetch(struct debug_server *server, enum debug_server_file kind, const unsigned char *build_id,
                       size_t build_id_size, const char *name, struct error *err)
{
    if (build_id_size == 0 || build_id_size > BUILD_ID_MAX || (kind == DEBUG_SERVER_SOURCE && name[0] != '/'))
        return set_fetch_error(server, name, ENOENT, err);
    if (atomic_load(&server->stopped))
        return set_fetch_error(server, name, ECANCELED, err);
    struct fetch *fetch = fetch_new(&server->library, kind, build_id, build_id_size, name);
    if (!fetch)
        return error_no_memory(err);
    fetch->client = take_idle_client(server);
    if (!fetch->client) {
        fetch_free(fetch);
        return error_no_memory(err);
    }
    server->library.debuginfod_set_user_data(fetch->client, fetch);
    if (!thread_start_detached(run_fetch, fetch)) {
        release_client(server, fetch->client);
        fetch_free(fetch);
        return error_no_memory(err);
    }
    struct watch watch = {.name = name, .started = monotonic_ns()};
    watch.last_bytes = watch.started;
    int reason = wait_for_fetch(server, fetch, &watch);
    if (!reason && watch.has_progress && fetch->result >= 0) {
        pthread_mutex_lock(&server->lock);
        server->files++;
        pthread_mutex_unlock(&server->lock);
    }
    watch.ended = true;
    if (watch.has_progress || watch.is_shown)
        report_progress(server, &watch);
    int result = end_fetch(server, fetch);
    if (reason && result >= 0)
        close(result);
    return !reason && result >= 0 ? result : set_fetch_error(server, name, reason ? reason : -result, err);
}
