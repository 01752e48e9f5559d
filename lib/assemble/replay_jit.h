/*
 * Frames of a replay outside of files: in JIT code, or where no code is known.
 */
#ifndef PROF_ASSEMBLE_REPLAY_JIT_H
#define PROF_ASSEMBLE_REPLAY_JIT_H

#include "assemble/replay.h"

/* The index of the frame of `pc` in `process` at `time`. `is_mapped`: executable memory is mapped there. REPLAY_NONE if
 * memory ran out. */
uint32_t replay_jit_frame(struct replay *replay, uint32_t process, uint64_t pc, uint64_t time, bool is_mapped);

/* Changes whenever the code at an address of the process may have changed. */
uint64_t replay_jit_generation(const struct replay *replay, uint32_t process, uint64_t time);

/* Call it when the process maps a library: it may be a jitdump file. */
void replay_jit_mapped(struct replay *replay, uint32_t process, uint32_t lib);

void replay_jit_destroy(struct replay_process *process);

/* In replay.c: finds or adds the frame with this key in one of the replay's frame indexes. */
uint32_t replay_add_frame(struct replay *replay, struct hash *index, uint64_t key, const struct replay_frame *frame);

#endif
