/*
 * The places to search for debug files: the user's directories, the system's directories, and servers. debug_file.h
 * defines debug files, and chooses among the candidates.
 */
#pragma once

#include "base/error.h"
#include "symbol/symbol.h"

#define DEBUG_ROOT "/usr/lib/debug"

struct debug_server;

/* If zeroed, prof searches only the system's directories. The caller owns all pointers. */
struct debug_search {
    const char *const *directories; /* --symbol-dir: directories to search first, in this order */
    size_t directory_count;
    const char *root;            /* the system's debug files, or NULL (DEBUG_ROOT) */
    const char *perf_cache;      /* perf's build-id cache ("~/.debug"), searched after `directories`, or NULL for
                                  * none */
    struct debug_server *server; /* searched last, or NULL for no servers */
};

/* The directory in which distributions install debug files. */
static inline const char *debug_search_get_root(const struct debug_search *search)
{
    return search && search->root ? search->root : DEBUG_ROOT;
}

/* Callback for each candidate; takes over `fd`. Returns true to end the search. */
struct debug_file_visitor {
    bool (*visit)(void *context, int fd, const char *path);
    void *context;
};

/* The file to search for. */
struct debug_file_query {
    const struct symbol_lib *lib; /* the library's name, path and origin; each may be missing */
    const unsigned char *id;      /* build id; shorter than 2 bytes if unknown */
    size_t id_size;
    const char *link; /* file name from .gnu_debuglink, or NULL for none */
};

/*
 * Calls `visitor` for every file that may be a debug file of the library, the most likely first. For the library
 * /usr/lib/libfoo.so.1 with the build id 1234..., each of the user's directories DIR may contain
 *
 *     DIR/.build-id/12/34...  (.debug or not)    DIR/usr/lib/debug/.build-id/12/34....debug
 *     DIR/libfoo.so.1.debug     DIR/libfoo.so.1     DIR/usr/lib/libfoo.so.1.debug    DIR/usr/lib/libfoo.so.1
 *     DIR/ and the name in .gnu_debuglink
 *     DIR/.build-id/12/34.../elf and debug   (perf's build-id cache, and an unpacked archive of 'perf archive')
 *
 * The system's directories follow, below the root directory of the process and below ours: see gdb's manual, 18.3
 * "Debugging Information in Separate Files". Sends no requests to servers.
 */
void debug_search_visit_files(const struct debug_search *search, const struct debug_file_query *query,
                              const struct debug_file_visitor *visitor);

/* Fetches a source file of the library from debuginfod servers. `path` is a symbol_frame.file. Returns a file
 * descriptor, which the caller closes, or a negative errno value with a sentence: -ENOENT without servers or a build
 * id, or if no server has the file. May take a minute. */
int debug_search_fetch_source(const struct debug_search *search, const struct symbol_lib *lib, const char *path,
                              struct error *err);
