/*
 * Markers from the memory counters of a process (spool/counter_kinds.h): large growth without a pause, and waits for a
 * disk because of page faults. The counter also shows these events, but a marker is easier to find and has the amount.
 */
#pragma once

#include "assemble/marker_rows.h"
#include "assemble/program_markers.h"

#define MEMORY_MARKERS_GROWTH (UINT64_C(64) << 20) /* bytes: smaller growth has no marker */

enum {
    MEMORY_MARKERS_FAULTS = 10, /* fewer major faults have no marker */
    MEMORY_MARKERS_MAX = 2000   /* limit of markers of each kind */
};

/* Adds the markers to the main threads of the processes. Notes a lack of memory in `rows`. Returns the number of
 * markers beyond the limit. */
size_t memory_markers_add(struct marker_rows *rows, const struct shown_threads *shown);
