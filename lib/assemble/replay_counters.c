#include "assemble/replay_counters.h"

enum { LEAST_THINNED = 64 }; /* readings of a series */

static struct replay_series *get_series(struct replay_counters *counters, uint32_t whose)
{
    uint32_t *place = hash_at(&counters->index, whose);
    if (!place)
        return NULL;
    if (*place == HASH_MISSING) {
        struct replay_series *made = array_push_zero(&counters->series);
        if (!made) {
            hash_remove(&counters->index, whose);
            return NULL;
        }
        made->whose = whose;
        *place = (uint32_t)counters->series.length - 1;
    }
    return &counters->series.data[*place];
}

static void move_reading(struct replay_series *series, size_t *kept, size_t reading)
{
    series->readings.data[*kept] = series->readings.data[reading];
    series->readings.data[*kept].since = 0;
    memmove(series->values.data + *kept * series->width, series->values.data + reading * series->width,
            series->width * sizeof(uint64_t));
    (*kept)++;
}

/* Drops the reading with less memory of each two neighbors, so that the peak stays. Sums stay correct, because readings
 * are totals, not changes. */
static void drop_half_of_series(struct replay_series *series)
{
    size_t kept = 0, i = 0, count = series->readings.length;
    const struct replay_reading *readings = series->readings.data;
    bool has_memory = series->width == COUNTER_KINDS;
    while (i < count) {
        bool is_pair = i + 2 < count && !readings[i].is_base && !readings[i + 1].is_base;
        bool first_is_larger =
            is_pair && has_memory &&
            replay_series_get_value(series, i, COUNTER_MEMORY) > replay_series_get_value(series, i + 1, COUNTER_MEMORY);
        move_reading(series, &kept, is_pair && !first_is_larger ? i + 1 : i);
        i += is_pair ? 2 : 1;
    }
    series->readings.length = kept;
    series->values.length = kept * series->width;
}

/* Thins out all series. Many short series may still exceed the limit of values. */
static void drop_half_of_all_series(struct replay_counters *counters)
{
    counters->values = 0;
    for (size_t i = 0; i < counters->series.length; i++) {
        struct replay_series *series = &counters->series.data[i];
        if (series->readings.length >= LEAST_THINNED)
            drop_half_of_series(series);
        counters->values += series->values.length;
    }
    if (counters->values > counters->most / 4 * 3)
        counters->most *= 2;
}

int replay_counters_add(struct replay_counters *counters, const struct spool_counters *record, struct error *err)
{
    if (!record->values.count || (record->of < COUNTERS_OF_POWER && record->values.count != COUNTER_KINDS))
        return 0;
    struct replay_series *series = get_series(counters, record->of);
    if (!series)
        return error_no_memory(err);
    if (!series->width)
        series->width = record->values.count;
    if (record->values.count != series->width)
        return 0; /* a CPU has come */
    struct replay_reading row = {.time = record->time_ns, .since = record->since_ns, .is_base = record->is_base};
    size_t count = series->readings.length;
    uint64_t last = count ? series->readings.data[count - 1].time : 0;
    if (row.time < last)
        row.time = last;
    if (row.since <= last || row.since >= row.time)
        row.since = 0;
    if (!array_append(&series->values, record->values.items, record->values.count) ||
        !array_push(&series->readings, row))
        return error_no_memory(err);
    counters->values += record->values.count;
    if (!counters->most)
        counters->most = REPLAY_COUNTERS_MOST;
    if (counters->values >= counters->most)
        drop_half_of_all_series(counters);
    return 0;
}

const struct replay_series *replay_counters_find(const struct replay_counters *counters, uint32_t whose)
{
    uint32_t place = hash_get(&counters->index, whose);
    return place == HASH_MISSING ? NULL : &counters->series.data[place];
}

void replay_counters_destroy(struct replay_counters *counters)
{
    for (size_t i = 0; i < counters->series.length; i++) {
        array_free(&counters->series.data[i].readings);
        array_free(&counters->series.data[i].values);
    }
    array_free(&counters->series);
    hash_destroy(&counters->index);
}
