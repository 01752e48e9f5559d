/*
 * The mappings of tracked processes: from their records, or read from /proc. The mappings show a process's libraries,
 * its JIT code, whether it runs CPython, and its files with marks.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/error.h"
#include "process/jit_files.h"
#include "process/library_table.h"
#include "process/tracked_process.h"
#include "sample/perf_record.h"
#include "spool/spool.h"

/* The struct does not own the objects behind its pointers. */
struct tracked_mappings {
    struct spool_writer *spool;
    struct library_table *libraries;
    struct jit_files *jit_files; /* may be NULL */
    struct tracker_observer observer;
    uint64_t losses;   /* number of losses of records */
    size_t open_maps;  /* processes with an open maps_fd */
    bool has_no_query; /* the kernel cannot look up the mapping of an address, so the tracker reads all mappings */
    bool is_past;      /* the records are old: read nothing from processes, which may have reused pids */
    bool are_read;     /* no mapping records exist: read mappings from /proc */
    bool has_python;   /* find processes that run CPython */
};

/* All functions that return an int fail only if the spool cannot be written or memory runs out. `time` is in ns. */

/* Adds one mapping of a process. A mapping without execute permission matters only for files with marks. */
int tracked_mappings_add(struct tracked_mappings *mappings, struct tracked_process *process,
                         const struct perf_mapping *mapping, uint64_t time, struct error *err);

/* Reads the current mappings of a process, and sets *changed if one is new. An ended process has none. */
int tracked_mappings_read(struct tracked_mappings *mappings, struct tracked_process *process, uint64_t time,
                          bool *changed, struct error *err);

/* Reads the mappings of a process whose mappings the tracker has not read yet (maps_unread). */
int tracked_mappings_read_unread(struct tracked_mappings *mappings, struct tracked_process *process, uint64_t time,
                                 struct error *err);

/* Copies the mappings of the parent to a forked child. Returns false if memory ran out. */
bool tracked_mappings_inherit(struct tracked_mappings *mappings, struct tracked_process *child,
                              const struct tracked_process *parent);

/* Frees the mappings of an ended process. */
void tracked_mappings_forget(struct tracked_mappings *mappings, struct tracked_process *process);

/* Implements tracker_check_stack(). */
int tracked_mappings_check(struct tracked_mappings *mappings, struct tracked_process *process,
                           const struct tracked_stack *stack, uint64_t time, bool *changed, struct error *err);
