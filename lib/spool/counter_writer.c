#include "spool/counter_writer.h"

int counter_writer_write(struct spool_writer *spool, const struct counter_reading *reading, struct error *err)
{
    const struct spool_counters counters = {.of = reading->whose,
                                            .time_ns = reading->time,
                                            .since_ns = reading->since,
                                            .is_base = reading->is_base,
                                            .values = {.items = reading->values, .count = reading->count}};
    return spool_write_counters(spool, &counters, err);
}
