/*
 * A tracepoint of the whole system as perf events, one per CPU. The records of a tracepoint are perf samples followed
 * by the fields of the tracepoint ("raw"), whose offsets tracefs.h finds. Records of tracepoints have their time at the
 * same offset as the records of perf_events.h, so that one perf_merge reads both.
 *
 * Threads: any; nothing is shared.
 */
#pragma once

#include "base/standard.h"

struct tracepoint_record {
    uint64_t time;               /* ns, CLOCK_MONOTONIC */
    uint32_t pid, tid;           /* the thread that hit the tracepoint */
    const unsigned char *fields; /* fields in the record */
    size_t size;                 /* bytes */
};

/* Returns the fields of a record. `have_ids`: the records of the other rings in the merge have ids. `has_stack`: the
 * record has the user registers and a copy of the user stack, too. */
uint64_t tracepoint_get_sample_type(bool have_ids, bool has_stack);

/* Opens the event of tracepoint `id` on a CPU. The kernel wakes the reader when a quarter of `ring_size` bytes is full.
 * `stack_size`: bytes of the copies of stacks, 0 for none. Returns a descriptor, or a negative errno value. */
int tracepoint_open(uint64_t id, uint32_t cpu, bool have_ids, size_t ring_size, uint32_t stack_size);

/* False if the record has another type, or is damaged. */
bool tracepoint_parse(struct tracepoint_record *record, const void *bytes, size_t size, bool have_ids);

/* Reads a field of the tracepoint. `offset`: bytes from the first field. Sets *failed if the record is too short. */
uint8_t tracepoint_read_u8(const struct tracepoint_record *record, size_t offset, bool *failed);
uint32_t tracepoint_read_u32(const struct tracepoint_record *record, size_t offset, bool *failed);
