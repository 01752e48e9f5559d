/*
 * The file of a spool as blocks, and what becomes of them when there is no room. See block_file.c for the layout.
 *
 * - A full disk: what has no room waits in memory, up to BLOCK_FILE_WAITING bytes. The oldest samples are dropped then,
 *   and counted. What waits is written when there is room again.
 * - A flight recorder keeps only the newest chunks of samples: it writes a new one over the oldest.
 * - A power cut: the disk is asked to hold what is in the file (file_sync.h).
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "spool/chunk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The last character is the version, BLOCK_FILE_VERSION. */
#define BLOCK_FILE_MAGIC "PROFSPL3"
enum {
    BLOCK_FILE_VERSION = 3,
    BLOCK_FILE_MAGIC_SIZE = 8,
    BLOCK_FILE_MAGIC_NAME = 7,           /* what all versions begin with */
    BLOCK_HEADER = 9,                    /* kind, length, checksum */
    BLOCK_MAX = 64 * 1024 * 1024,        /* bytes of a payload */
    BLOCK_FILE_WAITING = 64 << 20,       /* bytes in memory while the disk is full */
    SLOT_HEADER = 28,                    /* sequence, version, end of its events, size of the chunk */
    SLOT_SIZE = SLOT_HEADER + CHUNK_SIZE /* payload of a slot */
};

/* Kinds of blocks. */
enum block_kind {
    BLOCK_EVENTS = 'E',
    BLOCK_SAMPLES = 'S',    /* a chunk */
    BLOCK_KEEPS_LAST = 'K', /* the first one of a flight recorder, whose chunks are in slots */
    BLOCK_SLOT = 'R',       /* a chunk that a newer one may replace */
    BLOCK_FREE_SLOT = 'F'
};

/* The checksum in the header of a block. */
uint32_t block_checksum(enum block_kind kind, const void *payload, size_t size);

/* What a chunk holds. */
struct chunk_span {
    uint64_t samples;
    uint64_t first, last; /* ns */
};

struct waiting_block {
    enum block_kind kind;
    unsigned char *payload;
    size_t size;
    struct chunk_span span;
};

struct block_slot {
    uint64_t offset;
    uint64_t sequence; /* of its chunk */
    bool used;
    struct chunk_span span;
};

struct file_sync;

struct block_file {
    int fd;
    struct file_sync *sync; /* NULL: none is needed */
    char *path;
    uint64_t bytes;    /* up to the last whole block */
    uint64_t samples;  /* in the file */
    uint64_t reserved; /* bytes of the disk that are the file's, those behind its end included */

    ARRAY(struct waiting_block) waiting;
    size_t first_waiting;
    size_t waiting_bytes;
    struct chunk_span dropped; /* samples that were dropped since they were asked for */

    uint64_t keep_bytes, keep_ns; /* of a flight recorder; both 0: keeps all */
    ARRAY(struct block_slot) slots;
    size_t newest;     /* slot of the chunk that is still being filled; SIZE_MAX: none */
    size_t superseded; /* slot of the version before, which stays until the disk holds the newest; SIZE_MAX: none */
    uint64_t sequence, version;
    uint64_t events_end;               /* offset behind the last block of events */
    uint64_t event_bytes, many_events; /* in blocks of events; as many are to be compacted */
};

/* Creates the file (mode 0600, must not exist). keep_bytes, keep_ns: for a flight recorder, see above. */
int block_file_create(struct block_file *file, const char *path, uint64_t keep_bytes, uint64_t keep_ns,
                      struct error *err);

/* Append events; add a chunk. A full disk is no error. */
int block_file_add_events(struct block_file *file, const void *bytes, size_t size, struct error *err);
int block_file_add_chunk(struct block_file *file, const void *bytes, size_t size, const struct chunk_span *span,
                         struct error *err);

/* Whether chunks are replaced: then one that is being filled may be added again and again, each time with all that it
 * has, until block_file_end_chunk(). */
static inline bool block_file_keeps_last(const struct block_file *file)
{
    return file->keep_bytes || file->keep_ns;
}
void block_file_end_chunk(struct block_file *file);

/* ---- events of a flight recorder, which would grow as long as it records ---- */

/* Whether the file has enough events to compact them. */
bool block_file_has_many_events(const struct block_file *file);

/* Finds the oldest chunk in the file: its sequence, and the time of its first sample. */
void block_file_oldest(const struct block_file *file, uint64_t *sequence, uint64_t *time);

/* Reads all events of the file. Returns false if they cannot be read. */
bool block_file_read_events(struct block_file *file, unsigned char **bytes, size_t *size);

/* Writes a new file with these events and the chunks in slots, and has it take the place of the old one. The old one
 * stays if there is no room. */
int block_file_replace_events(struct block_file *file, const void *events, size_t size, struct error *err);

/* Tries to write what waits. Call it about every second. */
int block_file_write_waiting(struct block_file *file, struct error *err);

static inline bool block_file_is_waiting(const struct block_file *file)
{
    return file->first_waiting < file->waiting.length;
}

/* Has the disk hold, in a moment, what is in the file now; does not wait for it. Call it about every second. Fails
 * where an earlier call turns out to have failed. */
int block_file_sync(struct block_file *file, struct error *err);

uint64_t block_file_sync_cpu_time(const struct block_file *file); /* ns that this has taken */

/* Moves what waits to a file in memory that reads like a spool. Returns its descriptor, or a negative errno value. */
int block_file_move_waiting(struct block_file *file, struct error *err);

/* Closes the file and frees what waits; gives back what was reserved. Zeroes the struct. */
int block_file_close(struct block_file *file, struct error *err);
