/*
 * A stored sample has 30 bits for a number, and a period may be larger: then the higher bits are in an entry of their
 * own before it, marked as a wait is.
 */
#include "assemble/event_store.h"

enum { PERIOD_BITS = 30 };

static const uint64_t period_mask = (UINT64_C(1) << PERIOD_BITS) - 1;

int event_store_add(struct replay_event *event, const char *beside, uint32_t thread, const struct event_sample *sample,
                    struct error *err)
{
    uint64_t high = sample->period >> PERIOD_BITS;
    int code = 0;
    if (!event->store && !(event->store = sample_store_new(beside)))
        return error_no_memory(err);
    struct stored_sample stored = {.time = sample->time, .stack = sample->stack, .is_wait = 1};
    if (high) {
        stored.number = high & period_mask;
        code = sample_store_add(event->store, thread, &stored, err);
    }
    stored.is_wait = 0;
    stored.number = sample->period & period_mask;
    event->samples++;
    event->total += sample->period;
    return code ? code : sample_store_add(event->store, thread, &stored, err);
}

int event_store_next(struct sample_cursor *cursor, struct event_sample *sample, struct error *err)
{
    struct stored_sample stored;
    uint64_t high = 0;
    int got = sample_cursor_next(cursor, &stored, err);
    if (got > 0 && stored.is_wait) {
        high = stored.number;
        got = sample_cursor_next(cursor, &stored, err);
    }
    if (got > 0)
        *sample = (struct event_sample){
            .time = stored.time, .period = high << PERIOD_BITS | stored.number, .stack = stored.stack};
    return got;
}
