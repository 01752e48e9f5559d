#include "spool/counter_reading.h"
/* Numbers of threads are below it. */
static const uint32_t first_thread = UINT32_C(1) << 31;

uint32_t counter_reading_whose(const struct sample *sample)
{
    return sample->thread - first_thread;
}

bool counter_reading_of(const struct sample *sample, uint64_t *values, struct counter_reading *reading)
{
    if (!(sample->flags & SAMPLE_COUNTERS) || sample->thread < first_thread)
        return false;
    for (uint32_t i = 0; i < sample->frame_count; i++)
        values[i] = sample->frames[i];
    bool has_gap = sample->cpu_time && sample->cpu_time < sample->time;
    *reading = (struct counter_reading){.whose = sample->thread - first_thread,
                                        .time = sample->time,
                                        .since = has_gap ? sample->time - sample->cpu_time : 0,
                                        .is_base = sample->flags & SAMPLE_COUNTERS_BASE,
                                        .count = sample->frame_count,
                                        .values = values};
    return true;
}
