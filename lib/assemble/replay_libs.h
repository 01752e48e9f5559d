/*
 * The libraries of a replay, the times at which processes load them, and the mappings of the kernel.
 */
#pragma once

#include "assemble/replay_state.h"

int replay_add_lib(struct replay *replay, const struct spool_library *record, struct error *err);

/* Whether an event has described the library. Otherwise the event may be in a lost block. */
bool replay_knows_lib(const struct replay *replay, uint32_t number);

/* Handles SPOOL_MAP of a process: lists the load of a library at its first mapping in the process. Later mappings of
 * the file are not loads, and neither are mappings of jitdump files. */
int replay_add_load(struct replay *replay, const struct spool_mapping *mapping, struct error *err);

/* Handles SPOOL_MAP of the kernel. */
int replay_map_kernel(struct replay *replay, const struct mapping *mapping, struct error *err);

void replay_libs_destroy(struct replay_libs *libs);
