/*
 * The events of a replay other than the CPU clock: their samples and counts.
 */
#pragma once

#include "assemble/replay_state.h"

/* Adds a sample of an event. The sample counts neither as CPU time nor as a CPU sample of its thread. `stack` is an
 * index of the replay. */
int replay_add_event(struct replay *replay, const struct spool_event_sample *sample, uint32_t stack, struct error *err);

/* Adds events without samples, and computes the scale of each event. Call this function after all samples. */
int replay_end_events(struct replay *replay, struct error *err);

void replay_events_destroy(struct replay *replay);

/* Whether the recorder only counted CPU time, without sampling it. */
bool replay_has_only_events(const struct replay *replay);

/* Returns the occurrences for which the samples of events.data[i] stand. */
double replay_get_event_total(const struct replay *replay, size_t i);

/* Returns the name of events.data[i] of the recording, or NULL if the name is unknown. */
const char *replay_get_event_name(const struct replay *replay, size_t i);

/* Returns a number of events.data[i] from its metadata INFO_EVENT_..., or 0 if the recording lacks the number. */
uint64_t replay_get_event_number(const struct replay *replay, const char *prefix, size_t i);
