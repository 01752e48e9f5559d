/*
 * The sample buffer: chunks of LEB128 entries. chunk.c describes the byte layout and its size.
 *
 * No chunk refers to another chunk. So the reader can read each chunk, even if others are lost.
 *
 * Threads: a writer belongs to one thread, and so does a reader.
 */
#pragma once

#include "base/error.h"
#include "spool/records.h"

enum { CHUNK_SIZE = 64 * 1024 }; /* payload bytes of a full chunk */
/* Limit of frames in a stack, and of counters in a record. A deeper stack loses frames of its middle
 * (unwind_omitted). */
enum { CHUNK_MAX_FRAMES = 4096 };

/* ---- writing ---- */

struct chunk_writer; /* the chunk being filled, and each thread's last stack in this chunk */

struct chunk_writer *chunk_writer_new(void);
void chunk_writer_free(struct chunk_writer *writer);

/* Appends a record of a sample kind (at least SPOOL_SAMPLES); `record` is the struct of the kind. Returns false and
 * writes nothing if the chunk is full: save its bytes, call chunk_writer_reset(), and append again. An empty chunk has
 * room for any record, so a second failure means that memory ran out. */
bool chunk_writer_append(struct chunk_writer *writer, enum spool_record_kind kind, const void *record);

/* Returns the bytes of the chunk so far, valid until the next append or reset. Size 0: no samples. */
const unsigned char *chunk_writer_get_bytes(const struct chunk_writer *writer, size_t *size);

/* Empties the chunk. The cost grows with the number of threads in the chunk, not with the number of threads in the
 * recording. */
void chunk_writer_reset(struct chunk_writer *writer);

/* ---- reading ---- */

struct chunk_reader;

struct chunk_reader *chunk_reader_new(void);
void chunk_reader_free(struct chunk_reader *reader);

/* Starts to read a chunk, whose bytes must outlive the reading. */
void chunk_reader_start(struct chunk_reader *reader, const void *bytes, size_t size);

/* Returns 1 with the next record. Returns 0 at the end of the chunk, -EINVAL if the rest of the chunk is damaged. */
int chunk_reader_next(struct chunk_reader *reader, struct spool_record *record, struct error *err);
