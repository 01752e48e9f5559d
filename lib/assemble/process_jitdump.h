/*
 * Finds the jitdump file of a recorded process, and the JIT code at an address and a time of the recording.
 */
#pragma once

#include "assemble/replay_state.h"
#include "symbol/jit_name.h"
#include "symbol/jitdump.h"

/* Finds and reads the file. Returns NULL if the file does not exist, is not trusted or is damaged. The caller destroys
 * and frees it. */
struct jitdump *process_jitdump_open(const struct replay *replay, uint32_t process);

/* Reopens the file of `process.jit.dump`. Returns a descriptor, closed by the caller; negative if the file no longer
 * exists. */
int process_jitdump_open_again(const struct replay *replay, uint32_t process);

/* Returns the source file of JIT code: from its name, else from its first line, or NULL if unknown. */
const char *process_jitdump_find_source_file(const struct jitdump *dump, const struct jit_code *code,
                                             const struct jit_name *name);

/* Finds the JIT code at `pc` at `time` (ns of CLOCK_MONOTONIC), or JIT_HISTORY_NONE for none. */
uint32_t process_jitdump_find(const struct replay *replay, const struct jitdump *dump, uint64_t pc, uint64_t time);

/* Returns the number of changes up to that time. */
uint64_t process_jitdump_find_generation(const struct replay *replay, const struct jitdump *dump, uint64_t time);
