/*
 * Numbers of processes and threads in the spool of a flight recorder, and rows in the tables of a replay.
 *
 * Threads: the one that replays.
 */
#pragma once

#include "assemble/replay_state.h"

/* Replace the numbers of processes and threads by rows, 0-based in order of appearance. Return 1; 0 if the spool no
 * longer has the item's process or thread; or -ENOMEM. */
int replay_renumber_event(struct replay *replay, struct spool_event *event, struct error *err);
int replay_renumber_sample(struct replay *replay, struct sample *sample);

/* Returns the number that the recorder gave to the process in this row. */
uint32_t replay_process_number(const struct replay *replay, uint32_t row);

void replay_rows_destroy(struct replay_rows *rows);
