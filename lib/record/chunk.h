/*
 * The sample buffer: chunks of LEB128 entries. See chunk.c for the byte layout and what it costs.
 *
 * A chunk is self-contained: it never refers to another chunk, so the oldest can be dropped or the newest lost and
 * every other still reads.
 */
#ifndef PROF_RECORD_CHUNK_H
#define PROF_RECORD_CHUNK_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CHUNK_SIZE = 64 * 1024 };  /* payload bytes of a full chunk */
enum { CHUNK_MAX_FRAMES = 4096 }; /* of one stack; deeper ones are cut at the root side and marked */

enum sample_flags {
    SAMPLE_TRUNCATED = 1,      /* the stack does not reach the thread's start */
    SAMPLE_WITHOUT_CFI = 2,    /* some frame was found without CFI */
    SAMPLE_COMPLETED_LIVE = 4, /* some frame was read from the living process */
};

/* One sample, as the recorder hands it over and the reader gives it back. */
struct sample {
    uint32_t thread; /* the recorder's number for the thread (spool.h) */
    uint32_t cpu;
    uint64_t time;     /* ns, CLOCK_MONOTONIC */
    uint64_t cpu_time; /* ns of CPU since this thread's previous sample */
    uint32_t flags;    /* enum sample_flags */
    uint32_t frame_count;
    uint32_t kernel_frame_count; /* the first so many of `frames` are kernel addresses */
    const uint64_t *frames; /* leaf first; pcs as unwind_walk() gives them. From the reader: valid until the next */
};

/* ---- writing ---- */

struct chunk_writer; /* the chunk being filled, and each thread's last stack in it */

struct chunk_writer *chunk_writer_new(void);
void chunk_writer_free(struct chunk_writer *writer);

/* Appends a sample; false when the chunk is full (nothing was written): take the bytes, chunk_writer_reset(), call
 * again. A reset chunk takes any sample. */
bool chunk_writer_append(struct chunk_writer *writer, const struct sample *sample);

/* The chunk as it stands: valid until the next append or reset. Size 0: no samples. */
const unsigned char *chunk_writer_bytes(const struct chunk_writer *writer, size_t *size);

/* Starts an empty chunk. Costs what the threads of the last chunk cost, not those of the recording. */
void chunk_writer_reset(struct chunk_writer *writer);

/* ---- reading ---- */

struct chunk_reader;

struct chunk_reader *chunk_reader_new(void);
void chunk_reader_free(struct chunk_reader *reader);

/* Starts on the bytes of one chunk, which must outlive the reading. */
void chunk_reader_start(struct chunk_reader *reader, const void *bytes, size_t size);

/* The next sample: 1, or 0 at the end of the chunk, or -EINVAL if the bytes are damaged (what came before is good). */
int chunk_reader_next(struct chunk_reader *reader, struct sample *sample, struct error *err);

#endif
