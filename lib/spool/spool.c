/*
 * The spool file of a recording grows while the target runs. The file has the whole recording until the assembler makes
 * a profile. So the recorder's memory does not grow with the recording, and the spool survives a kill of the recorder.
 *
 * The file consists of blocks (block_file.c). A block of samples has one chunk (chunk.c). A block of events has:
 *
 *     event := kind (1 byte), then its fields in the order of record_kinds.h
 *
 * The numbers of events are LEB128, texts end with a NUL. Events are buffered like samples and written first, so a
 * chunk never refers to an event that comes after it.
 */
#include "spool/spool.h"

#include "base/cursor.h"
#include "os/file_io.h"
#include "spool/block_file.h"
#include "spool/block_reader.h"
#include "spool/block_slots.h"
#include "spool/file_sync.h"
#include "spool/record_code.h"
#include "spool/spool_compact.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EVENT_BUFFER = 64 * 1024 };

/* ---- writing ---- */

struct spool_writer {
    struct block_file file;
    struct spool_bytes events; /* not written yet */
    struct spool_uses uses;    /* of a flight recorder */
    struct chunk_writer *chunk;
    struct chunk_span span; /* number and times of the samples in the chunk */
    uint64_t written;       /* samples of the chunk that are in the file or queued */
};

/* Compacts the events of a flight recorder. On failure the events stay unchanged. */
static int compact_events(struct spool_writer *writer, struct error *err)
{
    struct spool_bytes before = {0}, after = {0};
    struct spool_uses *uses = &writer->uses;
    int code = 0;
    block_slots_find_oldest_chunk(&writer->file, &uses->oldest_chunk, &uses->oldest_time);
    if (block_slots_read_events(&writer->file, &before.data, &before.length) &&
        spool_compact(before.data, before.length, uses, &after))
        code = block_slots_replace_events(&writer->file, after.data, after.length, err);
    free(before.data);
    array_free(&after);
    return code;
}

static int write_events(struct spool_writer *writer, struct error *err)
{
    if (!writer->events.length)
        return 0;
    int code = block_file_add_events(&writer->file, writer->events.data, writer->events.length, err);
    if (code)
        return code;
    writer->events.length = 0;
    return block_slots_has_many_events(&writer->file) ? compact_events(writer, err) : 0;
}

static int write_chunk(struct spool_writer *writer, bool is_complete, struct error *err)
{
    size_t size;
    const unsigned char *bytes = chunk_writer_get_bytes(writer->chunk, &size);
    if (size && writer->span.samples > writer->written) {
        int code = block_file_add_chunk(&writer->file, bytes, size, &writer->span, err);
        if (code)
            return code;
        writer->written = writer->span.samples;
    }
    if (!size || !is_complete)
        return 0;
    block_slots_end_chunk(&writer->file);
    chunk_writer_reset(writer->chunk);
    writer->span = (struct chunk_span){0};
    writer->written = 0;
    return 0;
}

/* Writes a LOST event for samples that the full queue dropped. */
static int write_dropped_samples(struct spool_writer *writer, struct error *err)
{
    struct chunk_span dropped = writer->file.dropped;
    if (!dropped.samples)
        return 0;
    writer->file.dropped = (struct chunk_span){0};
    const struct spool_lost lost = {
        .start_ns = dropped.first, .time_ns = dropped.last, .cpu = SPOOL_NO_NUMBER, .count = dropped.cpu_samples};
    return spool_write_lost(writer, &lost, err);
}

/* Whether a flight recorder continues to fill the chunk after a flush. A flight recorder drops whole chunks, so a chunk
 * must cover only a small part of keep_ns. */
static bool continues_chunk(const struct spool_writer *writer)
{
    enum { PARTS = 8 };
    return block_file_is_flight_recorder(&writer->file) &&
           (!writer->file.keep_ns || writer->span.last - writer->span.first < writer->file.keep_ns / PARTS);
}

static int flush(struct spool_writer *writer, bool is_complete, struct error *err)
{
    int code = write_dropped_samples(writer, err);
    if (!code)
        code = write_events(writer, err);
    return code ? code : write_chunk(writer, is_complete || !continues_chunk(writer), err);
}

int spool_writer_flush(struct spool_writer *writer, struct error *err)
{
    int code = block_file_write_queued(&writer->file, err);
    if (!code)
        code = flush(writer, false, err);
    return code ? code : block_file_sync(&writer->file, err);
}

int spool_writer_new_bounded(struct spool_writer **out, const char *path, const struct spool_bounds *bounds,
                             struct error *err)
{
    struct spool_writer *writer = *out = calloc(1, sizeof(*writer));
    if (!writer)
        return error_no_memory(err);
    writer->file.fd = -1;
    writer->chunk = chunk_writer_new();
    int code =
        writer->chunk ? block_file_create(&writer->file, path, bounds->bytes, bounds->ns, err) : error_no_memory(err);
    if (code) {
        spool_writer_close(writer, NULL);
        *out = NULL;
    }
    return code;
}

int spool_writer_new(struct spool_writer **out, const char *path, struct error *err)
{
    static const struct spool_bounds none = {0};
    return spool_writer_new_bounded(out, path, &none, err);
}

static int append_event(struct spool_writer *writer, enum spool_record_kind kind, const void *record, struct error *err)
{
    if (!record_code_write(&writer->events, kind, record))
        return error_no_memory(err);
    return writer->events.length >= EVENT_BUFFER ? write_events(writer, err) : 0;
}

/* Notes that a record in the current chunk refers to the thread or process. */
static bool store_chunk_use(struct spool_writer *writer, enum spool_record_kind kind, uint32_t number)
{
    uint32_t chunk = (uint32_t)writer->file.sequence;
    return !block_file_is_flight_recorder(&writer->file) ||
           hash_set(kind == SPOOL_COUNTERS ? &writer->uses.processes : &writer->uses.threads, number,
                    chunk < HASH_MISSING ? chunk : 0);
}

int spool_writer_append(struct spool_writer *writer, enum spool_record_kind kind, const void *record, struct error *err)
{
    if (kind < SPOOL_SAMPLES)
        return append_event(writer, kind, record, err);
    if (!chunk_writer_append(writer->chunk, kind, record)) {
        int code = flush(writer, true, err);
        if (code)
            return code;
        if (!chunk_writer_append(writer->chunk, kind, record))
            return error_no_memory(err);
    }
    const struct spool_sample *first = record; /* all kinds of samples start with their thread and time */
    if (!store_chunk_use(writer, kind, first->thread))
        return error_no_memory(err);
    writer->span.cpu_samples += kind == SPOOL_SAMPLE;
    if (!writer->span.samples++)
        writer->span.first = first->time_ns;
    if (first->time_ns > writer->span.last)
        writer->span.last = first->time_ns;
    return 0;
}

uint64_t spool_writer_get_size(const struct spool_writer *writer)
{
    return writer->file.bytes + writer->file.queued_bytes;
}

uint64_t spool_writer_get_sync_cpu_time(const struct spool_writer *writer)
{
    return file_sync_get_cpu_time(writer->file.sync);
}

bool spool_writer_has_queued(const struct spool_writer *writer)
{
    return block_file_has_queued(&writer->file);
}

int spool_writer_move_queued(struct spool_writer *writer, int *fd, struct error *err)
{
    *fd = -1;
    int code = spool_writer_flush(writer, err);
    if (!code)
        block_file_limit_queued(&writer->file);
    if (!code)
        code = write_dropped_samples(writer, err);
    if (!code)
        code = write_events(writer, err);
    if (code || !block_file_has_queued(&writer->file))
        return code;
    *fd = block_file_move_queued(&writer->file, err);
    return *fd < 0 ? *fd : 0;
}

int spool_writer_close(struct spool_writer *writer, struct error *err)
{
    if (!writer)
        return 0;
    int code = writer->file.fd >= 0 ? spool_writer_flush(writer, err) : 0;
    if (!code && block_file_has_queued(&writer->file))
        code = error_set(err, ENOSPC, "cannot write to %s: %s", writer->file.path, strerror(ENOSPC));
    int closed = block_file_close(&writer->file, code ? NULL : err);
    chunk_writer_free(writer->chunk);
    array_free(&writer->events);
    hash_destroy(&writer->uses.threads);
    hash_destroy(&writer->uses.processes);
    free(writer);
    return code ? code : closed;
}

/* ---- reading ---- */

struct spool_reader {
    struct block_reader *blocks;
    struct cursor events; /* unread events of the current block */
    struct chunk_reader *chunk;
    bool in_chunk;
    uint64_t damaged;
    struct spool_place begin, place;
    uint64_t missed;
};

int spool_reader_open(struct spool_reader **out, const char *path, struct error *err)
{
    struct spool_reader *reader = *out = calloc(1, sizeof(*reader));
    if (!reader)
        return error_no_memory(err);
    reader->chunk = chunk_reader_new();
    int code = reader->chunk ? block_reader_open(&reader->blocks, path, err) : error_no_memory(err);
    if (code) {
        spool_reader_close(reader);
        *out = NULL;
    }
    return code;
}

int spool_reader_append(struct spool_reader *reader, const char *path, struct error *err)
{
    return block_reader_append(reader->blocks, path, err);
}

void spool_reader_close(struct spool_reader *reader)
{
    if (!reader)
        return;
    block_reader_close(reader->blocks);
    chunk_reader_free(reader->chunk);
    free(reader);
}

void spool_reader_skip(struct spool_reader *reader, struct spool_place place)
{
    reader->begin = reader->place = place;
}

struct spool_place spool_reader_get_place(const struct spool_reader *reader)
{
    return reader->place;
}

uint64_t spool_reader_count_missed_chunks(const struct spool_reader *reader)
{
    return reader->missed;
}

uint64_t spool_reader_count_damaged_parts(const struct spool_reader *reader)
{
    return reader->damaged + block_reader_get_progress(reader->blocks)->damaged_parts;
}

uint64_t spool_reader_count_damaged_bytes(const struct spool_reader *reader)
{
    return block_reader_get_progress(reader->blocks)->damaged_bytes;
}

uint64_t spool_reader_count_read_bytes(const struct spool_reader *reader)
{
    return block_reader_get_progress(reader->blocks)->bytes;
}

uint64_t spool_reader_count_bytes_left(const struct spool_reader *reader)
{
    return block_reader_count_bytes_left(reader->blocks);
}

bool spool_reader_is_flight_recorder(const struct spool_reader *reader)
{
    return block_reader_get_progress(reader->blocks)->is_flight_recorder;
}

bool spool_is_spool(const char *path)
{
    char start[BLOCK_FILE_MAGIC_SIZE];
    struct stat info;
    if (stat(path, &info) || !S_ISREG(info.st_mode)) /* a read from a pipe would lose bytes */
        return false;
    int fd = file_open_in(-1, path);
    bool is_spool = fd >= 0 && file_read(fd, start, sizeof(start)) == (ssize_t)sizeof(start) &&
                    memcmp(start, BLOCK_FILE_MAGIC, BLOCK_FILE_MAGIC_NAME) == 0;
    if (fd >= 0)
        close(fd);
    return is_spool;
}

bool spool_is_being_written(const char *path)
{
    int fd = file_open_in(-1, path);
    bool locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd);
    return locked;
}

/* Starts to read a chunk. Returns false if the chunk is before the starting position. */
static bool begin_chunk(struct spool_reader *reader)
{
    uint64_t number = block_reader_get_progress(reader->blocks)->chunk;
    bool is_first = reader->place.chunk == reader->begin.chunk && reader->place.samples == reader->begin.samples;
    if (number < reader->begin.chunk)
        return false;
    if (is_first && reader->begin.samples && number > reader->begin.chunk + 1)
        reader->missed = number - reader->begin.chunk - 1;
    reader->place = (struct spool_place){.chunk = number};
    return true;
}

/* Starts to read the next block: 1, 0 at the end, or an error. */
static int next_block(struct spool_reader *reader, struct error *err)
{
    enum block_kind kind;
    const unsigned char *payload;
    size_t size;
    int code = block_reader_next(reader->blocks, &kind, &payload, &size, err);
    if (code <= 0)
        return code;
    reader->in_chunk = kind == BLOCK_SAMPLES && begin_chunk(reader);
    if (reader->in_chunk)
        chunk_reader_start(reader->chunk, payload, size);
    else if (kind != BLOCK_SAMPLES)
        reader->events = cursor_of(payload, size);
    return 1;
}

int spool_reader_read(struct spool_reader *reader, struct spool_record *record, struct error *err)
{
    for (;;) {
        if (reader->in_chunk) {
            int code = chunk_reader_next(reader->chunk, record, NULL);
            if (code == 1) {
                reader->place.samples++;
                if (reader->place.chunk == reader->begin.chunk && reader->place.samples <= reader->begin.samples)
                    continue;
                return 1;
            }
            if (code == -ENOMEM)
                return error_no_memory(err);
            if (code < 0)
                reader->damaged++;
            reader->in_chunk = false;
        } else if (cursor_left(&reader->events)) {
            if (record_code_read(&reader->events, record))
                return 1;
            reader->damaged++;
            reader->events = cursor_of(NULL, 0);
        }
        int code = next_block(reader, err);
        if (code <= 0)
            return code;
    }
}
