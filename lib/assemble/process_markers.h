/*
 * Markers that tell of the lives of processes and threads: when each began and ended, what it executed, which libraries
 * it loaded. Those of a process are in the row of its main thread; where it has none, in that of the next process
 * above.
 */
#pragma once

#include "assemble/program_markers.h"

enum { PROCESS_MARKERS_MAX = 2000 }; /* of each kind */

/* Adds at most PROCESS_MARKERS_MAX of each kind. Memory that ran out is noted in `rows`. Returns how many are left out.
 */
size_t process_markers_add(struct marker_rows *rows, const struct shown_threads *shown);
