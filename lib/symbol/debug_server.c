/*
 * Several threads look for debug files at once, but a client of libdebuginfod serves one thread. It keeps its
 * connections to the servers, which with TLS cost more than the answer, so clients are kept as well, and lent to
 * whoever asks.
 *
 * Prototypes: debuginfod_find_debuginfo(3), elfutils 0.182 and later.
 */
#include "symbol/debug_server.h"

#include "base/array.h"
#include "base/clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUILD_ID_MAX = 63 }; /* of libdebuginfod */

struct debuginfod_client;

struct library {
    struct debuginfod_client *(*begin)(void);
    void (*end)(struct debuginfod_client *client);
    int (*find_debug_info)(struct debuginfod_client *client, const unsigned char *id, int id_size, char **path);
    int (*find_program)(struct debuginfod_client *client, const unsigned char *id, int id_size, char **path);
    int (*find_source)(struct debuginfod_client *client, const unsigned char *id, int id_size, const char *name,
                       char **path);
    void (*set_progress)(struct debuginfod_client *client, int (*call)(struct debuginfod_client *, long, long));
    void (*set_user_data)(struct debuginfod_client *client, void *data);
};

struct debug_server {
    struct debug_server_options options;
    struct library library;
    atomic_bool stopped;
    pthread_mutex_t lock; /* for all below, and held while options.progress() is called */
    ARRAY(struct debuginfod_client *) idle;
    uint32_t files;
    struct error problem;
};

/* One file on its way. */
struct fetch {
    struct debug_server *server;
    const char *name;
    uint64_t started;     /* ns */
    uint64_t done, total; /* bytes; total 0: not known yet */
    uint64_t last_bytes;  /* ns: when the first or some more came */
    bool was_asked;       /* there was progress, so it was not in the cache */
    int failure;          /* why watch_fetch() gave it up; 0: it did not */
};

static bool load_function(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof(symbol)); /* C has no conversion between the two kinds of pointers */
    return symbol != NULL;
}

/* RTLD_GLOBAL: watch_fetch() looks a function up by its name, since it knows nothing but its client. */
static bool load_library(struct library *library)
{
    void *handle = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_GLOBAL);
    return handle && load_function(handle, "debuginfod_begin", &library->begin) &&
           load_function(handle, "debuginfod_end", &library->end) &&
           load_function(handle, "debuginfod_find_debuginfo", &library->find_debug_info) &&
           load_function(handle, "debuginfod_find_executable", &library->find_program) &&
           load_function(handle, "debuginfod_find_source", &library->find_source) &&
           load_function(handle, "debuginfod_set_progressfn", &library->set_progress) &&
           load_function(handle, "debuginfod_set_user_data", &library->set_user_data) &&
           load_function(handle, "debuginfod_get_user_data", &(void *){NULL});
}

struct debug_server *debug_server_new(const struct debug_server_options *options, struct error *err)
{
    struct debug_server *server = calloc(1, sizeof(*server));
    if (!server) {
        error_no_memory(err);
        return NULL;
    }
    if (options)
        server->options = *options;
    if (!server->options.max_bytes)
        server->options.max_bytes = DEBUG_SERVER_MAX_BYTES;
    if (!server->options.max_seconds)
        server->options.max_seconds = DEBUG_SERVER_MAX_SECONDS;
    pthread_mutex_init(&server->lock, NULL);
    if (load_library(&server->library))
        return server;
    error_set(err, ENOSYS,
              "debug files cannot be fetched: libdebuginfod is not installed (package libdebuginfod1 or elfutils)");
    debug_server_free(server);
    return NULL;
}

void debug_server_free(struct debug_server *server)
{
    if (!server)
        return;
    for (size_t i = 0; i < server->idle.length; i++)
        server->library.end(server->idle.data[i]);
    array_free(&server->idle);
    pthread_mutex_destroy(&server->lock);
    /* The library stays loaded: it and those that it needs (TLS, HTTP) are not made to be unloaded. */
    free(server);
}

void debug_server_stop(struct debug_server *server)
{
    atomic_store(&server->stopped, true);
}

const char *debug_server_problem(const struct debug_server *server)
{
    return server->problem.text;
}

/* ---- while a file comes ---- */

/* Before it has bytes to tell of, libdebuginfod counts something else, which stays small. */
enum { SURELY_BYTES = 4096 };

static void take_progress(struct fetch *fetch, uint64_t done, uint64_t total)
{
    const uint64_t second = UINT64_C(1000000000), now = monotonic_ns();
    const struct debug_server_options *options = &fetch->server->options;
    fetch->was_asked = true;
    if (done > fetch->done && (total || done >= SURELY_BYTES)) {
        fetch->done = done;
        fetch->last_bytes = now;
    }
    fetch->total = total > fetch->total ? total : fetch->total;
    if (fetch->done > options->max_bytes || fetch->total > options->max_bytes)
        fetch->failure = E2BIG;
    else if (now - fetch->started > options->max_seconds * second ||
             now - fetch->last_bytes > DEBUG_SERVER_SILENT_SECONDS * second)
        fetch->failure = ETIMEDOUT;
}

static void tell_progress(const struct fetch *fetch, bool ended)
{
    struct debug_server *server = fetch->server;
    if (!server->options.progress)
        return;
    pthread_mutex_lock(&server->lock);
    struct debug_server_progress progress = {
        .name = fetch->name, .done = fetch->done, .total = fetch->total, .files = server->files, .ended = ended};
    if (!server->options.progress(server->options.context, &progress))
        debug_server_stop(server);
    pthread_mutex_unlock(&server->lock);
}

/* What libdebuginfod calls; it gives up unless 0 is returned. */
static int watch_fetch(struct debuginfod_client *client, long done, long total)
{
    void *(*user_data)(struct debuginfod_client *);
    if (!load_function(RTLD_DEFAULT, "debuginfod_get_user_data", &user_data))
        return 1;
    struct fetch *fetch = user_data(client);
    take_progress(fetch, done > 0 ? (uint64_t)done : 0, total > 0 ? (uint64_t)total : 0);
    tell_progress(fetch, false);
    if (!fetch->failure && atomic_load(&fetch->server->stopped))
        fetch->failure = ECANCELED;
    return fetch->failure != 0;
}

/* ---- fetching ---- */

static struct debuginfod_client *borrow_client(struct debug_server *server)
{
    struct debuginfod_client *client = NULL;
    pthread_mutex_lock(&server->lock);
    if (server->idle.length)
        client = server->idle.data[--server->idle.length];
    pthread_mutex_unlock(&server->lock);
    if (!client && (client = server->library.begin()))
        server->library.set_progress(client, watch_fetch);
    return client;
}

static void return_client(struct debug_server *server, struct debuginfod_client *client)
{
    pthread_mutex_lock(&server->lock);
    bool kept = array_push(&server->idle, client);
    pthread_mutex_unlock(&server->lock);
    if (!kept)
        server->library.end(client);
}

static int ask(const struct library *library, struct debuginfod_client *client, enum debug_server_file what,
               const unsigned char *build_id, size_t build_id_size, const char *name)
{
    switch (what) {
    case DEBUG_SERVER_DEBUG_INFO:
        return library->find_debug_info(client, build_id, (int)build_id_size, NULL);
    case DEBUG_SERVER_PROGRAM:
        return library->find_program(client, build_id, (int)build_id_size, NULL);
    case DEBUG_SERVER_SOURCE:
        return library->find_source(client, build_id, (int)build_id_size, name, NULL);
    }
    return -EINVAL;
}

/* The folder of libdebuginfod's cache: debuginfod-client-config(7). */
static bool find_cache(char *path, size_t size)
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

/* libdebuginfod (0.188 does) notes of a fetch that was given up that there is no such file, by an empty one, and would
 * not ask again for ten minutes. */
static void forget_that_it_is_missing(enum debug_server_file what, const unsigned char *build_id, size_t build_id_size)
{
    char path[PATH_MAX];
    char id[2 * BUILD_ID_MAX + 1];
    struct stat status;
    if (what == DEBUG_SERVER_SOURCE || !find_cache(path, sizeof(path)))
        return;
    for (size_t i = 0; i < build_id_size; i++)
        snprintf(id + 2 * i, 3, "%02x", build_id[i]);
    size_t used = strlen(path);
    int length = snprintf(path + used, sizeof(path) - used, "/%s/%s", id,
                          what == DEBUG_SERVER_PROGRAM ? "executable" : "debuginfo");
    if ((size_t)length < sizeof(path) - used && lstat(path, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size == 0)
        unlink(path);
}

/* Whether the next fetch would end the same way. */
static bool is_failure_of_server(int code)
{
    return code != ENOENT && code != E2BIG && code != EFBIG && code != ECANCELED && code != ENOMEM && code != EINVAL;
}

static int failed(struct fetch *fetch, int code, struct error *err)
{
    struct debug_server *server = fetch->server;
    const char *name = fetch->name;
    struct error why = {""};
    if (code == EFBIG || code == E2BIG)
        code = error_set(&why, E2BIG, "the debug server's file for %s is larger than %" PRIu64 " MiB", name,
                         server->options.max_bytes >> 20);
    else if (code == ENOENT)
        code = error_set(&why, ENOENT, "no debug server has a file for %s", name);
    else if (code == ECANCELED)
        code = error_set(&why, ECANCELED, "fetching from debug servers was stopped");
    else if (code == ETIMEDOUT || code == ETIME)
        code = error_set(&why, ETIMEDOUT, "the debug server takes too long for %s", name);
    else
        code = error_set(&why, code, "cannot fetch debug files from %s: %s", getenv("DEBUGINFOD_URLS"), strerror(code));
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

int debug_server_fetch(struct debug_server *server, enum debug_server_file what, const unsigned char *build_id,
                       size_t build_id_size, const char *name, struct error *err)
{
    struct fetch fetch = {.server = server, .name = name, .started = monotonic_ns()};
    fetch.last_bytes = fetch.started;
    if (build_id_size == 0 || build_id_size > BUILD_ID_MAX || (what == DEBUG_SERVER_SOURCE && name[0] != '/'))
        return failed(&fetch, ENOENT, err);
    if (atomic_load(&server->stopped))
        return failed(&fetch, ECANCELED, err);
    struct debuginfod_client *client = borrow_client(server);
    if (!client)
        return error_no_memory(err);
    server->library.set_user_data(client, &fetch);
    int result = ask(&server->library, client, what, build_id, build_id_size, name);
    return_client(server, client);
    if (result >= 0 && fetch.was_asked) {
        pthread_mutex_lock(&server->lock);
        server->files++;
        pthread_mutex_unlock(&server->lock);
    }
    if (fetch.was_asked)
        tell_progress(&fetch, true);
    if (result < 0 && fetch.failure)
        forget_that_it_is_missing(what, build_id, build_id_size);
    return result >= 0 ? result : failed(&fetch, fetch.failure ? fetch.failure : -result, err);
}
