/*
 * Writes waits to the spool, and names their objects.
 */
#pragma once

#include "record/waits_state.h"

/* One wait, or a sum of several waits, for the spool. */
struct stored_wait {
    uint64_t start, end; /* ns */
    uint64_t unseen;     /* ns of the unseen waits that this wait stands for */
    enum { BLOCKED, READY, ELSEWHERE, UNSEEN } kind;
    const struct wait_stack *stack; /* stack of the wait, or NULL (the stack of the last reading) */
    bool is_sum;        /* a sum of several waits: one wait of mean length, and `unseen` has the time of the others */
    bool has_no_weight; /* an unseen wait, which is in the spool because its waker is known */
};

/* Sets *number to the number of the SPOOL_OBJECT with this name, or to 0 if the table is full. `pid` is the process of
 * the file descriptor, or 0 for other objects. */
int find_wait_object(struct waits *waits, uint32_t pid, const char *name, uint32_t *number, struct error *err);

/* Writes a wait with the stack and reason of the last reading. */
int store_wait(struct waits *waits, struct tracked_thread *thread, const struct stored_wait *stored, struct error *err);

/* Returns the time (ns) at which a stored sum ends: the start of the thread's current state, or of its program. */
uint64_t get_end_of_sums(const struct thread_run *run);

/* Stores the runnable time that is not in the spool yet, as a sum. */
int store_runnable_time(struct waits *waits, struct tracked_thread *thread, uint64_t end, struct error *err);

/* Stores the unseen waits of each class without a reading since `before` (ns) as sums that end at `end`. The last wait
 * with a reading stands for waits of its class up to a second later. */
int store_unseen_waits(struct waits *waits, struct tracked_thread *thread, uint64_t before, uint64_t end,
                       struct error *err);
