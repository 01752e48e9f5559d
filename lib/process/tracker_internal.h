/* The tables of the tracker, for the files that implement tracker.h. */
#pragma once

#include "base/hash.h"
#include "spool/index_pool.h"
#include "process/tracked_mappings.h"

/* A thread that outlives its EXIT record for a moment. */
struct ending {
    uint32_t tid, number;
    uint64_t time; /* ns, of the record */
};

struct tracker {
    struct spool_writer *spool;
    struct tracked_mappings mappings;
    struct index_pool processes, threads;
    struct hash by_pid, by_tid; /* -> index */
    uint32_t next_process, next_thread;
    const struct thread_filter *filter; /* selects the threads with a SPOOL_UNSAMPLED_THREAD record, or NULL (all) */
    bool has_switches;                  /* the caller maintains each thread's `run` */
    bool has_samples_after_ends;
    ARRAY(struct ending) endings; /* by time */
    size_t endings_done;
    uint32_t command;       /* pid of the command that the recorder starts, or 0 for none */
    uint64_t command_clock; /* ns: CPU clock of the command at exec */
    uint64_t ran, ended;    /* see struct tracker_cpu_times */
    bool has_orphans;
};
