/*
 * Markers of what the counters of a process (spool/counter_reading.h) tell of its memory: where it grew much without a
 * pause, and where it waited for a disk because of page faults. A counter shows both as well; a marker is found without
 * looking for it, and says how much.
 */
#pragma once

#include "assemble/marker_rows.h"
#include "assemble/program_markers.h"

#define MEMORY_MARKERS_GROWTH (UINT64_C(64) << 20) /* bytes: growth that is less has no marker */

enum { MEMORY_MARKERS_FAULTS = 10, MEMORY_MARKERS_MAX = 2000 }; /* major faults that are fewer; markers of each kind */

/* Adds the markers, to the main threads of the processes. Memory that ran out is noted in `rows`. Returns how many are
 * left out. */
size_t memory_markers_add(struct marker_rows *rows, const struct shown_threads *shown);
