/*
 * Frames of a replay outside of files: in JIT code, or where no code is known.
 */
#pragma once

#include "assemble/replay.h"

/* A frame, and where its number is, or will be: in which of the replay's tables, under which key. */
struct replay_jit_frame {
    struct replay_frame frame;
    struct hash *index;
    uint64_t key;
};

/* The frame of `pc` in `process` at `time` (ns of CLOCK_MONOTONIC); `is_mapped`: there is executable memory. */
struct replay_jit_frame replay_jit_frame(struct replay *replay, uint32_t process, uint64_t pc, uint64_t time,
                                         bool is_mapped);

/* Changes whenever the code at an address of the process may have changed. */
uint64_t replay_jit_generation(const struct replay *replay, uint32_t process, uint64_t time);

/* Call it when the process maps a library: it may be a jitdump file. */
void replay_jit_mapped(struct replay *replay, uint32_t process, uint32_t lib);

void replay_jit_destroy(struct replay_process *process);
