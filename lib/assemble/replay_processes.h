/*
 * The processes and threads of a replay: their starts, ends and names, and the mappings of processes.
 */
#pragma once

#include "assemble/replay_state.h"

/* Handle a record of their kind. They ignore a record of an unknown process or thread, and fail only if memory runs
 * out. replay_add_mapping() handles the mappings of the kernel, too. */
int replay_start_process(struct replay *replay, const struct spool_process *record, struct error *err);
int replay_start_thread(struct replay *replay, const struct spool_thread *record, struct error *err);
int replay_rename_thread(struct replay *replay, const struct spool_thread_name *record, struct error *err);
int replay_add_mapping(struct replay *replay, const struct spool_mapping *record, struct error *err);
void replay_end_thread(struct replay *replay, const struct spool_thread_end *record);
void replay_add_unsampled_rest(struct replay *replay, const struct spool_unsampled_thread_time *record);
void replay_add_unsampled_time(struct replay *replay, const struct spool_unsampled_process_time *record);

/* Whether the spool had an event that describes the thread. */
bool replay_knows_thread(const struct replay *replay, uint32_t number);

void replay_processes_destroy(struct replay *replay);
