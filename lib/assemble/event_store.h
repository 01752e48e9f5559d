/*
 * The samples of events other than the CPU clock. Each event has its own store (sample_store.h), so that CPU samples do
 * not depend on them.
 */
#pragma once

#include "assemble/sample_store.h"
#include "spool/chunk.h"

struct event_sample {
    uint64_t time;   /* ns */
    uint64_t period; /* occurrences of the event that the sample stands for */
    uint32_t stack;  /* stack of the sample, an index of the replay */
};

struct replay_event {
    struct sample_store *store; /* NULL before the first sample */
    uint64_t samples, truncated;
    uint64_t total; /* sum of the periods of the samples */
    double scale;   /* factor from the periods of samples to occurrences of the event */
};

/* `beside`: see sample_store_new(). */
int event_store_add(struct replay_event *event, const char *beside, uint32_t thread, const struct event_sample *sample,
                    struct error *err);

/* Reads the next sample from a cursor over event->store: 1, 0 at the end, or a negative errno value. */
int event_store_next(struct sample_cursor *cursor, struct event_sample *sample, struct error *err);
