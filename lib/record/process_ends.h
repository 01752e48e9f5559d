/*
 * The producer of process_exit records, and of the signals that ended processes. The kernel reports the exit status of
 * the command to prof as its parent, and of traced processes to prof as their tracer; process_exits.h finds the status
 * of other processes.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/error.h"
#include "process/process_exits.h"
#include "process/process_signals.h"
#include "record/producer.h"
#include "record/record_result.h"
#include "spool/spool.h"

struct process_ends {
    struct spool_writer *spool; /* the caller's */
    struct process_signals signals;
    struct process_exits exits; /* used with perf events; ptrace reports all exits */
};

#define PROCESS_ENDS_NONE ((struct process_ends){.exits = PROCESS_EXITS_NONE})

/* `finds_exits`: the source does not report how processes end. */
void process_ends_init(struct process_ends *ends, struct spool_writer *spool, bool finds_exits);
void process_ends_close(struct process_ends *ends);

/* Stores the exit status of a process from wait4(). `time`: ns. */
int process_ends_add(struct process_ends *ends, uint32_t pid, int status, uint64_t time, struct error *err);

/* Starts to find the exit status of an ended process. */
int process_ends_find(struct process_ends *ends, uint32_t pid, struct error *err);

/* Stores a signal that reached a thread. */
int process_ends_add_signal(struct process_ends *ends, const struct process_signal_note *note, struct error *err);

/* Adds a note about signals beyond the limit. */
void process_ends_add_notes(const struct process_ends *ends, struct record_result *result);

struct producer process_ends_as_producer(struct process_ends *ends);
