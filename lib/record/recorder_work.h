/*
 * Stores the recorder's own work as recorder_work records: each flush or read of the rings that takes more than 1 ms,
 * and once a second the time for unwinding. So a profile shows when and why the recorder was late.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/error.h"
#include "record/producer.h"
#include "spool/spool.h"

struct recorder_work {
    struct spool_writer *spool; /* the caller's */
    uint64_t records;           /* in the spool */
    uint64_t since;             /* ns: time of the last record about unwinding, initially the start of the recording */
    uint64_t unwinding, stacks; /* since the last record: ns of unwinding, and number of unwound stacks */
};

/* Stores a record if the recorder has worked on `name` for more than 1 ms since `start` (ns). */
int recorder_work_store(struct recorder_work *work, const char *name, uint64_t start, struct error *err);

/* Counts a stack whose unwinding took `time` ns. */
static inline void recorder_work_count_unwinding(struct recorder_work *work, uint64_t time)
{
    work->unwinding += time;
    work->stacks++;
}

struct producer recorder_work_as_producer(struct recorder_work *work);
