/*
 * Markers for the lifetime of processes and threads: start, end, executed programs and loaded libraries. The main
 * thread of a process has the markers of the process. If the profile lacks this thread, the main thread of the closest
 * ancestor has the markers.
 */
#pragma once

#include "assemble/program_markers.h"

enum {
    PROCESSES_MAX = 20000,     /* limit of starts of processes and programs, enough for a large build */
    PROCESS_MARKERS_MAX = 2000 /* of each other kind */
};

/* Adds the markers up to these limits. Notes a lack of memory in `rows`. Returns the number of markers beyond
 * the limit. */
size_t process_markers_add(struct marker_rows *rows, const struct shown_threads *shown);
