/*
 * Puts the records of a perf.data file in the order of their times.
 *
 * perf reads the rings of the CPUs one after the other, and writes FINISHED_ROUND behind each round. When a round ends,
 * nothing older than the newest record of the round before can follow: so much is passed on (tools/perf/util/
 * ordered-events.c). What waits is bounded: of a file without rounds, or with too much in one, the oldest records are
 * passed on early, and those that come too late for it are counted and have their time moved.
 *
 * Threads: one at a time.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct waiting_record {
    uint64_t time, sequence;
    const unsigned char *bytes;
    uint32_t size;
    bool is_copy; /* allocated */
};

/* Takes a record; `time` is that of the record, or of the one before if it is older. */
typedef int perf_data_taker(void *context, const unsigned char *bytes, size_t size, uint64_t time);

struct perf_data_order {
    perf_data_taker *take;
    void *context;
    ARRAY(struct waiting_record) heap; /* the oldest first */
    uint64_t sequence;
    uint64_t newest;                /* time of the newest record so far */
    uint64_t limit;                 /* newest of the round before */
    uint64_t last;                  /* time of the record that was passed on last */
    size_t copied;                  /* bytes of copies that wait */
    uint64_t late;                  /* records with an older time than one before them */
    size_t records_max, copied_max; /* 0: the usual bounds */
};

/* Sets bounds for records that are sorted as a whole, as those of several files are: 16 million of them, which take 32
 * bytes each. */
void perf_data_order_all(struct perf_data_order *order);

/* Adds a record; `lasts`: its bytes stay, else they are copied. Time 0: it has none, and is passed on at once. */
int perf_data_order_add(struct perf_data_order *order, uint64_t time, const unsigned char *bytes, size_t size,
                        bool lasts, struct error *err);
int perf_data_order_end_round(struct perf_data_order *order);
int perf_data_order_finish(struct perf_data_order *order); /* passes on the rest */
void perf_data_order_destroy(struct perf_data_order *order);
