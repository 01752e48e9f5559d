/*
 * Client for debuginfod servers, which serve debug files, executables and source files by build id.
 *
 * The client loads libdebuginfod of elfutils at the first fetch, so prof runs without the library. libdebuginfod reads
 * the servers from DEBUGINFOD_URLS, caches files (and for ten minutes the absence of a file), and reads all other
 * DEBUGINFOD_ variables: debuginfod-client-config(7).
 *
 * Every fetch ends, whatever the server does: with the file, at the limit of size or time, or when the user stops it.
 * After a server failure (no answer, too slow), or when the user stops a fetch, the client sends no further requests.
 */
#pragma once

#include "base/error.h"

struct debug_server;

struct debug_server_progress {
    const char *name;     /* name of the fetched file: "libfoo.so.1", or the path of a source file */
    uint64_t done, total; /* bytes; total 0: unknown */
    uint32_t files;       /* files fetched from servers so far, without cache hits */
    bool ended;           /* the fetch has ended; `done` is 0 after a failure */
};

struct debug_server_options {
    uint64_t max_bytes;      /* per file, or 0 (DEBUG_SERVER_MAX_BYTES) */
    uint32_t max_seconds;    /* per file, or 0 (DEBUG_SERVER_MAX_SECONDS) */
    uint32_t silent_seconds; /* limit in seconds without a received byte, or 0 (DEBUG_SERVER_SILENT_SECONDS) */
    /* Called about once a second during a fetch, and at its end, by one thread at a time. Return false to stop. May be
     * NULL. */
    bool (*progress)(void *context, const struct debug_server_progress *progress);
    void *context;
};

#define DEBUG_SERVER_MAX_BYTES (UINT64_C(2) << 30)
enum { DEBUG_SERVER_MAX_SECONDS = 120, DEBUG_SERVER_SILENT_SECONDS = 30 };

/* Loads libdebuginfod. Returns -ENOSYS if libdebuginfod is not installed. */
int debug_server_new(struct debug_server **out, const struct debug_server_options *options, struct error *err);
void debug_server_free(struct debug_server *server);

enum { DEBUG_SERVER_NAME = 64 };

/* Returns the progress of the newest fetch that has reported progress, zeroed before the first one; `name` gets the
 * name, and progress.name points to it. Thread-safe. */
struct debug_server_progress debug_server_get_progress(struct debug_server *server, char name[DEBUG_SERVER_NAME]);

/* Cancels the fetches of all threads within a second, and refuses new ones. Thread-safe. */
void debug_server_stop(struct debug_server *server);

enum debug_server_file { DEBUG_SERVER_DEBUG_INFO, DEBUG_SERVER_PROGRAM, DEBUG_SERVER_SOURCE };

/* Fetches a file of the library with this build id. `name` is the name for progress, or the path of a source file in
 * the debug info. Returns a file descriptor, which the caller closes, or with a sentence -ENOENT (no server has the
 * file), -E2BIG, -ETIMEDOUT, -ECANCELED (stopped), or another negative errno value. Thread-safe. */
int debug_server_fetch(struct debug_server *server, enum debug_server_file kind, const unsigned char *build_id,
                       size_t build_id_size, const char *name, struct error *err);

/* Returns the failure after which the client stopped sending requests, as a sentence, or "". */
const char *debug_server_describe_problem(const struct debug_server *server);
