/*
 * The sample buffer: chunks of LEB128 entries. chunk.c describes the byte layout and its size.
 *
 * No chunk refers to another chunk. So the reader can read each chunk, whichever others are lost.
 *
 * Threads: a writer belongs to one thread, and so does a reader.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CHUNK_SIZE = 64 * 1024 };  /* payload bytes of a full chunk */
enum { CHUNK_MAX_FRAMES = 4096 }; /* of one stack; a deeper stack loses frames of its middle (unwind_omitted) */

enum sample_flags {
    SAMPLE_TRUNCATED = 1,      /* the stack does not reach the thread's start */
    SAMPLE_WITHOUT_CFI = 2,    /* some frame was found without CFI */
    SAMPLE_COMPLETED_LIVE = 4, /* some frame was read from the live process */
    SAMPLE_WAIT_GOES_ON = 8,   /* a wait: the next part of the thread's previous one */
    SAMPLE_COUNTERS = 16,      /* no sample, but values that were counted (counter_reading.h) */
    SAMPLE_COUNTERS_BASE = 32, /* and later ones count from these on */
};

/* One sample, as the recorder writes it and the reader returns it: of a thread that ran at `time`, or of a wait that
 * ended then. */
struct sample {
    uint32_t thread; /* the recorder's number for the thread (spool.h) */
    uint32_t cpu;
    uint64_t time;     /* ns, CLOCK_MONOTONIC */
    uint64_t cpu_time; /* ns of CPU since this thread's previous sample; of a wait: up to its beginning */
    uint64_t wait;     /* ns that the thread waited up to `time`; 0: it ran */
    uint32_t reason;   /* of a wait: enum wait_reason */
    uint32_t object;   /* of a wait: the number of what it waited for (SPOOL_OBJECT); 0 unknown */
    uint32_t waker;    /* of a wait: the number of what ended it (SPOOL_OBJECT); 0 unknown */
    uint32_t flags;    /* enum sample_flags */
    uint32_t event;    /* number of the event that was sampled (event_list.h), from 1 on; 0: the clock of CPU time */
    uint64_t period;   /* of an event: how many of them the sample stands for; its cpu_time is 0 */
    uint32_t frame_count;
    uint32_t kernel_frame_count; /* how many frames, the first of `frames`, are kernel addresses */
    const uint64_t *frames; /* leaf first; pcs as unwind_walk() gives them. From the reader: valid until the next */
};

/* ---- writing ---- */

struct chunk_writer; /* the chunk being filled, and each thread's last stack in it */

struct chunk_writer *chunk_writer_new(void);
void chunk_writer_free(struct chunk_writer *writer);

/* Appends a sample. Returns false and writes nothing if the chunk is full: save its bytes, call chunk_writer_reset(),
 * and append again. An empty chunk has room for any sample, so a second failure means that memory ran out. */
bool chunk_writer_append(struct chunk_writer *writer, const struct sample *sample);

/* Returns the bytes of the chunk so far, valid until the next append or reset. Size 0: there are no samples. */
const unsigned char *chunk_writer_bytes(const struct chunk_writer *writer, size_t *size);

/* Empties the chunk. Its cost grows with the threads of that chunk, not with those of the recording. */
void chunk_writer_reset(struct chunk_writer *writer);

/* ---- reading ---- */

struct chunk_reader;

struct chunk_reader *chunk_reader_new(void);
void chunk_reader_free(struct chunk_reader *reader);

/* Starts to read a chunk, whose bytes must outlive the reading. */
void chunk_reader_start(struct chunk_reader *reader, const void *bytes, size_t size);

/* Reads the next sample: 1. Returns 0 at the end of the chunk, -EINVAL if the bytes are damaged from here on. */
int chunk_reader_next(struct chunk_reader *reader, struct sample *sample, struct error *err);
