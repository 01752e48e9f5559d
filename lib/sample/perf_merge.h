/*
 * Reads several rings as one stream in which causes come before their effects: each mapping, fork or exec record comes
 * before every sample that depends on it, also when the CPUs differ.
 *
 * Each ring by itself is nearly in order, and each record carries its time. Merging by time alone is not enough: while
 * we read one ring, the kernel writes to all of them. A visible sample may depend on a record that its ring got just
 * after we read it. So each round reads the heads of all rings twice:
 *
 * - When the kernel wrote a record of the first reading, the records that it depends on were complete. So the second
 * reading has them.
 * - The round hands out records by time until every ring has reached its first head. It hands out a record beyond a
 * first head only if a later record lies before some first head. So the second reading has its dependencies, too.
 *
 * The next round reads the rest.
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#pragma once

#include "base/error.h"
#include "sample/perf_record.h"
#include "sample/perf_ring.h"

struct perf_merge;

/* Creates a merge of `count` rings, which must not move, and must outlive it. */
struct perf_merge *perf_merge_new(const struct perf_layout *layout, struct perf_ring *const *rings, size_t count);
void perf_merge_free(struct perf_merge *merge);

/* Starts a round. False if all rings are empty. */
bool perf_merge_begin(struct perf_merge *merge);

/*
 * Whether a thread stands still since its sample of `time` (ns), which is the record at hand or one that follows: it
 * left its CPU until `latest`, and has not come to one before this call, as far as the rings tell. The kernel writes
 * the record of a switch before the thread that comes to the CPU executes anything. Needs SWITCH records.
 */
bool perf_merge_stands_still(const struct perf_merge *merge, uint32_t tid, uint64_t time, uint64_t latest);

struct perf_merge_record {
    const unsigned char *bytes; /* valid until the next call on the merge */
    size_t size;
    size_t ring; /* index of the ring that it came from */
};

/* The next record of the round; false at its end. Returns the record before it to the kernel. */
bool perf_merge_next(struct perf_merge *merge, struct perf_merge_record *record);
