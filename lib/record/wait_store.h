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
    bool is_sum; /* a sum of several waits: one wait of mean length, and `unseen` has the time of the others */
};

/* Sets *number to the number of the SPOOL_OBJECT with this name, or to 0 if the table is full. `pid` is the process of
 * the file descriptor, or 0 for other objects. */
int find_wait_object(struct waits *waits, uint32_t pid, const char *name, uint32_t *number, struct error *err);

/* Writes a wait with the stack and reason of the last reading. */
int store_wait(struct waits *waits, struct tracked_thread *thread, const struct stored_wait *stored, struct error *err);

/* Stores `count` waits of `total` ns as a sum: a wait of mean length that ends at `end`. */
int store_wait_sum(struct waits *waits, struct tracked_thread *thread, int kind, uint64_t total, uint32_t count,
                   uint64_t end, struct error *err);

/* Returns the time (ns) at which a stored sum ends: the start of the thread's current state, or of its program. */
uint64_t end_of_sums(const struct thread_run *run);

/* Stores the runnable time that is not in the spool yet, as a sum. */
int store_runnable(struct waits *waits, struct tracked_thread *thread, uint64_t end, struct error *err);

/* Stores, as a sum, the unseen waits of each class without a reading since `before` (ns). */
int store_unseen(struct waits *waits, struct tracked_thread *thread, uint64_t before, uint64_t end, struct error *err);
