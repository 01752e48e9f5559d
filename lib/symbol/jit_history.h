/*
 * Finds the JIT code at an address at a time. JIT compilers reuse memory, so one address holds different code over
 * time.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"

enum { JIT_HISTORY_NONE = UINT32_MAX };

/* The bytes in [start, end) belong to `code` from `time` until a later change. */
struct jit_change {
    uint64_t start, end, time;
    uint32_t code; /* the caller's index, or JIT_HISTORY_NONE (the code was removed) */
};

/* A zeroed history is empty. Add all changes, finish the history, then find. */
struct jit_history {
    ARRAY(struct jit_change) changes; /* once finished: by time */
    ARRAY(uint64_t) bounds;           /* all starts and ends, ascending and distinct */
    ARRAY(uint64_t) blocks;           /* the first bound of each block of bounds */
    struct jit_leaf *leaves;          /* one leaf for each interval between two bounds */
    struct jit_node *nodes;
    uint32_t *node_changes;
};

/* Adds a change. Of changes with the same time, the one added last wins. Returns false if memory ran out. */
bool jit_history_add(struct jit_history *history, const struct jit_change *change);

/* Prepares the history for jit_history_find(). Call this function once, after the last change. -ENOMEM. */
int jit_history_finish(struct jit_history *history, struct error *err);

/* Returns the code at this address at this time, or JIT_HISTORY_NONE. Takes at most O(log² n), for any
 * overlap of the changes, and O(log n) if the address changed once. */
uint32_t jit_history_find(const struct jit_history *history, uint64_t address, uint64_t time);

/* Returns the number of changes up to and including this time. Equal counts mean equal answers. */
size_t jit_history_count_changes(const struct jit_history *history, uint64_t time);

void jit_history_destroy(struct jit_history *history);
