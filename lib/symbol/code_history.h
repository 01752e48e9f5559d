/*
 * Which of many pieces of code, each put somewhere at some time, was at an address at a time: for memory that is used
 * again and again, as a JIT compiler's is.
 */
#ifndef PROF_SYMBOL_CODE_HISTORY_H
#define PROF_SYMBOL_CODE_HISTORY_H

#include "base/array.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { CODE_HISTORY_NONE = UINT32_MAX };

/* From `time` on the bytes from `start` up to `end` (exclusive) are those of `code`, until a later change. */
struct code_change {
    uint64_t start, end, time;
    uint32_t code; /* the caller's number; CODE_HISTORY_NONE: nothing is there any more */
};

/* Zero it, add changes, finish it, ask. */
struct code_history {
    ARRAY(struct code_change) changes; /* once finished: by time */
    ARRAY(uint64_t) bounds;            /* all starts and ends, ascending and distinct */
    uint32_t *node_ends, *node_changes;
};

/* Adds a change; those of one time hold in the order in which they were added. False if memory ran out. */
bool code_history_add(struct code_history *history, const struct code_change *change);

/* To be called once, when all are added. -ENOMEM. */
int code_history_finish(struct code_history *history, struct error *err);

/* The code that was at the address at that time, or CODE_HISTORY_NONE. In O(log² n), however the changes overlap. */
uint32_t code_history_find(const struct code_history *history, uint64_t address, uint64_t time);

/* How many changes there were up to that time, this moment included. Equal counts mean equal answers. */
size_t code_history_count(const struct code_history *history, uint64_t time);

void code_history_destroy(struct code_history *history);

#endif
