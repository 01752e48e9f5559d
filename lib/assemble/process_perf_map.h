/*
 * Finds and opens the perf maps of recorded processes, and symbolizes frames in anonymous memory.
 */
#pragma once

#include "assemble/replay_state.h"
#include "symbol/jit_name.h"

#define PERF_MAP_DIRECTORY "/tmp" /* the directory in which JIT compilers write perf maps */

/* Limit of ancestors whose perf maps may name a forked process's code. */
enum { PERF_MAP_GENERATIONS = 16 };

/* Opens the perf map of a recorded process. Returns a file descriptor, which the caller closes, or a negative errno
 * value if the file does not exist or is not trusted (see process_perf_map.c). */
int process_perf_map_open(const struct replay *replay, uint32_t process);

/* Returns the message for an error of process_perf_map_open(), or NULL for none. */
const char *process_perf_map_describe_problem(int code);

/* Opens another file of PERF_MAP_DIRECTORY. The file name is `before`, the process's own pid, and `after`. */
int process_perf_map_open_named(const struct replay *replay, uint32_t process, const char *before, const char *after);

/* Returns the pid that the names of the process's files contain, which is its pid in its own pid namespace. */
uint32_t process_perf_map_get_own_pid(const struct replay *replay, uint32_t process);

/* Whether to trust a file of this owner as the process's own, see process_perf_map.c. */
bool process_perf_map_trusts_owner(const struct replay *replay, uint32_t process, uid_t owner);

/* Opens a file by name in `directory` (a directory's descriptor, or AT_FDCWD), if it is trusted. */
int process_perf_map_open_trusted(const struct replay *replay, uint32_t process, int directory, const char *name);

/* A problem with the perf map of a process. */
struct perf_map_problem {
    uint32_t process;
    const char *text; /* a sentence without its subject, which is the file */
};
ARRAY_TYPE(struct perf_map_problems, struct perf_map_problem);

struct perf_map_names {
    size_t first; /* index of the first requested frame, or 0 (all frames) */
    struct arena arena;
    struct perf_map_problems problems; /* perf maps with problems in their contents */
    ARRAY(struct jit_name) names;
    struct hash by_frame; /* index in replay.stacks.frames -> index in names */
};

/* Reads the perf maps for all frames with a `process`. `names` is zeroed; call perf_map_names_destroy() also after a
 * failure. Fails only when memory runs out: an unreadable file adds no names. */
int perf_map_names_find(struct perf_map_names *names, const struct replay *replay, struct error *err);

/* Returns the symbol of this frame, or NULL (in no perf map). */
const struct jit_name *perf_map_names_get(const struct perf_map_names *names, size_t frame);

void perf_map_names_destroy(struct perf_map_names *names);
