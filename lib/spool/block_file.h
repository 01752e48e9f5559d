/*
 * Writes a spool file as blocks, and keeps blocks in memory while the disk is full. block_file.c describes the layout.
 *
 * - A full disk: up to BLOCK_FILE_QUEUE_MAX bytes of blocks are queued in memory. Beyond this limit, the recorder drops
 *   and counts the oldest samples. The recorder writes the queue when the disk has space again.
 * - A flight recorder keeps only the newest chunks of samples: a new chunk overwrites the oldest.
 * - A power failure: the recorder syncs the file to the disk (file_sync.h).
 *
 * Threads: the recorder thread.
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

/* The checksum in the header of a block. */
uint32_t compute_block_checksum(enum block_kind kind, const void *payload, size_t size);

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
    struct file_sync *sync; /* NULL: none is needed */
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

/* Creates the file (mode 0600, must not exist). keep_bytes, keep_ns: limits of a flight recorder, or 0 for no limit. */
int block_file_create(struct block_file *file, const char *path, uint64_t keep_bytes, uint64_t keep_ns,
                      struct error *err);

/* Append events or a chunk. On a full disk they queue the block and return 0. */
int block_file_add_events(struct block_file *file, const void *bytes, size_t size, struct error *err);
int block_file_add_chunk(struct block_file *file, const void *bytes, size_t size, const struct chunk_span *span,
                         struct error *err);

/* Whether the file keeps only the newest chunks. If so, the caller may add the whole chunk being filled again and
 * again, until block_file_end_chunk(). */
static inline bool block_file_is_flight_recorder(const struct block_file *file)
{
    return file->keep_bytes || file->keep_ns;
}
void block_file_end_chunk(struct block_file *file);

/* ---- compacting the events of a flight recorder ---- */

/* Whether the file has enough events to compact them. */
bool block_file_has_many_events(const struct block_file *file);

/* Returns the sequence of the oldest chunk in the file, and the time of its first sample. */
void block_file_find_oldest_chunk(const struct block_file *file, uint64_t *sequence, uint64_t *time);

/* Reads all events of the file. Returns false if they cannot be read. */
bool block_file_read_events(struct block_file *file, unsigned char **bytes, size_t *size);

/* Replaces the file with a new one that has these events and the chunks in slots. Keeps the old file if the disk is
 * full. */
int block_file_replace_events(struct block_file *file, const void *events, size_t size, struct error *err);

/* Tries to write the queued blocks. Call this function about every second. */
int block_file_write_queued(struct block_file *file, struct error *err);

static inline bool block_file_has_queued(const struct block_file *file)
{
    return file->first_queued < file->waiting.length;
}

/* Starts to sync the file to the disk, without waiting. Call this function about every second. Returns the error of an
 * earlier sync. */
int block_file_sync(struct block_file *file, struct error *err);

/* Drops the oldest queued samples that a file in memory cannot hold: the limit of file sizes applies to it, too. */
void block_file_limit_queued(struct block_file *file);

/* Moves the queued blocks to a spool file in memory. Returns its descriptor, or a negative errno value. */
int block_file_move_queued(struct block_file *file, struct error *err);

/* Closes the file, frees the queued blocks, and releases the reserved disk space. Zeroes the struct. */
int block_file_close(struct block_file *file, struct error *err);
