/*
 * One perf ring: memory shared with the kernel, which writes records at the head while we read them at the tail. See
 * perf_event_open(2), "MMAP layout".
 *
 * A ring hands out whole records in place. Only the rare one that wraps around the end is put together elsewhere: a
 * stack copy is up to 64 KiB, and copying each would cost more than walking it.
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#ifndef PROF_SAMPLE_PERF_RING_H
#define PROF_SAMPLE_PERF_RING_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PERF_RING_RECORD_MAX = 65536 }; /* bytes of the longest record: its size field has 16 bits */

struct perf_ring {
    void *page;                /* struct perf_event_mmap_page, shared */
    const unsigned char *data; /* `size` bytes, a power of two, shared */
    uint64_t size;
    uint64_t tail;    /* bytes read since the beginning; position in the ring: modulo size */
    uint64_t damaged; /* times that the rest of the ring had to be thrown away because a record made no sense */
};

/* Maps the ring of `size` bytes (a power of two, at least a page) of an event. Errors: -EPERM means that the limit of
 * locked memory is reached. */
int perf_ring_map(struct perf_ring *ring, int fd, size_t size, struct error *err);
void perf_ring_unmap(struct perf_ring *ring);

/* How far the kernel has written: bytes since the beginning. What lies between `tail` and it may be read. */
uint64_t perf_ring_head(const struct perf_ring *ring);

/* Type and size (header included) of the record at the tail; false if there is none before `head`. */
bool perf_ring_peek(struct perf_ring *ring, uint64_t head, uint32_t *type, size_t *size);

/* The 8 bytes at `offset` (a multiple of 8) of the record at the tail. */
uint64_t perf_ring_u64(const struct perf_ring *ring, size_t offset);

/* The `size` bytes of the record at the tail: in place, or in `bounce` (PERF_RING_RECORD_MAX bytes) if they wrap
 * around. */
const unsigned char *perf_ring_record(const struct perf_ring *ring, size_t size, unsigned char *bounce);

/* Gives the record of `size` bytes at the tail back to the kernel. */
void perf_ring_skip(struct perf_ring *ring, size_t size);

#endif
