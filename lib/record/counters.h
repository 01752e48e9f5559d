/*
 * Reads the kernel's counters of the recorded processes (CPU time, memory, page faults, bytes read and written, context
 * switches, threads) while the processes run. Also reads the counters of the machine: busy time of each CPU, and energy
 * (system_counters.h).
 *
 * A sleeping process changes no counter. So every 50 ms the recorder reads only the processes that ran since their last
 * reading, as samples and switches show. A thousand sleeping processes cost nothing, and a recorder whose targets all
 * sleep sleeps too. Readings take at most 1/600 of a CPU. With very many processes or threads, the recorder reads each
 * process less often. The recorder first reads a process at an age of 50 ms: processes that end earlier have no
 * counters.
 *
 * One reading of a process takes 8 us. Sources:
 *
 * - CPU time: clock_gettime() of the process's CPU clock, in ns (/proc has steps of 10 ms)
 * - memory, faults, threads: /proc/PID/stat
 * - bytes: /proc/PID/io, for users who may trace the process
 * - swap: /proc/PID/status, each second, if the machine has any
 * - switches: the records of switches (waits.h)
 *
 * The recorder makes the last reading of a process when it reads the record of its exit. prof's own command still
 * exists then, because prof is its parent: wait4() has its final values. Other processes may miss their last 50 ms.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "record/producer.h"
#include "spool/counter_kinds.h"
#include "spool/spool.h"

struct tracker;
struct tracked_process;
struct system_counters;

/* Groups of counters that a user can request, named by counter_groups. */
enum counter_group {
    COUNT_CPU,
    COUNT_MEMORY,
    COUNT_FAULTS,
    COUNT_IO,
    COUNT_SWITCHES,
    COUNT_THREADS,
    COUNT_SYSTEM,
    COUNT_POWER,
    COUNTER_GROUPS
};
extern const char *const counter_groups[COUNTER_GROUPS];
enum { COUNT_ALL = (1 << COUNTER_GROUPS) - 1 }; /* the bits of all groups */

/* The spool and the tracker belong to the caller and must outlive the counters. */
struct counters_options {
    struct spool_writer *spool;
    struct tracker *tracker;
    uint32_t wanted;        /* requested groups, bits by enum counter_group */
    uint64_t sampling;      /* ns between two samples of a busy thread */
    uint32_t target;        /* pid of the command, which is read at any age, or 0 for none */
    bool has_switches;      /* tracked_process.switches is valid */
    bool only_after_sample; /* read only processes with a sample */
};

/* A member of struct recording. A zeroed struct reads nothing. */
struct counters {
    struct counters_options options;
    ARRAY(uint32_t) due;            /* pids of processes that ran since their last reading, oldest first */
    struct system_counters *system; /* NULL if not requested, or the machine has no such counters */
    uint64_t next;                  /* ns: time of the next readings */
    uint32_t open;                  /* processes with open files */
    uint32_t most_open;
    uint64_t resumed; /* ns: end of the last pause, or 0 for no pause so far */
    bool has_swap;    /* the machine has swap space */
    bool was_refused; /* the kernel refused /proc/PID/io of some process */
};

/* Parses "all", "none" or a list such as "cpu,memory" into bits. False if a word names no group. */
bool counters_parse(const char *text, uint32_t *wanted);

int counters_init(struct counters *counters, const struct counters_options *options, struct error *err);
void counters_destroy(struct counters *counters);

/* Queues a process for its next reading, because the process runs at `time` (ns). `by_sample`: a sample shows that the
 * process runs. */
void counters_mark_running(struct counters *counters, struct tracked_process *process, uint64_t time, bool by_sample);

/* Ends a pause at `time` (ns): changes during the pause do not count. */
void counters_resume(struct counters *counters, uint64_t time);

/* The tracker calls these functions when the last thread of a process ends, when `old` continues as the program
 * `process` (exec), and when the tracker frees a process. */
int counters_read_ending_process(struct counters *counters, struct tracked_process *process, struct error *err);
void counters_move_at_exec(struct tracked_process *old, struct tracked_process *process, uint64_t time);
void counters_free_process(struct counters *counters, struct tracked_process *process);

/* Makes the last reading of each process that still runs. */
int counters_finish(struct counters *counters, struct error *err);

struct producer counters_as_producer(struct counters *counters);
