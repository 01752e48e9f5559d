/*
 * The kinds of blocks of a spool file, and the state of its writer, which block_file.c, block_append.c and
 * block_slots.c share. block_file.c describes the layout.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "spool/chunk.h"

/* The last character is the version, BLOCK_FILE_VERSION. */
#define BLOCK_FILE_MAGIC "PROFSPL6"
enum {
    BLOCK_FILE_VERSION = 6,
    BLOCK_FILE_MAGIC_SIZE = 8,
    BLOCK_FILE_MAGIC_NAME = 7,           /* the prefix common to all versions */
    BLOCK_HEADER = 9,                    /* kind, length, checksum */
    BLOCK_MAX = 64 * 1024 * 1024,        /* bytes of a payload */
    BLOCK_FILE_QUEUE_MAX = 64 << 20,     /* limit of queued bytes in memory while the disk is full */
    SLOT_HEADER = 28,                    /* sequence, version, end of the chunk's events, size of the chunk */
    SLOT_SIZE = SLOT_HEADER + CHUNK_SIZE /* payload of a slot */
};

/* Kinds of blocks. */
enum block_kind {
    BLOCK_EVENTS = 'E',
    BLOCK_SAMPLES = 'S',         /* a chunk */
    BLOCK_FLIGHT_RECORDER = 'K', /* the first block of a flight recorder: chunks are in slots */
    BLOCK_SLOT = 'R',            /* a chunk that a newer chunk may replace */
    BLOCK_FREE_SLOT = 'F'
};

/* The number and times of a chunk's samples: also of waits, slices and events. */
struct chunk_span {
    uint64_t samples, cpu_samples;
    uint64_t first, last; /* ns */
};

struct queued_block {
    enum block_kind kind;
    unsigned char *payload;
    size_t size;
    struct chunk_span span;
};

struct block_slot {
    uint64_t offset;
    uint64_t sequence; /* sequence number of the chunk */
    bool used;
    struct chunk_span span;
};

struct file_sync;

struct block_file {
    int fd;
    struct file_sync *sync; /* NULL if none is needed */
    char *path;
    uint64_t bytes;    /* bytes of the file up to the end of the last whole block */
    uint64_t samples;  /* number of samples in the file */
    uint64_t reserved; /* bytes of disk space allocated to the file, including those behind its end */

    ARRAY(struct queued_block) waiting;
    size_t first_queued;
    size_t queued_bytes;
    struct chunk_span dropped; /* dropped samples that no LOST event reports yet */

    uint64_t keep_bytes, keep_ns; /* limits of a flight recorder; both 0: keeps all samples */
    ARRAY(struct block_slot) slots;
    size_t newest;     /* slot of the chunk being filled, or SIZE_MAX for none */
    size_t superseded; /* slot of this chunk's previous version until the disk has the newest, or SIZE_MAX for none */
    uint64_t sequence, version;
    uint64_t events_end;               /* end of the last block of events */
    uint64_t event_bytes, many_events; /* bytes in blocks of events, and limit of these bytes, beyond which a
                                        * compaction starts */
};

/* Whether the file keeps only the newest chunks (block_slots.h). */
static inline bool block_file_is_flight_recorder(const struct block_file *file)
{
    return file->keep_bytes || file->keep_ns;
}

static inline bool block_file_has_queued(const struct block_file *file)
{
    return file->first_queued < file->waiting.length;
}
