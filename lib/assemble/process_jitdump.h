/*
 * The jitdump file of a recorded process: which it is, and what it says of an address at a time of the recording.
 */
#ifndef PROF_ASSEMBLE_PROCESS_JITDUMP_H
#define PROF_ASSEMBLE_PROCESS_JITDUMP_H

#include "assemble/replay.h"
#include "symbol/jitdump.h"

/* Finds and reads it; NULL if there is none, or it may not be trusted or makes no sense. The caller destroys and frees
 * it. */
struct jitdump *process_jitdump_open(const struct replay *replay, uint32_t process);

/* The piece of code that was at `pc`, or JIT_HISTORY_NONE. `time`: ns of CLOCK_MONOTONIC. */
uint32_t process_jitdump_find(const struct replay *replay, const struct jitdump *dump, uint64_t pc, uint64_t time);

/* How many changes process_jitdump_find() has seen up to that time. */
uint64_t process_jitdump_generation(const struct replay *replay, const struct jitdump *dump, uint64_t time);

#endif
