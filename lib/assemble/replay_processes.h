/*
 * The processes and threads of a replay: when each starts, ends and changes its name, and what a process maps.
 */
#pragma once

#include "assemble/replay_state.h"

#include <stdbool.h>
#include <stdint.h>

/* Take the event named first. They ignore an event of an unknown process or thread, and fail only if memory runs
 * out. */
int replay_start_process(struct replay *replay, const struct spool_event *event, struct error *err); /* SPOOL_PROCESS */
int replay_start_thread(struct replay *replay, const struct spool_event *event, struct error *err);  /* SPOOL_THREAD */
int replay_rename_thread(struct replay *replay, const struct spool_event *event, struct error *err); /* SPOOL_NAME */
int replay_map(struct replay *replay, const struct spool_event *event, struct error *err); /* SPOOL_MAP; kernel, too */
void replay_end_thread(struct replay *replay, const struct spool_event *event);            /* SPOOL_THREAD_END */
void replay_note_rest(struct replay *replay, const struct spool_event *event);             /* SPOOL_UNSAMPLED */
void replay_note_unseen(struct replay *replay, const struct spool_event *event);           /* SPOOL_UNSEEN */

/* Whether an event has described the thread. */
bool replay_knows_thread(const struct replay *replay, uint32_t number);

void replay_processes_destroy(struct replay *replay);
