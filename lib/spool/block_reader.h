/*
 * Reads the blocks of a spool file (block_file.c) in order: events before the chunks that refer to them, and chunks by
 * age, although a flight recorder stores them in any order.
 *
 * The reader skips damaged bytes up to the next whole block. Reading takes time linear in the size of the file, even
 * for hostile contents.
 *
 * Threads: a reader belongs to one thread. The file may grow while it is read.
 */
#pragma once

#include "base/error.h"
#include "spool/block_file_state.h"

struct block_reader;

/* -EINVAL if the file is not a spool. */
int block_reader_open(struct block_reader **out, const char *path, struct error *err);
void block_reader_close(struct block_reader *reader);

/* Appends another spool file: its blocks follow the last block of this one. */
int block_reader_append(struct block_reader *reader, const char *path, struct error *err);

/* Reads the next whole block: 1 with its kind, BLOCK_EVENTS or BLOCK_SAMPLES, and its payload, valid until the next
 * call. 0 if no whole block follows; a later call continues once the file has grown. A negative errno value if the file
 * cannot be read. Skips and counts damaged parts. */
int block_reader_next(struct block_reader *reader, enum block_kind *kind, const unsigned char **payload, size_t *size,
                      struct error *err);

struct block_reader_progress {
    uint64_t chunk; /* number of the last chunk. All versions of a flight recorder's chunk have the same number */
    uint64_t damaged_parts;  /* skipped parts. A part that begins with a damaged header may contain several blocks */
    uint64_t damaged_bytes;  /* bytes of the skipped parts */
    uint64_t bytes;          /* bytes read or skipped */
    bool is_flight_recorder; /* known after the first block */
};

const struct block_reader_progress *block_reader_get_progress(const struct block_reader *reader);

uint64_t block_reader_count_bytes_left(const struct block_reader *reader); /* bytes after the last whole block */
