/*
 * Where debug files are looked for: folders that the user names, those of the system, and servers. What a debug file is
 * and which of them is taken is in debug_file.h.
 */
#ifndef PROF_SYMBOL_DEBUG_SEARCH_H
#define PROF_SYMBOL_DEBUG_SEARCH_H

#include "base/error.h"
#include "symbol/symbol.h"

#include <stdbool.h>
#include <stddef.h>

#define DEBUG_ROOT "/usr/lib/debug"

struct debug_server;

/* Zero it for the system's folders alone. Whoever fills it owns what it points to. */
struct debug_search {
    const char *const *folders; /* --symbol-dir, looked into first and in this order */
    size_t folder_count;
    const char *root;            /* where distributions put debug files; NULL: DEBUG_ROOT */
    struct debug_server *server; /* asked last; NULL: not at all */
};

/* Where distributions put debug files. */
static inline const char *debug_search_root(const struct debug_search *search)
{
    return search && search->root ? search->root : DEBUG_ROOT;
}

/* A file that may be what is looked for: `fd` is the taker's. Returns true to end the search. */
struct debug_taker {
    bool (*take)(void *context, int fd, const char *path);
    void *context;
};

/* What is looked for. */
struct debug_wanted {
    const struct symbol_lib *lib; /* its name, path and origin; each may be missing */
    const unsigned char *id;      /* build id; of a size below 2 bytes: not known */
    size_t id_size;
    const char *link; /* the name in its .gnu_debuglink; NULL: none */
};

/* Hands out every file that is where a debug file of the library could be, the likeliest first. In each named folder
 * DIR, for the library /usr/lib/libfoo.so.1 with the build id 1234...:
 *
 *     DIR/.build-id/12/34...  (.debug or not)    DIR/usr/lib/debug/.build-id/12/34....debug
 *     DIR/libfoo.so.1.debug     DIR/libfoo.so.1     DIR/usr/lib/libfoo.so.1.debug    DIR/usr/lib/libfoo.so.1
 *     DIR/ and the name in .gnu_debuglink
 *
 * then those of the system, below the root folder that the process had and below ours: gdb's manual, 18.3 "Debugging
 * Information in Separate Files", has them. Servers are not asked. */
void debug_search_files(const struct debug_search *search, const struct debug_wanted *wanted,
                        const struct debug_taker *taker);

/* A source file of the library as its debug servers have it, under the path that symbol_frame.file gives. Returns a
 * descriptor that the caller closes, or a negative errno value with a sentence: -ENOENT if no server is to be asked,
 * none has it, or the library has no build id. May take a minute. */
int debug_search_source(const struct debug_search *search, const struct symbol_lib *lib, const char *path,
                        struct error *err);

#endif
