/*
 * The libraries of a replay, when processes load them, and the mappings of the kernel.
 */
#pragma once

#include "assemble/replay_state.h"

#include <stdbool.h>
#include <stdint.h>

int replay_add_lib(struct replay *replay, const struct spool_library *record, struct error *err);

/* Whether an event has described the library: that event may be in a lost block. */
bool replay_knows_lib(const struct replay *replay, uint32_t number);

/* Takes SPOOL_MAP of a process: lists the load if it is the first of the library in the process. A file of which a
 * process has a part already is not loaded again. A compiler maps its jitdump file to tell of it. */
int replay_note_load(struct replay *replay, const struct spool_mapping *mapping, struct error *err);

/* Takes SPOOL_MAP of the kernel. */
int replay_map_kernel(struct replay *replay, const struct mapping *mapping, struct error *err);

void replay_libs_destroy(struct replay_libs *libs);
