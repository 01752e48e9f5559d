/*
 * One perf ring: memory shared with the kernel, which writes records at the head. The recorder reads the records at the
 * tail. See perf_event_open(2), "MMAP layout".
 *
 * The recorder reads records in place, because a stack copy takes up to 64 KiB, and copying a stack would cost more
 * than walking it. The recorder copies only a record that wraps around the end of the ring.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/error.h"

enum { PERF_RING_RECORD_MAX = 65536 }; /* bytes of the longest record: its size field has 16 bits */

struct perf_ring {
    void *page;                /* struct perf_event_mmap_page, shared */
    const unsigned char *data; /* `size` bytes, a power of two, shared */
    uint64_t size;
    uint64_t tail;    /* bytes read since the start; modulo size: position in the ring */
    uint64_t damaged; /* damaged records, after which the rest of the ring was skipped */
};

/* Maps the ring of an event. `size` is in bytes, a power of two, at least a page. Returns -EPERM at the limit of
 * locked memory. */
int perf_ring_map(struct perf_ring *ring, int fd, size_t size, struct error *err);
void perf_ring_unmap(struct perf_ring *ring);

/* Returns the bytes that the kernel has written since the start. Readable: from `tail` up to this position. */
uint64_t perf_ring_read_head(const struct perf_ring *ring);

/* Type and size (header included) of the record at the tail, or false if no record lies before `head`. */
bool perf_ring_peek(struct perf_ring *ring, uint64_t head, uint32_t *type, size_t *size);

/* Returns type and size of the record at `position`, which is at or after the tail. Changes nothing. */
bool perf_ring_peek_at(const struct perf_ring *ring, uint64_t position, uint64_t head, uint32_t *type, size_t *size);

/* Copies `size` bytes from `position`. */
void perf_ring_copy(const struct perf_ring *ring, uint64_t position, unsigned char *out, size_t size);

/* Returns the 8 bytes at `offset` (a multiple of 8) of the record at the tail. */
uint64_t perf_ring_read_u64(const struct perf_ring *ring, size_t offset);

/* Returns the `size` bytes of the record at the tail: in place, or copied to `bounce` (PERF_RING_RECORD_MAX bytes) if
 * the record wraps around the end. */
const unsigned char *perf_ring_get_record(const struct perf_ring *ring, size_t size, unsigned char *bounce);

/* Releases the record of `size` bytes at the tail to the kernel. */
void perf_ring_skip(struct perf_ring *ring, size_t size);
