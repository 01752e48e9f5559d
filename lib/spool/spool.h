/*
 * The spool file of a recording: chunks of samples, and between them the events that samples refer to (processes,
 * threads, libraries, mappings), in one append-only file. See spool.c for the byte layout.
 *
 * An event is always in the file before the first chunk that refers to it. A spool whose writer was killed reads up to
 * the last whole block. So does one that a power cut ended, as far as the disk held it (file_sync.h).
 *
 * Threads: a writer belongs to one thread, and so does a reader. Both may use one file at the same time.
 */
#pragma once

#include "base/error.h"
#include "spool/chunk.h"
#include "spool/records.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- writing ---- */

struct spool_writer;

/* Creates `path` (mode 0600, must not exist). */
int spool_writer_new(struct spool_writer **out, const char *path, struct error *err);

/* The bounds of a flight recorder, which keeps only the newest samples: bytes of them in the file, ns before the newest
 * one. 0: no bound. Bytes are at least those of four chunks. */
struct spool_bounds {
    uint64_t bytes, ns;
};

int spool_writer_new_bounded(struct spool_writer **out, const char *path, const struct spool_bounds *bounds,
                             struct error *err);

/* Appends a record; `record`: the struct of the kind. What a full disk does not take waits in memory (block_file.h):
 * see spool_writer_is_waiting(). After any other failure, the file ends with its last whole block. */
int spool_writer_append(struct spool_writer *writer, enum spool_record_kind kind, const void *record,
                        struct error *err);

/* spool_write_process(), spool_write_wait() and so on: the same for a struct of one kind. */
#define EVENT(ID, name, ...)                                                                                           \
    static inline int spool_write_##name(struct spool_writer *writer, const struct spool_##name *record,               \
                                         struct error *err)                                                            \
    {                                                                                                                  \
        return spool_writer_append(writer, SPOOL_##ID, record, err);                                                   \
    }
#define SAMPLE EVENT
#include "spool/record_kinds.h"

/* Writes what is buffered, and has the disk hold it a moment later. Call it about every second: it bounds what is lost
 * when the recorder is killed, or the power is cut. */
int spool_writer_flush(struct spool_writer *writer, struct error *err);

uint64_t spool_writer_sync_cpu_time(const struct spool_writer *writer); /* ns that the latter has taken */
uint64_t spool_writer_size(const struct spool_writer *writer); /* bytes of the file, and of what waits for room */

/* Whether the disk is full, and what could not be written is in memory. */
bool spool_writer_is_waiting(const struct spool_writer *writer);

/* Writes what is buffered, and what still has no room to a file in memory, for spool_reader_append(): *fd, the
 * caller's; -1 if all is in the file. */
int spool_writer_take_rest(struct spool_writer *writer, int *fd, struct error *err);

/* Flushes, closes the file and frees the writer, also after a failure. The file stays. Accepts NULL. -ENOSPC if
 * something has no room. */
int spool_writer_close(struct spool_writer *writer, struct error *err);

/* ---- reading ---- */

struct spool_reader;

int spool_reader_open(struct spool_reader **out, const char *path, struct error *err);
void spool_reader_close(struct spool_reader *reader);

/* Has another spool file, of spool_writer_take_rest(), follow the end of this. */
int spool_reader_append(struct spool_reader *reader, const char *path, struct error *err);

/* Between two samples of a recording: so many of the chunk with that number are before it. All samples that a recorder
 * writes later are behind all that are there, so places divide a recording that goes on into parts. */
struct spool_place {
    uint64_t chunk, samples;
};

/* Has the reader pass over the samples before `place`, which it does not decode if their whole chunk is before it.
 * Events are read all the same. Call it before the first read. */
void spool_reader_skip(struct spool_reader *reader, struct spool_place place);

/* The place behind the last sample that was read, or where the reader began. */
struct spool_place spool_reader_place(const struct spool_reader *reader);

/* Chunks that a flight recorder has dropped between the place where the reader began and the first one that it read. */
uint64_t spool_reader_missed(const struct spool_reader *reader);

/* Reads the next record, in file order: 1. Returns 0 at the end, or a negative errno value. A truncated block at the
 * end of the file is the end, and can be read once the file has grown by its rest. What is damaged in the middle is
 * skipped and counted, up to the next whole block. */
int spool_reader_read(struct spool_reader *reader, struct spool_record *record, struct error *err);

uint64_t spool_reader_damaged(const struct spool_reader *reader);       /* parts of the file skipped so far, */
uint64_t spool_reader_damaged_bytes(const struct spool_reader *reader); /* and the bytes of these */
uint64_t spool_reader_bytes(const struct spool_reader *reader);         /* of what was read or skipped so far */
uint64_t spool_reader_rest(const struct spool_reader *reader);          /* bytes of the file behind those */

/* Whether the recording keeps only its newest samples (struct spool_bounds). Known after the first item. */
bool spool_reader_keeps_last(const struct spool_reader *reader);

/* Whether it is a regular file that begins as spool files do, also those of other versions of prof, which the reader
 * refuses with a sentence. False if it cannot be read. */
bool spool_is_spool(const char *path);

/* Whether a recorder on this machine writes the file now. False where the file system has no locks. */
bool spool_is_being_written(const char *path);

enum { SPOOL_EVENT_MIN = 6 }; /* bytes of the shortest event that gives a number to something */
