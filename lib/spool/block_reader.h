/*
 * Reads the blocks of a spool file (block_file.c) in order: events before the chunks that refer to them, chunks by
 * their age, also those of a flight recorder, which are anywhere in its file.
 *
 * Where the bytes make no sense, the reader looks for the next whole block and goes on there. This takes time in
 * proportion to the bytes of the file, whatever they are.
 *
 * Threads: a reader belongs to one thread. The file may grow meanwhile.
 */
#pragma once

#include "base/error.h"
#include "spool/block_file.h"

#include <stddef.h>
#include <stdint.h>

struct block_reader;

/* -EINVAL if the file is not a spool. */
int block_reader_open(struct block_reader **out, const char *path, struct error *err);
void block_reader_close(struct block_reader *reader);

/* Has the blocks of another spool file follow the last one of this. */
int block_reader_append(struct block_reader *reader, const char *path, struct error *err);

/* The next whole block: 1 with its kind, BLOCK_EVENTS or BLOCK_SAMPLES, and payload, valid until the next call. 0 at
 * the end, also where no whole block follows; once the file has grown, it can be read on. A negative errno value if it
 * cannot be read. Skips damaged parts and counts them. */
int block_reader_next(struct block_reader *reader, enum block_kind *kind, const unsigned char **payload, size_t *size,
                      struct error *err);

/* The number of the chunk that was given out last: chunks count up, and one of a flight recorder keeps its number while
 * it is filled. */
uint64_t block_reader_chunk(const struct block_reader *reader);

/* Parts of the file skipped so far; one that begins with a damaged header may be several blocks. */
uint64_t block_reader_damaged(const struct block_reader *reader);
uint64_t block_reader_damaged_bytes(const struct block_reader *reader); /* bytes of these */
uint64_t block_reader_bytes(const struct block_reader *reader);         /* of what was read or skipped so far */
uint64_t block_reader_rest(const struct block_reader *reader);          /* behind the last block read */
bool block_reader_keeps_last(const struct block_reader *reader);        /* known after the first block */
