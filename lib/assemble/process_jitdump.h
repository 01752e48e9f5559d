/*
 * The jitdump file of a recorded process: finds it, and looks up the code at an address at a time of the recording.
 */
#pragma once

#include "assemble/replay.h"
#include "symbol/jit_name.h"
#include "symbol/jitdump.h"

/* Finds and reads the file. NULL if there is none, or it is not trusted or damaged. The caller destroys and frees it.
 */
struct jitdump *process_jitdump_open(const struct replay *replay, uint32_t process);

/* Opens the file of `process.dump` again. A descriptor that the caller closes; negative if it is no longer there. */
int process_jitdump_open_again(const struct replay *replay, uint32_t process);

/* The source file of a code: the name's, else that of its first line; NULL if unknown. */
const char *process_jitdump_file_of(const struct jitdump *dump, const struct jit_code *code,
                                    const struct jit_name *name);

/* The JIT code at `pc` at `time` (ns of CLOCK_MONOTONIC), or JIT_HISTORY_NONE. */
uint32_t process_jitdump_find(const struct replay *replay, const struct jitdump *dump, uint64_t pc, uint64_t time);

/* How many changes process_jitdump_find() considers at that time. */
uint64_t process_jitdump_generation(const struct replay *replay, const struct jitdump *dump, uint64_t time);
