/*
 * Frames of a replay in JIT code or in unknown memory.
 */
#pragma once

#include "assemble/replay_state.h"

/* A frame, with the replay's table and the key under which its number is stored. */
struct replay_jit_frame {
    struct replay_frame frame;
    struct hash *index;
    uint64_t key;
};

/* Returns the frame of `pc` in `process` at `time` (ns of CLOCK_MONOTONIC). `is_mapped`: `pc` is in executable
 * memory. */
struct replay_jit_frame replay_add_jit_frame(struct replay *replay, uint32_t process, uint64_t pc, uint64_t time,
                                             bool is_mapped);

/* Returns a number that changes whenever the code at an address of the process may have changed. */
uint64_t replay_find_jit_generation(const struct replay *replay, uint32_t process, uint64_t time);

/* Call this function when the process maps a library, which may be a jitdump file. */
void replay_handle_jit_mapping(struct replay *replay, uint32_t process, uint32_t lib);

void replay_jit_destroy(struct replay_process *process);
