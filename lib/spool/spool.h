/*
 * The spool file of a recording: chunks of samples, and between them the events that samples refer to (processes,
 * threads, libraries, mappings), in one append-only file. See spool.c for the byte layout.
 *
 * An event precedes the first chunk that refers to it. After a kill of the writer or a power failure, the spool is
 * readable up to the last whole block on the disk (file_sync.h).
 *
 * Threads: a writer belongs to one thread, and so does a reader. A writer and a reader may use one file at the same
 * time.
 */
#pragma once

#include "base/error.h"
#include "spool/chunk.h"
#include "spool/records.h"

/* ---- writing ---- */

struct spool_writer;

/* Creates `path` (mode 0600, must not exist). */
int spool_writer_new(struct spool_writer **out, const char *path, struct error *err);

/* The limits of a flight recorder, which keeps only the newest samples: bytes of the file, and ns before the newest
 * sample. 0: no limit. The file has at least four chunks, and at least a quarter of `bytes` are chunks. */
struct spool_bounds {
    uint64_t bytes, ns;
};

int spool_writer_new_bounded(struct spool_writer **out, const char *path, const struct spool_bounds *bounds,
                             struct error *err);

/* Appends a record; `record`: the struct of the kind. While the disk is full, records are queued in memory
 * (block_file.h): see spool_writer_has_queued(). After any other failure, the file ends with its last whole block. */
int spool_writer_append(struct spool_writer *writer, enum spool_record_kind kind, const void *record,
                        struct error *err);

/* spool_write_process(), spool_write_wait() and so on: append the struct of one kind. */
#define EVENT(ID, name, ...)                                                                                           \
    static inline int spool_write_##name(struct spool_writer *writer, const struct spool_##name *record,               \
                                         struct error *err)                                                            \
    {                                                                                                                  \
        return spool_writer_append(writer, SPOOL_##ID, record, err);                                                   \
    }
#define SAMPLE EVENT
#include "spool/record_kinds.h"

/* Writes buffered records to the file, and starts to sync the file. Call this function about every second: a kill or a
 * power failure loses only records since the last flush. */
int spool_writer_flush(struct spool_writer *writer, struct error *err);

uint64_t spool_writer_get_sync_cpu_time(const struct spool_writer *writer); /* ns of CPU time used by syncs */
uint64_t spool_writer_get_size(const struct spool_writer *writer);          /* bytes of the file and of queued blocks */

/* Whether blocks are queued in memory because the disk is full. */
bool spool_writer_has_queued(const struct spool_writer *writer);

/* Writes buffered records to the file, and blocks that the full disk refuses to a file in memory, for
 * spool_reader_append(). The caller owns *fd, which is -1 if the file has all records. */
int spool_writer_move_queued(struct spool_writer *writer, int *fd, struct error *err);

/* Flushes, closes the file and frees the writer, also after a failure. The file stays. Accepts NULL. -ENOSPC if queued
 * blocks are lost. */
int spool_writer_close(struct spool_writer *writer, struct error *err);

/* ---- reading ---- */

struct spool_reader;

int spool_reader_open(struct spool_reader **out, const char *path, struct error *err);
void spool_reader_close(struct spool_reader *reader);

/* Appends the spool file of spool_writer_move_queued() to this one. */
int spool_reader_append(struct spool_reader *reader, const char *path, struct error *err);

/* A position between two samples of a recording: the number of a chunk, and of samples of this chunk before the
 * position. A recorder writes new samples after all existing ones, so positions divide a running recording into
 * parts. */
struct spool_place {
    uint64_t chunk, samples;
};

/* Makes the reader skip the samples before `place`; it does not decode chunks that are wholly before `place`. The
 * reader still returns all events. Call this function before the first read. */
void spool_reader_skip(struct spool_reader *reader, struct spool_place place);

/* Returns the position after the last read sample, or the starting position of the reader. */
struct spool_place spool_reader_get_place(const struct spool_reader *reader);

/* Returns how many chunks a flight recorder has dropped between the starting position and the first read chunk. */
uint64_t spool_reader_count_missed_chunks(const struct spool_reader *reader);

/* Reads the next record, in file order: 1. Returns 0 at the end, or a negative errno value. An incomplete block at the
 * end counts as the end; a later call reads it once it is complete. The reader skips and counts damaged bytes in the
 * middle of the file, up to the next whole block. */
int spool_reader_read(struct spool_reader *reader, struct spool_record *record, struct error *err);

/* Counts of the file so far: skipped parts, their bytes, bytes read or skipped, and bytes not yet read or skipped. */
uint64_t spool_reader_count_damaged_parts(const struct spool_reader *reader);
uint64_t spool_reader_count_damaged_bytes(const struct spool_reader *reader);
uint64_t spool_reader_count_read_bytes(const struct spool_reader *reader);
uint64_t spool_reader_count_bytes_left(const struct spool_reader *reader);

/* Whether the recording keeps only its newest samples (struct spool_bounds). Valid after the first read. */
bool spool_reader_is_flight_recorder(const struct spool_reader *reader);

/* Whether `path` is a regular file with the magic of a spool file of any version. The reader refuses other versions
 * with a sentence. False if the file cannot be read. */
bool spool_is_spool(const char *path);

/* Whether a recorder on this machine is writing the file. False on a file system without locks. */
bool spool_is_being_written(const char *path);

enum { SPOOL_NUMBERING_EVENT_MIN_BYTES = 6 }; /* bytes of the shortest event that assigns a number */
