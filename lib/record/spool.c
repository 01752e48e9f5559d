/*
 * The spool file of a recording grows while the target runs. It holds the whole recording until the assembler makes a
 * profile of it. So memory stays flat however long the recording is, and when the recorder is killed the spool remains.
 *
 *     file   := "PROFSPL1" block*
 *     block  := kind (1 byte: 'E' events, 'S' samples)  length (u32)  checksum (u32)  payload
 *     'S'    := one chunk (chunk.c)
 *     'E'    := event*; event := kind (1 byte), then its fields in the order of code_event() below
 *
 * Fixed numbers are little-endian, the numbers of events LEB128, texts end with a NUL. The checksum is the low half of
 * checksum_bytes() over the payload. Events are buffered like samples and written first, so a chunk never refers to an
 * event that comes after it. When a write fails half way (a full disk), the file is cut back to its last whole block.
 *
 * The assembler needs room beside the spool: for a temporary file of 16 bytes a sample, and for the profile. So the
 * writer reserves that room behind the end of the file. When it can reserve no more, it takes the disk for full, and
 * gives the reserve back.
 */
#include "record/spool.h"

#include "base/checksum.h"
#include "base/cursor.h"
#include "base/file_io.h"
#include "base/leb128.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[8] = "PROFSPL1";

enum { BLOCK_HEADER = 9, EVENT_BUFFER = 64 * 1024, BLOCK_MAX = 64 * 1024 * 1024 };

/* Bytes that the assembler needs: at least, and for each sample. */
enum { PROFILE_MIN = 16 * 1024, PROFILE_SAMPLE = 24 };

/* ---- events: one description of the layout for both directions ---- */

ARRAY_TYPE(struct byte_array, unsigned char);

/* Writes to `out` if that is set, else reads from `in`. */
struct codec {
    struct byte_array *out;
    struct cursor in;
    bool failed;
};

static void code_bytes(struct codec *c, const unsigned char **bytes, uint64_t size)
{
    if (!c->out) {
        *bytes = cursor_bytes(&c->in, size);
        c->failed = c->in.failed;
    } else if (!c->failed && size) {
        c->failed = !array_append(c->out, *bytes, size);
    }
}

static void code_u64(struct codec *c, uint64_t *value)
{
    if (c->out) {
        unsigned char encoded[LEB128_MAX];
        const unsigned char *from = encoded;
        code_bytes(c, &from, (uint64_t)(leb128_put(encoded, *value) - encoded));
    } else {
        *value = cursor_uleb(&c->in);
        c->failed = c->in.failed;
    }
}

static void code_u32(struct codec *c, uint32_t *value)
{
    uint64_t wide = *value;
    code_u64(c, &wide);
    if (wide > UINT32_MAX)
        c->failed = true;
    *value = (uint32_t)wide;
}

static void code_size(struct codec *c, size_t *value)
{
    uint64_t wide = *value;
    code_u64(c, &wide);
    *value = (size_t)wide;
}

static void code_bool(struct codec *c, bool *value)
{
    uint64_t wide = *value;
    code_u64(c, &wide);
    *value = wide != 0;
}

static void code_text(struct codec *c, const char **text)
{
    if (c->out) {
        const char *from = *text ? *text : "";
        const unsigned char *bytes = (const unsigned char *)from;
        code_bytes(c, &bytes, strlen(from) + 1);
    } else {
        *text = cursor_string(&c->in);
        c->failed = c->in.failed;
    }
}

static void code_lib(struct codec *c, struct spool_lib *lib)
{
    code_u32(c, &lib->kind);
    code_text(c, &lib->path);
    code_size(c, &lib->build_id_size);
    code_bytes(c, &lib->build_id, lib->build_id_size);
    code_u64(c, &lib->device);
    code_u64(c, &lib->inode);
    code_u64(c, &lib->size);
    code_u64(c, &lib->mtime_ns);
    code_size(c, &lib->image_size);
    code_bytes(c, &lib->image, lib->image_size);
}

/* The fields of an event after its kind. False if the bytes are damaged or memory ran out. */
static bool code_event(struct codec *c, struct spool_event *event)
{
    switch (event->kind) {
    case SPOOL_INFO:
        code_text(c, &event->name);
        code_text(c, &event->value);
        break;
    case SPOOL_PROCESS:
        code_u32(c, &event->number);
        code_u32(c, &event->parent);
        code_bool(c, &event->exec);
        code_u32(c, &event->pid);
        code_u64(c, &event->time);
        code_text(c, &event->name);
        break;
    case SPOOL_THREAD:
        code_u32(c, &event->number);
        code_u32(c, &event->process);
        code_u32(c, &event->tid);
        code_u64(c, &event->time);
        code_text(c, &event->name);
        break;
    case SPOOL_NAME:
        code_u32(c, &event->number);
        code_u64(c, &event->time);
        code_text(c, &event->name);
        break;
    case SPOOL_THREAD_END:
        code_u32(c, &event->number);
        code_u64(c, &event->time);
        break;
    case SPOOL_LIB:
        code_u32(c, &event->number);
        code_lib(c, &event->lib);
        break;
    case SPOOL_MAP:
        code_u32(c, &event->number);
        code_u64(c, &event->time);
        code_u64(c, &event->start);
        code_u64(c, &event->end);
        code_u64(c, &event->rva);
        code_u32(c, &event->lib_number);
        break;
    case SPOOL_LOST:
        code_u64(c, &event->time);
        code_u32(c, &event->cpu);
        code_u64(c, &event->count);
        break;
    case SPOOL_PAUSED:
    case SPOOL_RESUMED:
        code_u64(c, &event->time);
        break;
    case SPOOL_MARK:
        code_u64(c, &event->time);
        code_text(c, &event->value);
        break;
    case SPOOL_RUN:
        code_u64(c, &event->time);
        code_u64(c, &event->count);
        break;
    default:
        c->failed = true;
    }
    return !c->failed;
}

/* ---- writing ---- */

struct spool_writer {
    int fd;
    char *path;
    uint64_t bytes;           /* up to the last whole block */
    uint64_t samples_in_file; /* of `samples` */
    uint64_t reserved;        /* bytes of the disk that are the file's, those behind its end included */
    uint64_t samples;
    struct byte_array events; /* not written yet */
    struct chunk_writer *chunk;
};

static void put_u32(unsigned char *out, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        out[i] = (unsigned char)(value >> (8 * i));
}

/* Makes sure of room for `size` more bytes and the profile of the first `samples` samples. */
static int reserve_room(struct spool_writer *writer, uint64_t size, uint64_t samples)
{
    uint64_t spool = writer->bytes + size;
    uint64_t needed = spool + spool / 4 + PROFILE_MIN + samples * PROFILE_SAMPLE;
    if (needed <= writer->reserved)
        return 0;
    uint64_t wanted = needed + needed / 4; /* if there is as much, not again for every block */
    if (fallocate(writer->fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)wanted)) {
        wanted = needed;
        if (fallocate(writer->fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)wanted))
            return errno == ENOSPC || errno == EDQUOT ? -errno : 0; /* not every file system can reserve */
    }
    writer->reserved = wanted;
    return 0;
}

/* Cuts the file at its last whole block, and gives back what was reserved behind it. If that fails, the reader stops at
 * the broken block all the same. */
static void cut_at_last_block(struct spool_writer *writer)
{
    if (ftruncate(writer->fd, (off_t)writer->bytes) == 0)
        lseek(writer->fd, (off_t)writer->bytes, SEEK_SET);
}

static int write_block(struct spool_writer *writer, char kind, const void *payload, size_t size, struct error *err)
{
    unsigned char header[BLOCK_HEADER] = {(unsigned char)kind};
    put_u32(header + 1, (uint32_t)size);
    put_u32(header + 5, (uint32_t)checksum_bytes(payload, size));
    uint64_t samples = kind == 'S' ? writer->samples : writer->samples_in_file;
    int code = reserve_room(writer, sizeof(header) + size, samples);
    if (!code)
        code = file_write(writer->fd, header, sizeof(header));
    if (!code)
        code = file_write(writer->fd, payload, size);
    if (code) {
        cut_at_last_block(writer);
        return error_set(err, -code, "cannot write to %s: %s", writer->path, strerror(-code));
    }
    writer->bytes += sizeof(header) + size;
    writer->samples_in_file = samples;
    return 0;
}

static int write_events(struct spool_writer *writer, struct error *err)
{
    if (!writer->events.length)
        return 0;
    int code = write_block(writer, 'E', writer->events.data, writer->events.length, err);
    if (!code)
        writer->events.length = 0;
    return code;
}

int spool_writer_flush(struct spool_writer *writer, struct error *err)
{
    int code = write_events(writer, err);
    if (code)
        return code;
    size_t size;
    const unsigned char *bytes = chunk_writer_bytes(writer->chunk, &size);
    if (!size)
        return 0;
    code = write_block(writer, 'S', bytes, size, err);
    if (!code)
        chunk_writer_reset(writer->chunk);
    return code;
}

static int create_file(struct spool_writer *writer, struct error *err)
{
    writer->fd = open(writer->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (writer->fd < 0)
        return error_set(err, errno, "cannot create %s: %s", writer->path, strerror(errno));
    flock(writer->fd, LOCK_EX | LOCK_NB); /* the kernel takes the lock away when the recorder ends, however it does */
    int code = file_write(writer->fd, magic, sizeof(magic));
    if (!code) {
        writer->bytes = sizeof(magic);
        return 0;
    }
    unlink(writer->path);
    return error_set(err, -code, "cannot write to %s: %s", writer->path, strerror(-code));
}

int spool_writer_new(struct spool_writer **out, const char *path, struct error *err)
{
    struct spool_writer *writer = *out = calloc(1, sizeof(*writer));
    if (!writer)
        return error_no_memory(err);
    writer->fd = -1;
    writer->path = strdup(path);
    writer->chunk = chunk_writer_new();
    int code = writer->path && writer->chunk ? create_file(writer, err) : error_no_memory(err);
    if (code) {
        spool_writer_close(writer, NULL);
        *out = NULL;
    }
    return code;
}

int spool_writer_event(struct spool_writer *writer, const struct spool_event *event, struct error *err)
{
    struct spool_event copy = *event;
    size_t before = writer->events.length;
    struct codec codec = {.out = &writer->events};
    if (!array_push(&writer->events, (unsigned char)event->kind) || !code_event(&codec, &copy)) {
        writer->events.length = before;
        return error_no_memory(err);
    }
    return writer->events.length >= EVENT_BUFFER ? write_events(writer, err) : 0;
}

int spool_writer_sample(struct spool_writer *writer, const struct sample *sample, struct error *err)
{
    if (!chunk_writer_append(writer->chunk, sample)) {
        int code = spool_writer_flush(writer, err);
        if (code)
            return code;
        if (!chunk_writer_append(writer->chunk, sample))
            return error_no_memory(err);
    }
    writer->samples++;
    return 0;
}

int spool_writer_close(struct spool_writer *writer, struct error *err)
{
    if (!writer)
        return 0;
    int code = writer->fd >= 0 ? spool_writer_flush(writer, err) : 0;
    if (writer->fd >= 0)
        cut_at_last_block(writer);
    if (writer->fd >= 0 && close(writer->fd) < 0 && !code)
        code = error_set(err, errno, "cannot write to %s: %s", writer->path, strerror(errno));
    chunk_writer_free(writer->chunk);
    array_free(&writer->events);
    free(writer->path);
    free(writer);
    return code;
}

/* ---- reading ---- */

struct spool_reader {
    int fd;
    char *path;
    struct byte_array block;
    struct codec events; /* what is left of an 'E' block */
    struct chunk_reader *chunk;
    bool in_chunk;
    uint64_t damaged, bytes;
};

/* Opens the file and reads its magic number. */
static int open_file(struct spool_reader *reader, struct error *err)
{
    char start[sizeof(magic)];
    reader->fd = open(reader->path, O_RDONLY | O_CLOEXEC);
    if (reader->fd < 0)
        return error_set(err, errno, "cannot open %s: %s", reader->path, strerror(errno));
    ssize_t got = file_read(reader->fd, start, sizeof(start));
    if (got < 0)
        return error_set(err, (int)-got, "cannot read %s: %s", reader->path, strerror((int)-got));
    if ((size_t)got < sizeof(start) || memcmp(start, magic, sizeof(magic)) != 0)
        return error_set(err, EINVAL, "%s is not a recording of prof: it does not begin with PROFSPL1", reader->path);
    return 0;
}

int spool_reader_open(struct spool_reader **out, const char *path, struct error *err)
{
    struct spool_reader *reader = *out = calloc(1, sizeof(*reader));
    if (!reader)
        return error_no_memory(err);
    reader->fd = -1;
    reader->path = strdup(path);
    reader->chunk = chunk_reader_new();
    int code = reader->path && reader->chunk ? open_file(reader, err) : error_no_memory(err);
    if (code) {
        spool_reader_close(reader);
        *out = NULL;
    }
    return code;
}

void spool_reader_close(struct spool_reader *reader)
{
    if (!reader)
        return;
    if (reader->fd >= 0)
        close(reader->fd);
    chunk_reader_free(reader->chunk);
    array_free(&reader->block);
    free(reader->path);
    free(reader);
}

uint64_t spool_reader_damaged(const struct spool_reader *reader)
{
    return reader->damaged;
}

uint64_t spool_reader_bytes(const struct spool_reader *reader)
{
    return reader->bytes;
}

uint64_t spool_reader_rest(const struct spool_reader *reader)
{
    struct stat info;
    off_t at = lseek(reader->fd, 0, SEEK_CUR);
    return at >= 0 && fstat(reader->fd, &info) == 0 && info.st_size > at ? (uint64_t)(info.st_size - at) : 0;
}

bool spool_is_spool(const char *path)
{
    char start[sizeof(magic)];
    struct stat info;
    if (stat(path, &info) || !S_ISREG(info.st_mode)) /* what is read of a pipe is gone */
        return false;
    int fd = file_open_in(-1, path);
    bool is_spool = fd >= 0 && file_read(fd, start, sizeof(start)) == (ssize_t)sizeof(start) &&
                    memcmp(start, magic, sizeof(magic)) == 0;
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

/* Back to the beginning of the block of which `size` bytes were read: the file may still grow. */
static int end_for_now(struct spool_reader *reader, size_t size)
{
    lseek(reader->fd, -(off_t)size, SEEK_CUR);
    return 0;
}

/* Loads the next whole block: 1, 0 at the end (also where the file is cut off or no longer makes sense), or an error.
 */
static int next_block(struct spool_reader *reader, struct error *err)
{
    for (;;) {
        unsigned char header[BLOCK_HEADER];
        ssize_t got = file_read(reader->fd, header, sizeof(header));
        if (got < 0)
            return error_set(err, (int)-got, "cannot read %s: %s", reader->path, strerror((int)-got));
        struct cursor at = cursor_of(header, (size_t)got);
        uint8_t kind = cursor_u8(&at);
        uint32_t size = cursor_u32(&at);
        uint32_t checksum = cursor_u32(&at);
        if (at.failed || (kind != 'E' && kind != 'S') || size > BLOCK_MAX)
            return end_for_now(reader, (size_t)got);
        reader->block.length = 0;
        if (!array_reserve(&reader->block, size))
            return error_no_memory(err);
        got = file_read(reader->fd, reader->block.data, size);
        if (got < 0)
            return error_set(err, (int)-got, "cannot read %s: %s", reader->path, strerror((int)-got));
        if ((size_t)got < size)
            return end_for_now(reader, sizeof(header) + (size_t)got);
        if ((uint32_t)checksum_bytes(reader->block.data, size) != checksum) {
            reader->damaged++;
            continue;
        }
        reader->bytes += sizeof(header) + size;
        reader->in_chunk = kind == 'S';
        if (reader->in_chunk)
            chunk_reader_start(reader->chunk, reader->block.data, size);
        else
            reader->events = (struct codec){.in = cursor_of(reader->block.data, size)};
        return 1;
    }
}

int spool_reader_next(struct spool_reader *reader, struct spool_event *event, struct sample *sample, struct error *err)
{
    for (;;) {
        if (reader->in_chunk) {
            int code = chunk_reader_next(reader->chunk, sample, NULL);
            if (code == 1)
                return SPOOL_ITEM_SAMPLE;
            if (code == -ENOMEM)
                return error_no_memory(err);
            if (code < 0)
                reader->damaged++;
            reader->in_chunk = false;
        } else if (cursor_left(&reader->events.in)) {
            *event = (struct spool_event){.kind = cursor_u8(&reader->events.in)};
            if (code_event(&reader->events, event))
                return SPOOL_ITEM_EVENT;
            reader->damaged++;
            reader->events.in = cursor_of(NULL, 0);
        }
        int code = next_block(reader, err);
        if (code <= 0)
            return code; /* 0 is SPOOL_END */
    }
}
