/*
 * Sorts the records of a perf.data file by time.
 *
 * perf reads the rings of all CPUs in turn, and writes FINISHED_ROUND after each round. No later record is older than
 * the newest record of the round before the last, so all records up to the time of that record are delivered
 * (tools/perf/util/ordered-events.c). The queue is bounded: if it is full, the oldest records are delivered early;
 * older records that follow are counted, and their times adjusted.
 *
 * Threads: one at a time.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"

struct waiting_record {
    uint64_t time, sequence;
    const unsigned char *bytes;
    uint32_t size;
    bool is_copy; /* allocated */
};

/* Takes a record; `time` is the time of the record, or of the previous record if newer. */
typedef int perf_data_taker(void *context, const unsigned char *bytes, size_t size, uint64_t time);

struct perf_data_order {
    perf_data_taker *take;
    void *context;
    ARRAY(struct waiting_record) heap; /* the oldest first */
    uint64_t sequence;
    uint64_t newest;                /* time of the newest record so far */
    uint64_t limit;                 /* newest time of the previous round */
    uint64_t last;                  /* time of the last delivered record */
    size_t copied;                  /* bytes of copies that wait */
    uint64_t late;                  /* number of records older than a delivered record */
    size_t records_max, copied_max; /* 0: the usual bounds */
};

/* Sets the limits for sorting records of several files together: 16 million records of 32 bytes. */
void perf_data_order_set_unlimited(struct perf_data_order *order);

/* Adds a record. If `lasts`, the record's bytes stay valid; otherwise the function copies the bytes. A record without a
 * time (0) is delivered at once. */
int perf_data_order_add(struct perf_data_order *order, uint64_t time, const unsigned char *bytes, size_t size,
                        bool lasts, struct error *err);
int perf_data_order_end_round(struct perf_data_order *order);
int perf_data_order_finish(struct perf_data_order *order); /* delivers all queued records */
void perf_data_order_destroy(struct perf_data_order *order);
