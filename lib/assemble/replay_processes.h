/*
 * The processes and threads of a replay: when each starts, ends and changes its name, and what a process maps.
 */
#pragma once

#include "assemble/replay_state.h"

#include <stdbool.h>
#include <stdint.h>

/* Take a record of their kind. They ignore a record of an unknown process or thread, and fail only if memory runs out.
 * replay_map() takes the mappings of the kernel, too. */
int replay_start_process(struct replay *replay, const struct spool_process *record, struct error *err);
int replay_start_thread(struct replay *replay, const struct spool_thread *record, struct error *err);
int replay_rename_thread(struct replay *replay, const struct spool_thread_name *record, struct error *err);
int replay_map(struct replay *replay, const struct spool_mapping *record, struct error *err);
void replay_end_thread(struct replay *replay, const struct spool_thread_end *record);
void replay_note_rest(struct replay *replay, const struct spool_unsampled_thread_time *record);
void replay_note_unseen(struct replay *replay, const struct spool_unsampled_process_time *record);

/* Whether an event has described the thread. */
bool replay_knows_thread(const struct replay *replay, uint32_t number);

void replay_processes_destroy(struct replay *replay);
