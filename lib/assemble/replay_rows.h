/*
 * Maps numbers in the spool to rows in the tables of a replay.
 *
 * Threads: the thread of the replay.
 */
#pragma once

#include "assemble/replay_state.h"

/* For flight recorders: replace the numbers of processes and threads by rows, 0-based in order of appearance. Return
 * 1, 0 if the spool no longer has the item's process or thread, or -ENOMEM. */
int replay_renumber_rows(struct replay *replay, struct spool_record *record, struct error *err);

/* Returns the recorder's number of the process in this row. */
uint32_t replay_get_process_number(const struct replay *replay, uint32_t row);

void replay_rows_destroy(struct replay_rows *rows);

/* Returns whether a process, thread or library may have this index. The recorder assigns indexes in sequence, so a
 * larger index than the number of events so far comes from a damaged spool. */
bool replay_is_possible(const struct replay *replay, uint32_t number);

/* Makes room for row `number` of a table, with unknown rows before it. Returns 1; 0, counted as damage, if the number
 * is impossible; or -ENOMEM. */
int replay_ensure_row(struct replay *replay, uint32_t number, void **rows, size_t *length, size_t *capacity,
                      size_t row_size, struct error *err);

#define REPLAY_ENSURE_ROW(replay, table, number, err)                                                                  \
    replay_ensure_row((replay), (number), (void **)&(table)->data, &(table)->length, &(table)->capacity,               \
                      sizeof(*(table)->data), (err))
