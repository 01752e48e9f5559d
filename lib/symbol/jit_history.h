/*
 * Which of many pieces of code, each put somewhere at some time, was at an address at a time: for memory that is used
 * again and again, as a JIT compiler's is.
 */
#ifndef PROF_SYMBOL_JIT_HISTORY_H
#define PROF_SYMBOL_JIT_HISTORY_H

#include "base/array.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { JIT_HISTORY_NONE = UINT32_MAX };

/* From `time` on the bytes from `start` up to `end` (exclusive) are those of `code`, until a later change. */
struct jit_change {
    uint64_t start, end, time;
    uint32_t code; /* the caller's number; JIT_HISTORY_NONE: nothing is there any more */
};

/* Zero it, add changes, finish it, ask. */
struct jit_history {
    ARRAY(struct jit_change) changes; /* once finished: by time */
    ARRAY(uint64_t) bounds;           /* all starts and ends, ascending and distinct */
    uint32_t *node_ends, *node_changes;
};

/* Adds a change; those of one time hold in the order in which they were added. False if memory ran out. */
bool jit_history_add(struct jit_history *history, const struct jit_change *change);

/* To be called once, when all are added. -ENOMEM. */
int jit_history_finish(struct jit_history *history, struct error *err);

/* The code that was at the address at that time, or JIT_HISTORY_NONE. In O(log² n), however the changes overlap. */
uint32_t jit_history_find(const struct jit_history *history, uint64_t address, uint64_t time);

/* How many changes there were up to that time, this moment included. Equal counts mean equal answers. */
size_t jit_history_count(const struct jit_history *history, uint64_t time);

void jit_history_destroy(struct jit_history *history);

#endif
