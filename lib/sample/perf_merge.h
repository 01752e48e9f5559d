/*
 * Reads several rings as one stream in which causes come before their effects: a mapping, fork or exec before every
 * sample that needs it, whichever CPUs they happened on.
 *
 * Each ring is in order by itself (nearly), and records carry their time. But merging by time is not enough: while one
 * ring is being read, the kernel goes on writing to all, and a sample that is visible already may depend on a record in
 * a ring that was read up a moment too early. So a round reads all heads, and then all heads again:
 *
 * - what a record of the first reading depends on was complete when that record was written, so the second reading has
 * it;
 * - records are handed out by time until every ring has reached its first head. A record beyond its first head is
 * handed out only if a later one lies before some first head, so what it depends on is in the second reading too.
 *
 * What remains waits for the next round.
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#ifndef PROF_SAMPLE_PERF_MERGE_H
#define PROF_SAMPLE_PERF_MERGE_H

#include "base/error.h"
#include "sample/perf_record.h"
#include "sample/perf_ring.h"

struct perf_merge;

/* A merge over `count` rings, which must stay where they are and outlive it. */
struct perf_merge *perf_merge_new(const struct perf_layout *layout, struct perf_ring *const *rings, size_t count,
                                  struct error *err);
void perf_merge_free(struct perf_merge *merge);

/* Starts a round. False if no ring has anything to read. */
bool perf_merge_begin(struct perf_merge *merge);

struct perf_merge_record {
    const unsigned char *bytes; /* valid until the next call on the merge */
    size_t size;
    size_t ring; /* which of the rings it came from */
};

/* The next record of the round; false at its end. Gives the record before it back to the kernel. */
bool perf_merge_next(struct perf_merge *merge, struct perf_merge_record *record);

#endif
