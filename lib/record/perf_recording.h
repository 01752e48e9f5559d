/*
 * The recording loop of perf events: sleep until there is something to read, read all rings in causal order, tell the
 * tracker about processes and mappings, walk the stack of each sample where it lies in its ring, and append the chain
 * of addresses to the spool (recording_samples.c).
 *
 * Threads: all functions act on the thread that calls them, the recorder thread.
 */
#pragma once

#include "base/error.h"
#include "record/recording.h"

/* Opens recording->events for the options, and the rings' way to the loop. If perf events are refused,
 * recording->refusal says why. */
int perf_recording_open(struct recording *recording, struct error *err);

/* Takes in what lies in the rings, though not without end: threads may fill them meanwhile. */
int perf_recording_read(struct recording *recording, struct error *err);

/* Records until the recording ends. No event counts after it, and the rings are empty. */
int perf_recording_until_end(struct recording *recording, struct error *err);
