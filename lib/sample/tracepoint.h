/*
 * A tracepoint of the whole system as events of perf, one for each CPU: its records are perf samples with the fields of
 * the tracepoint behind them ("raw"). Where the kernel puts which field is said by tracefs (tracefs.h). The times of
 * records are where those of perf_events.h have theirs, so that one perf_merge reads the rings of both.
 *
 * Threads: any; nothing is shared.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tracepoint_record {
    uint64_t time;               /* ns, CLOCK_MONOTONIC */
    uint32_t pid, tid;           /* who came by it */
    const unsigned char *fields; /* in the record */
    size_t size;                 /* bytes */
};

/* Opens the event of tracepoint `id` on a CPU; `have_ids`: as the records of the rings that are read together with its
 * own. The reader is woken when a quarter of `ring_size` bytes is full. Returns its descriptor, or a negative errno. */
int tracepoint_open(uint64_t id, uint32_t cpu, bool have_ids, size_t ring_size);

/* False if it is another kind of record, or damaged. */
bool tracepoint_parse(struct tracepoint_record *record, const void *bytes, size_t size, bool have_ids);

/* A field `offset` bytes from the first; sets `failed` if there are not so many. */
uint8_t tracepoint_u8(const struct tracepoint_record *record, size_t offset, bool *failed);
uint32_t tracepoint_u32(const struct tracepoint_record *record, size_t offset, bool *failed);
