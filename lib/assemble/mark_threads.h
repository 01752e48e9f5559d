/*
 * Finds the threads of program marks. A mark has a pid and a tid, and the system reuses both.
 */
#pragma once

#include "assemble/replay_state.h"

/* Finds the thread of each mark, and sets has_marks in the replay. Drops marks without a thread, and marks that end
 * before `first_time` (ns). */
int find_threads_of_marks(struct replay *replay, uint64_t first_time, struct error *err);
