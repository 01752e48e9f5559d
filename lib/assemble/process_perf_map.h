/*
 * The perf maps of recorded processes: finds and opens them, and names frames in anonymous memory.
 */
#pragma once

#include "assemble/replay.h"
#include "symbol/jit_name.h"

#define PERF_MAP_FOLDER "/tmp" /* where all JIT compilers write them */

/* Limit of ancestors whose perf maps may name a forked process's code. */
enum { PERF_MAP_GENERATIONS = 16 };

/* Opens the perf map of a recorded process. Returns a file descriptor, which the caller closes, or a negative errno
 * value if the file does not exist or is not trusted (see process_perf_map.c). */
int process_perf_map_open(const struct replay *replay, uint32_t process);

/* What to tell the user of such a failure; NULL: nothing. */
const char *process_perf_map_problem(int code);

/* The same for another file in that folder. Its name is `before`, the process's own pid, `after`. */
int process_perf_map_open_named(const struct replay *replay, uint32_t process, const char *before, const char *after);

/* The pid in the names of the process's files: its pid in its own namespace. */
uint32_t process_perf_map_own_pid(const struct replay *replay, uint32_t process);

/* Whether the process may have written a file of that owner about its code, see process_perf_map.c. */
bool process_perf_map_trusts_owner(const struct replay *replay, uint32_t process, uid_t owner);

/* Opens a file by its name in `folder` (a descriptor, or AT_FDCWD), if it is trusted. */
int process_perf_map_open_trusted(const struct replay *replay, uint32_t process, int folder, const char *name);

/* What is wrong with a process's file. */
struct perf_map_problem {
    uint32_t process;
    const char *text; /* a sentence without a subject */
};
ARRAY_TYPE(struct perf_map_problems, struct perf_map_problem);

struct perf_map_names {
    size_t first; /* of the frames that are wanted, and all behind it; 0: all */
    struct arena arena;
    struct perf_map_problems problems; /* of the contents of files */
    ARRAY(struct jit_name) names;
    struct hash by_frame; /* index in replay.frames -> index in names */
};

/* Reads the perf maps for all frames with a `process`. `names` is zeroed; call perf_map_names_destroy() also after a
 * failure. Fails only when memory runs out: an unreadable file gives no names. */
int perf_map_names_find(struct perf_map_names *names, const struct replay *replay, struct error *err);

/* The name of this frame; NULL if no perf map has one. */
const struct jit_name *perf_map_names_of(const struct perf_map_names *names, size_t frame);

void perf_map_names_destroy(struct perf_map_names *names);
