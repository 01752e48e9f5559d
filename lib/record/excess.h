/*
 * Processes that exceed a bound of the recorder. A target chooses its code, its unwind information, its files and its
 * marks, so it chooses what these cost. Each cost has a bound for each process, where it arises; beyond the bound the
 * process loses stacks, names or marks, and the others lose nothing. The first process of each kind is named in a note
 * of the recording, and the others are counted.
 *
 * Threads: the recorder thread of a recording.
 */
#pragma once

#include <stdint.h>

struct recording;
struct tracked_process;

enum excess {
    EXCESS_UNWINDING, /* its unwind information takes too long to interpret (unwind/work.h) */
    EXCESSES
};

struct excess_note {
    uint32_t processes;
    char first[48]; /* "cc1 (1234)" */
};

/* Zero it to start. */
struct excesses {
    struct excess_note notes[EXCESSES];
};

/* Notes that a process has reached a bound. Of each process and bound only the first call counts. */
void excess_note(struct recording *recording, enum excess excess, struct tracked_process *process);

/* Adds a note to the recording for each bound that some process has reached. */
void excess_add_notes(struct recording *recording);
