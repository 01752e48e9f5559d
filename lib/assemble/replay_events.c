#include "assemble/replay_events.h"

#include "spool/info.h"
#include "sample/event_list.h"

int replay_add_event(struct replay *replay, const struct spool_event_sample *sample, uint32_t stack, struct error *err)
{
    struct replay_thread *thread = &replay->threads.data[sample->thread];
    if (sample->event == 0 || sample->event > EVENTS_MAX) {
        replay->spool.damaged_blocks++;
        return 0;
    }
    while (replay->events.length < sample->event)
        if (!array_push_zero(&replay->events))
            return error_no_memory(err);
    struct replay_event *event = &replay->events.data[sample->event - 1];
    if (sample->time_ns > thread->last_event_time)
        thread->last_event_time = limit_stored_time(sample->time_ns);
    thread->event_samples++;
    replay->processes.data[thread->process].samples++;
    event->truncated += (sample->flags & SAMPLE_TRUNCATED) != 0;
    const struct event_sample stored = {.time = thread->last_event_time, .period = sample->period, .stack = stack};
    return event_store_add(event, replay->spool.path, sample->thread, &stored, err);
}

/*
 * Returns the factor from the periods of an event's samples to the kernel's count. With a sampling frequency, the sum
 * of the periods of software events exceeds the count, for bursts by up to 100 %. At each timer tick, the kernel adapts
 * the period and samples the next event, and ignores the rest of the previous period (perf_adjust_period() compares
 * this rest, which is negative for software events, as unsigned). The periods of a flight recorder stay unscaled,
 * because its spool lacks samples that the kernel counted.
 */
static double find_scale(const struct replay *replay, size_t i)
{
    uint64_t count = replay_get_event_number(replay, INFO_EVENT_COUNT, i), total = replay->events.data[i].total;
    bool is_adapted = replay_get_event_number(replay, INFO_EVENT_PERIOD, i) == 0;
    return is_adapted && count && total && !replay->spool.keeps_last && !replay->input.window
               ? (double)count / (double)total
               : 1;
}

int replay_end_events(struct replay *replay, struct error *err)
{
    for (size_t i = replay->events.length; i < EVENTS_MAX && replay_get_event_name(replay, i); i++)
        if (!array_push_zero(&replay->events))
            return error_no_memory(err);
    for (size_t i = 0; i < replay->events.length; i++)
        replay->events.data[i].scale = find_scale(replay, i);
    return 0;
}

bool replay_has_only_events(const struct replay *replay)
{
    const char *event = replay_get_info(replay, INFO_EVENT);
    return event && strcmp(event, "none") == 0;
}

double replay_get_event_total(const struct replay *replay, size_t i)
{
    return (double)replay->events.data[i].total * replay->events.data[i].scale;
}

const char *replay_get_event_name(const struct replay *replay, size_t i)
{
    char name[64];
    snprintf(name, sizeof(name), INFO_EVENT_NAME "%zu", i + 1);
    return replay_get_info(replay, name);
}

uint64_t replay_get_event_number(const struct replay *replay, const char *prefix, size_t i)
{
    char name[64];
    snprintf(name, sizeof(name), "%s%zu", prefix, i + 1);
    return replay_get_info_number(replay, name, 0);
}

void replay_events_destroy(struct replay *replay)
{
    for (size_t i = 0; i < replay->events.length; i++)
        sample_store_free(replay->events.data[i].store);
    array_free(&replay->events);
}
