/*
 * The events that were recorded beside CPU time, in a replay: their samples, and what the recorder says of them.
 */
#pragma once

#include "assemble/replay.h"

/* Takes in a sample of an event. It takes no part in the CPU time of its thread, nor in what is said of the samples of
 * that. `stack`: of the replay. */
int replay_add_event(struct replay *replay, const struct sample *sample, uint32_t stack, struct error *err);

/* When all samples are there: adds the events that have none, and finds how the samples of each are scaled. */
int replay_end_events(struct replay *replay, struct error *err);

void replay_events_destroy(struct replay *replay);

/* Whether CPU time was counted, and not sampled. */
bool replay_has_only_events(const struct replay *replay);

/* How many events the samples of events.data[i] stand for. */
double replay_event_total(const struct replay *replay, size_t i);

/* The name of events.data[i] of the recording; NULL if it is not known. */
const char *replay_event_name(const struct replay *replay, size_t i);

/* The number of one of INFO_EVENT_..., of events.data[i]; 0 if the recording lacks it. */
uint64_t replay_event_number(const struct replay *replay, const char *prefix, size_t i);
