/*
 * Reports processes that exceed a limit of the recorder. A target controls its code, unwind information, files and
 * marks, and so their cost. The code that pays a cost limits it for each process. Beyond the limit the process loses
 * stacks, names or marks; other processes lose nothing. A note of the recording names the first process of each kind
 * and counts the others.
 *
 * Threads: the recorder thread of a recording.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct tracked_process;
struct tracker;

enum excess {
    EXCESS_UNWINDING, /* its unwind information takes too long to interpret (unwind/work.h) */
    EXCESS_MAPPINGS,  /* it maps executable memory too often (process/tracked_mappings.c) */
    EXCESS_MEMORY,    /* reads of its memory do not return (os/target_memory.h) */
    EXCESSES
};

struct excess_note {
    uint32_t processes;
    char first[48]; /* "cc1 (1234)" */
};

/* Starts zeroed. */
struct excesses {
    struct excess_note notes[EXCESSES];
};

/* Notes that a process has reached a limit. Counts each process once for each limit. */
void excess_note(struct excesses *excesses, struct tracker *tracker, enum excess excess,
                 struct tracked_process *process);

/* Notes the processes whose memory does not answer. */
void excess_note_silent_memory(struct excesses *excesses, struct tracker *tracker);

/* Writes a sentence for each limit that some process has reached, "; " between; empty: none has. */
void excess_describe(const struct excesses *excesses, char *text, size_t size);
