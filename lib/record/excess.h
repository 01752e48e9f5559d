/*
 * Reports processes that exceed a limit of the recorder. A target controls its code, unwind information, files and
 * marks, and so the recorder's cost of reading them. The code that reads these data limits the cost for each process. A
 * process beyond a limit loses stacks, names or marks; other processes lose nothing. A note of the recording names the
 * first process of each kind and counts the others.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/standard.h"

struct tracked_process;
struct tracker;

enum excess {
    EXCESS_UNWINDING, /* unwinding the process takes too long (unwind/work.h) */
    EXCESS_MAPPINGS,  /* the process maps executable memory too often (process/tracked_mappings.c) */
    EXCESS_MEMORY,    /* reads of the process's memory do not return (os/target_memory.h) */
    EXCESSES
};

struct excess_store {
    uint32_t processes;
    char first[48]; /* "cc1 (1234)" */
};

/* Starts zeroed. */
struct excesses {
    struct excess_store notes[EXCESSES];
};

/* Records that a process has reached a limit. Counts each process once per limit. */
void excesses_add(struct excesses *excesses, struct tracker *tracker, enum excess excess,
                  struct tracked_process *process);

/* Records the processes whose memory does not answer reads. */
void excesses_add_silent_memory(struct excesses *excesses, struct tracker *tracker);

/* Writes a sentence for each limit that some process has reached, separated by "; "; empty without such a process. */
void excesses_describe(const struct excesses *excesses, char *text, size_t size);
