/*
 * The distinct frames and stacks of a recording.
 *
 * The stacks of a thread change little, and their outer frames keep their indexes. So each thread stores its last stack
 * with the stack index at each depth, and searches only the frames that differ. A frame takes a search in the process's
 * mappings and one hash lookup. A stack takes one hash lookup with the key (prefix, frame).
 */
#pragma once

#include "assemble/replay_state.h"
#include "base/error.h"

/* Returns the stack with a single placeholder frame, REPLAY_LIB_TRUNCATED or REPLAY_LIB_NOT_SAMPLED. REPLAY_NONE if
 * memory ran out. */
uint32_t replay_add_placeholder_stack(struct replay *replay, uint32_t lib);

/* Returns the stack of a wait of a thread of `process`: the thread's stack, and a frame for the reason of the wait.
 * REPLAY_NONE if memory ran out. */
uint32_t replay_add_wait_stack(struct replay *replay, uint32_t process, uint32_t stack, const struct spool_wait *wait);

struct sampled_stack {
    uint64_t time; /* ns */
    bool is_truncated;
    struct spool_list frames; /* leaf first */
};

/* Finds the stack index of a sample, or REPLAY_NONE if the sample has no frames. */
int replay_find_stack(struct replay *replay, struct replay_thread *thread, const struct sampled_stack *sampled,
                      uint32_t *stack, struct error *err);

void replay_stacks_destroy(struct replay_stacks *stacks);
