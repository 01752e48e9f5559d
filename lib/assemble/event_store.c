/*
 * A stored sample has 32 bits for the period. A separate entry before the sample has the higher bits of a larger
 * period.
 */
#include "assemble/event_store.h"

int event_store_add(struct replay_event *event, const char *beside, uint32_t thread, const struct event_sample *sample,
                    struct error *err)
{
    struct stored_sample stored = {.time = sample->time, .stack = sample->stack};
    int code = 0;
    if (!event->store && !(event->store = sample_store_new(beside)))
        return error_no_memory(err);
    if (sample->period > UINT32_MAX) {
        stored.kind = STORED_EVENT_HIGH;
        stored.period = (uint32_t)(sample->period >> 32);
        code = sample_store_add(event->store, thread, &stored, err);
    }
    stored.kind = STORED_EVENT;
    stored.period = (uint32_t)sample->period;
    event->samples++;
    event->total += sample->period;
    return code ? code : sample_store_add(event->store, thread, &stored, err);
}

int event_store_next(struct sample_cursor *cursor, struct event_sample *sample, struct error *err)
{
    struct stored_sample stored;
    uint64_t high = 0;
    int got = sample_cursor_next(cursor, &stored, err);
    if (got > 0 && stored.kind == STORED_EVENT_HIGH) {
        high = stored.period;
        got = sample_cursor_next(cursor, &stored, err);
    }
    if (got > 0)
        *sample =
            (struct event_sample){.time = stored.time, .period = high << 32 | stored.period, .stack = stored.stack};
    return got;
}
