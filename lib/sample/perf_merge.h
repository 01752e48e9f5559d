/*
 * Reads several rings as one stream in causal order: each mapping, fork or exec record comes before every sample that
 * depends on it, even from another CPU.
 *
 * Each ring is nearly in order, and each record has a time. Merging by time is not enough: while the recorder reads one
 * ring, the kernel writes to all rings. A visible sample may depend on a record that another ring got just after the
 * recorder read it. So each round reads the heads of all rings twice:
 *
 * - When the kernel wrote a record of the first reading, the records on which it depends were complete. So the second
 *   reading has these records.
 * - The round returns records by time until every ring has reached its first head. The round returns a record beyond a
 *   first head only if a later record lies before some first head. So the second reading also has the dependencies of
 *   this record.
 *
 * The next round reads the rest.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/error.h"
#include "sample/perf_record.h"
#include "sample/perf_ring.h"

struct perf_merge;

/* Creates a merge of `count` rings, which must not move, and must outlive the merge. */
struct perf_merge *perf_merge_new(const struct perf_layout *layout, struct perf_ring *const *rings, size_t count);
void perf_merge_free(struct perf_merge *merge);

/* Starts a round. False if all rings are empty. */
bool perf_merge_begin(struct perf_merge *merge);

/*
 * Whether a thread has not run since its sample at `time` (ns), which is the current record or a later record: the
 * rings show that the thread left its CPU by `latest` (ns) and has not run since. The kernel writes a SWITCH record
 * before the new thread executes anything. Needs SWITCH records.
 */
bool perf_merge_has_not_run_since(const struct perf_merge *merge, uint32_t tid, uint64_t time, uint64_t latest);

struct perf_merge_record {
    const unsigned char *bytes; /* valid until the next call on the merge */
    size_t size;
    size_t ring; /* index of the record's ring */
};

/* Reads the next record of the round, or false at the end. Releases the previous record to the kernel. */
bool perf_merge_next(struct perf_merge *merge, struct perf_merge_record *record);
