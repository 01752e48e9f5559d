#include "spool/counter_reading.h"
/* Numbers of threads are below it. */
static const uint32_t first_thread = UINT32_C(1) << 31;

void counter_reading_to_sample(const struct counter_reading *reading, uint64_t *frames, struct sample *sample)
{
    for (size_t i = 0; i < reading->count; i++) /* the first value is the outermost frame */
        frames[reading->count - 1 - i] = reading->values[i];
    bool has_gap = reading->since && reading->since < reading->time;
    *sample = (struct sample){.thread = first_thread + reading->whose,
                              .time = reading->time,
                              .cpu_time = has_gap ? reading->time - reading->since : 0,
                              .flags = SAMPLE_COUNTERS | (reading->is_base ? (uint32_t)SAMPLE_COUNTERS_BASE : 0),
                              .frame_count = (uint32_t)reading->count,
                              .frames = frames};
}

uint32_t counter_reading_whose(const struct sample *sample)
{
    return sample->thread - first_thread;
}

bool counter_reading_of(const struct sample *sample, uint64_t *values, struct counter_reading *reading)
{
    if (!(sample->flags & SAMPLE_COUNTERS) || sample->thread < first_thread)
        return false;
    for (uint32_t i = 0; i < sample->frame_count; i++)
        values[i] = sample->frames[sample->frame_count - 1 - i];
    bool has_gap = sample->cpu_time && sample->cpu_time < sample->time;
    *reading = (struct counter_reading){.whose = sample->thread - first_thread,
                                        .time = sample->time,
                                        .since = has_gap ? sample->time - sample->cpu_time : 0,
                                        .is_base = sample->flags & SAMPLE_COUNTERS_BASE,
                                        .count = sample->frame_count,
                                        .values = values};
    return true;
}
