/*
 * Collects the counter readings of a recording (spool/counter_kinds.h): one series for each process, one for the CPUs
 * and one for energy. Above a limit of memory, prof drops half of the readings.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "spool/counter_kinds.h"
#include "spool/records.h"

struct replay_reading {
    uint64_t time, since; /* ns, as in struct spool_counters */
    bool is_base;
};

struct replay_series {
    uint32_t whose;                        /* as in struct spool_counters */
    size_t width;                          /* values per reading */
    ARRAY(struct replay_reading) readings; /* times do not decrease */
    ARRAY(uint64_t) values;                /* `width` per reading */
};

/* Starts zeroed. */
struct replay_counters {
    struct hash index; /* whose -> series */
    ARRAY(struct replay_series) series;
    size_t values; /* of all series */
    size_t most;   /* limit of values, or 0 (REPLAY_COUNTERS_MOST) */
};
enum { REPLAY_COUNTERS_MOST = 6 << 20 }; /* 48 MiB */

/* Adds a reading. Ignores a reading with another width, or before the last reading. */
int replay_counters_add(struct replay_counters *counters, const struct spool_counters *record, struct error *err);

/* Returns the series of a process, of the CPUs or of energy (`whose`, as in struct spool_counters), or NULL. */
const struct replay_series *replay_counters_find(const struct replay_counters *counters, uint32_t whose);

/* A value of a reading. */
static inline uint64_t replay_series_get_value(const struct replay_series *series, size_t reading, size_t column)
{
    return series->values.data[reading * series->width + column];
}

void replay_counters_destroy(struct replay_counters *counters);
