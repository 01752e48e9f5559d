/*
 * Drops what a flight recorder does not need any more of the events in its file: of threads and processes that have
 * ended and that no sample in the file refers to, and of moments before the oldest of these samples. What numbers are
 * defined for good (libraries, objects, names of marks, functions of Python) stays.
 *
 * Threads: one at a time.
 */
#pragma once

#include "base/hash.h"
#include "spool/record_code.h"

/* What the samples in the file refer to. */
struct spool_uses {
    struct hash threads, processes; /* number -> the last chunk that refers to it: the low 32 bits of its sequence */
    uint64_t oldest_chunk;          /* sequence of the oldest chunk in the file */
    uint64_t oldest_time;           /* ns: of its first sample */
};

/* Appends those of the `size` bytes of events that stay to `out`, and forgets the uses of the others. Returns false if
 * memory ran out or the bytes are damaged. */
bool spool_compact(const unsigned char *bytes, size_t size, struct spool_uses *uses, struct spool_bytes *out);
