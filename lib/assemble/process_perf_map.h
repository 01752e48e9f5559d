/*
 * The names of code that was compiled while the program ran: which map file belongs to a recorded process, and what it
 * says of the frames in anonymous memory.
 */
#ifndef PROF_ASSEMBLE_PROCESS_PERF_MAP_H
#define PROF_ASSEMBLE_PROCESS_PERF_MAP_H

#include "assemble/replay.h"
#include "symbol/jit_name.h"

#define PERF_MAP_FOLDER "/tmp" /* where all compilers put them */

/* How many parents' files a forked process may have names from: those that fork into each other forever have an end. */
enum { PERF_MAP_GENERATIONS = 16 };

/* Opens the map file of a process of the recording. A file descriptor, which is the caller's, or a negative errno value
 * if there is no such file or it may not be trusted (see process_perf_map.c). */
int process_perf_map_open(const struct replay *replay, uint32_t process);

/* The same for another file in that folder, whose name is the process's own pid between these. */
int process_perf_map_open_named(const struct replay *replay, uint32_t process, const char *before, const char *after);

/* The pid that the process writes into the names of its files. */
uint32_t process_perf_map_own_pid(const struct replay *replay, uint32_t process);

/* Opens a file that may be trusted, of a process that started at `start` (ns since the Unix epoch), by its name in
 * `folder` (a descriptor, or AT_FDCWD). */
int process_perf_map_open_trusted(int folder, const char *name, uint64_t start);

struct perf_map_names {
    struct arena arena;
    ARRAY(struct jit_name) names;
    struct hash by_frame; /* index in replay.frames -> index in names */
};

/* Reads the map files of all frames whose `process` has one. `names` is zeroed; perf_map_names_destroy() is owed in any
 * case. Fails only when memory runs out: a file that has gone gives no names. */
int perf_map_names_find(struct perf_map_names *names, const struct replay *replay, struct error *err);

/* NULL: no file names this frame. */
const struct jit_name *perf_map_names_of(const struct perf_map_names *names, size_t frame);

void perf_map_names_destroy(struct perf_map_names *names);

#endif
