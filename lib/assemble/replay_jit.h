/*
 * The frames of a replay that lie in no file: in memory where a compiler puts code while the program runs, or where
 * there is no code at all.
 */
#ifndef PROF_ASSEMBLE_REPLAY_JIT_H
#define PROF_ASSEMBLE_REPLAY_JIT_H

#include "assemble/replay.h"

/* The number of the frame of `pc` in `process` at `time`, added if it is new; `is_mapped`: there is executable memory.
 * REPLAY_NONE if memory ran out. */
uint32_t replay_jit_frame(struct replay *replay, uint32_t process, uint64_t pc, uint64_t time, bool is_mapped);

/* Grows when other code may be at an address of the process than before. */
uint64_t replay_jit_generation(const struct replay *replay, uint32_t process, uint64_t time);

/* A library that the process has mapped: a jitdump file is mapped to tell of it. */
void replay_jit_mapped(struct replay *replay, uint32_t process, uint32_t lib);

void replay_jit_destroy(struct replay_process *process);

/* replay.c's: the frame of this key in one of the replay's tables of frames, added if it is new. */
uint32_t replay_add_frame(struct replay *replay, struct hash *index, uint64_t key, const struct replay_frame *frame);

#endif
