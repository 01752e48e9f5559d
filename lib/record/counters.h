/*
 * Reads what the kernel counts of the recorded processes while they run: CPU time, memory, page faults, bytes read and
 * written, context switches, threads. And of the machine: how long each CPU was busy, and energy (system_counters.h).
 *
 * A process that does not run changes no counter. So each 50 ms the recorder reads the processes that ran since their
 * last reading, which samples and switches show; a thousand that sleep cost nothing, and nothing wakes a recorder
 * whose targets all sleep. Counters take at most a sixth of a percent of a CPU: where very many processes run, they
 * are read in turn, and less often, and so is a process of very many threads. A process is read for the first time
 * when it is 50 ms old: shorter ones have no counters.
 *
 * Sources, with which one reading of a process takes 8 us:
 *
 * - CPU time: clock_gettime() of the clock of the process, in ns (/proc has steps of 10 ms)
 * - memory, faults, threads: /proc/PID/stat
 * - bytes: /proc/PID/io, for users who may trace the process
 * - swap: /proc/PID/status, each second, if the machine has any
 * - switches: the records of switches (waits.h)
 *
 * The last reading of a process is made at the record of its end. The command that prof itself started still exists
 * then, because prof is its parent: its values are those of wait4(). Of others up to 50 ms may be missing.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "spool/counter_reading.h"
#include "spool/spool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tracker;
struct tracked_process;
struct system_counters;

/* What can be asked for, by the names of counter_groups. */
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
enum { COUNT_ALL = (1 << COUNTER_GROUPS) - 1 }; /* bits by enum counter_group */

/* The spool and the tracker belong to the caller and must outlive the counters. */
struct counters_options {
    struct spool_writer *spool;
    struct tracker *tracker;
    uint32_t wanted;        /* bits by enum counter_group */
    uint64_t sampling;      /* ns between two samples of a busy thread */
    uint32_t target;        /* pid of the command, which is read however short it is; 0: none */
    bool has_switches;      /* tracked_process.switches is kept up */
    bool only_after_sample; /* of all processes of a system only those that are sampled */
};

/* A part of struct recording; zeroed, it reads nothing. */
struct counters {
    struct counters_options options;
    ARRAY(uint32_t) due;            /* pids of processes that have run since they were read last, oldest first */
    struct system_counters *system; /* NULL: not wanted, or there are none */
    uint64_t next;                  /* ns: of the next readings */
    uint32_t open;                  /* processes whose files stay open */
    uint32_t most_open;
    uint64_t resumed; /* ns: the end of the last pause; 0: there was none */
    bool has_swap;    /* the machine */
    bool was_refused; /* /proc/PID/io, of some process */
};

/* Reads a list, "cpu,memory", or "all" or "none", into bits. False if there is a word that is no group. */
bool counters_parse(const char *text, uint32_t *wanted);

int counters_init(struct counters *counters, const struct counters_options *options, struct error *err);
void counters_destroy(struct counters *counters);

/* Notes that a process is running at `time`. `by_sample`: of which there will be a sample. */
void counters_note_run(struct counters *counters, struct tracked_process *process, uint64_t time, bool by_sample);

/* Reads what is due at `now`. Fails only if the spool cannot be written or memory runs out, like all of these. */
int counters_keep_time(struct counters *counters, uint64_t now, struct error *err);

/* When counters_keep_time() has something to do; UINT64_MAX: not before a process runs. */
uint64_t counters_deadline(const struct counters *counters);

/* What has changed up to `time` does not count: nothing was recorded. */
void counters_resume(struct counters *counters, uint64_t time);

/* For the tracker: the last thread of a process has ended; it goes on as another program, which `process` was. */
int counters_process_ends(struct counters *counters, struct tracked_process *process, struct error *err);
void counters_process_execs(struct tracked_process *old, struct tracked_process *process, uint64_t time);
void counters_forget(struct counters *counters, struct tracked_process *process);

/* Writes what each process has at the end of the recording, as far as it runs still. */
int counters_finish(struct counters *counters, struct error *err);
