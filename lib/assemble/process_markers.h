/*
 * Markers for the lifetime of processes and threads: start, end, executed programs and loaded libraries. Markers of a
 * process are in its main thread; if the profile lacks that thread, in its closest ancestor's.
 */
#pragma once

#include "assemble/program_markers.h"

enum { PROCESS_MARKERS_MAX = 2000 }; /* of each kind */

/* Adds at most PROCESS_MARKERS_MAX of each kind. Notes a lack of memory in `rows`. Returns the number of markers beyond
 * the limit. */
size_t process_markers_add(struct marker_rows *rows, const struct shown_threads *shown);
