/*
 * A client of debuginfod servers, which have debug files, programs and source texts by build id.
 *
 * It is libdebuginfod of elfutils, loaded when it is first wanted, so that prof runs where it is not installed. That
 * library takes the servers from DEBUGINFOD_URLS, keeps what it got in a cache of its own (and for ten minutes that
 * there was nothing), and knows all further DEBUGINFOD_ variables: debuginfod-client-config(7).
 *
 * A fetch ends, whatever the server does: with the file, when it is found to be too large, when it takes too long, or
 * when the user is tired of it. After a failure that is the server's (it does not answer, it is too slow), or a stop,
 * nothing more is asked.
 */
#ifndef PROF_SYMBOL_DEBUG_SERVER_H
#define PROF_SYMBOL_DEBUG_SERVER_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct debug_server;

struct debug_server_progress {
    const char *name;     /* what is fetched: "libfoo.so.1", or the path of a source file */
    uint64_t done, total; /* bytes; total 0: not known yet */
    uint32_t files;       /* fetched so far, other than from the cache */
    bool ended;           /* this one has ended; done is 0 if nothing came of it */
};

struct debug_server_options {
    uint64_t max_bytes;      /* of one file; 0: DEBUG_SERVER_MAX_BYTES */
    uint32_t max_seconds;    /* for one file; 0: DEBUG_SERVER_MAX_SECONDS */
    uint32_t silent_seconds; /* without a byte of it; 0: DEBUG_SERVER_SILENT_SECONDS */
    /* Called at least every second or so of a fetch, and at its end, by one thread at a time; false: stop. Or NULL. */
    bool (*progress)(void *context, const struct debug_server_progress *progress);
    void *context;
};

#define DEBUG_SERVER_MAX_BYTES (UINT64_C(2) << 30)
enum { DEBUG_SERVER_MAX_SECONDS = 120, DEBUG_SERVER_SILENT_SECONDS = 30 };

/* Loads the library. NULL with a sentence if it is not installed. */
struct debug_server *debug_server_new(const struct debug_server_options *options, struct error *err);
void debug_server_free(struct debug_server *server);

/* Ends the fetches of all threads within a second, and lets none begin. For any thread. */
void debug_server_stop(struct debug_server *server);

enum debug_server_file { DEBUG_SERVER_DEBUG_INFO, DEBUG_SERVER_PROGRAM, DEBUG_SERVER_SOURCE };

/* Asks for a file of the library with that build id; `name` is for the progress, and the path of a source file as the
 * debug info has it. Returns a descriptor that the caller closes, or -ENOENT (there is none), -E2BIG, -ETIMEDOUT,
 * -ECANCELED (stopped), or another negative errno value, each with a sentence. For any thread. */
int debug_server_fetch(struct debug_server *server, enum debug_server_file what, const unsigned char *build_id,
                       size_t build_id_size, const char *name, struct error *err);

/* The sentence of the failure after which nothing more was asked; empty if there was none. */
const char *debug_server_problem(const struct debug_server *server);

#endif
