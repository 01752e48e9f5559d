/*
 * The recording loop of perf events: sleeps until a ring has records, reads all rings in causal order, passes processes
 * and mappings to the tracker, walks the stack of each sample in place in its ring, and appends the call chain to the
 * spool (recording_samples.c).
 *
 * Threads: all functions act on the thread that calls them, the recorder thread.
 */
#pragma once

#include "base/error.h"
#include "record/recording.h"

/* Opens recording->events for the options, and merges their rings for the loop. recording->refusal: the reason if the
 * kernel refuses perf events. */
int perf_recording_open(struct recording *recording, struct error *err);

/* Reads the records in the rings, a limited number of rounds, because threads fill the rings meanwhile. */
int perf_recording_read(struct recording *recording, struct error *err);

/* Records until the recording ends. Then all events are off, and the rings are empty. */
int perf_recording_until_end(struct recording *recording, struct error *err);
