/*
 * The mappings of the processes that a tracker follows: takes in the records of them, or reads them, and notes what
 * they tell of a process: its libraries, where compiled code is, whether it runs CPython, and files with marks.
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#pragma once

#include "base/error.h"
#include "process/library_table.h"
#include "spool/spool.h"
#include "process/tracker.h"
#include "sample/perf_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All that it points to is the caller's. */
struct tracked_mappings {
    struct spool_writer *spool;
    struct library_table *libraries;
    struct jit_files *jit_files; /* or NULL */
    struct tracker_observer observer;
    uint64_t losses;   /* how often records were lost */
    size_t open_maps;  /* processes whose maps_fd is open */
    bool has_no_query; /* the kernel does not find the mapping of an address: all are read */
    bool is_past;      /* processes have ended long ago: nothing is read of those that have their numbers now */
    bool are_read;     /* no record tells of them */
    bool has_python;   /* processes that run CPython are noted */
};

/* All functions that return an int fail only if the spool cannot be written or memory runs out. `time` is in ns. */

/* Takes in one mapping of a process. One that is not executable may only be a file with marks. */
int tracked_mappings_add(struct tracked_mappings *mappings, struct tracked_process *process,
                         const struct perf_mapping *mapping, uint64_t time, struct error *err);

/* Reads the mappings that a process has now, and sets *changed if there is one to note. A process that is gone has
 * none. */
int tracked_mappings_read(struct tracked_mappings *mappings, struct tracked_process *process, uint64_t time,
                          bool *changed, struct error *err);

/* Reads those of a process that was only noted, once. */
int tracked_mappings_read_unread(struct tracked_mappings *mappings, struct tracked_process *process, uint64_t time,
                                 struct error *err);

/* Gives a new process what it has from the one that forked it. Returns false if memory ran out. */
bool tracked_mappings_inherit(struct tracked_mappings *mappings, struct tracked_process *child,
                              const struct tracked_process *parent);

/* Frees what belongs to the mappings of a process that has ended. */
void tracked_mappings_forget(struct tracked_mappings *mappings, struct tracked_process *process);

/* As tracker_check_stack(). */
int tracked_mappings_check(struct tracked_mappings *mappings, struct tracked_process *process,
                           const struct tracked_stack *stack, uint64_t time, bool *changed, struct error *err);
