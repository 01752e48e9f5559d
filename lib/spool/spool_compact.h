/*
 * Drops the events of a flight recorder that its samples no longer need: events of ended threads and processes without
 * a sample in the file, and events before the oldest sample. Keeps the events that define libraries, objects, names of
 * marks, and Python functions.
 *
 * Threads: one at a time.
 */
#pragma once

#include "base/hash.h"
#include "spool/record_code.h"

/* The threads and processes to which the samples in the file refer. */
struct spool_uses {
    struct hash threads, processes; /* number -> the last chunk that refers to it: the low 32 bits of its sequence */
    uint64_t oldest_chunk;          /* sequence of the oldest chunk in the file */
    uint64_t oldest_time;           /* ns: time of its first sample */
};

/* Appends the kept events among the `size` bytes to `out`, and removes the uses of dropped threads and processes.
 * Returns false if memory ran out or the bytes are damaged. */
bool spool_compact(const unsigned char *bytes, size_t size, struct spool_uses *uses, struct spool_bytes *out);
