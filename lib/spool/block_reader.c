#include "spool/block_reader.h"

#include "base/cursor.h"
#include "os/file_io.h"
#include "base/search.h"
#include "spool/block_append.h"

#include <ctype.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct slot_ref {
    uint64_t offset, sequence, version, events_end;
};

struct block_reader {
    int fd;
    char *path;
    uint64_t at; /* offset of the next block */
    ARRAY(unsigned char) block;
    struct block_reader_progress progress;
    ARRAY(struct slot_ref) slots; /* slots of a flight recorder, by sequence */
    size_t next_slot_index;
    bool has_chunk;
    int more_fd; /* -1: none */
    char *more_path;
    uint64_t rest;               /* bytes after the last whole block of the file before this one */
    uint64_t searched, verified; /* bytes passed and bytes verified by searches: see verify_in_search() */
};

struct block_header {
    enum block_kind kind;
    uint32_t size, checksum;
};

/* Finds the version of prof that recorded a spool of another format version: all versions store it as text. */
static bool find_recorder(int fd, char *name, size_t size)
{
    static const char key[] = "recorder\0prof ", prefix[] = "prof ";
    char text[64 * 1024];
    ssize_t got = file_read_at(fd, text, sizeof(text), 0);
    const char *end = text + (got > 0 ? got : 0);
    const char *found = got > 0 ? memmem(text, (size_t)got, key, sizeof(key) - 1) : NULL;
    size_t length = 0;
    for (const char *at = found ? found + sizeof(key) - sizeof(prefix) : end; at < end && isprint((unsigned char)*at);
         at++) {
        if (length + 1 == size)
            return false;
        name[length++] = *at;
    }
    name[length] = '\0';
    return length >= sizeof(prefix);
}

static int refuse_version(int fd, const char *path, const char *start, struct error *err)
{
    char recorder[64];
    if (!find_recorder(fd, recorder, sizeof(recorder)))
        snprintf(recorder, sizeof(recorder), "the prof that recorded it");
    return error_set(
        err, EINVAL,
        "%s is a recording of another version of prof: it begins with %.*s, and this prof reads " BLOCK_FILE_MAGIC
        "; %s can load it",
        path, isprint((unsigned char)start[BLOCK_FILE_MAGIC_NAME]) ? 8 : 7, start, recorder);
}

static int open_spool(const char *path, struct error *err)
{
    char start[BLOCK_FILE_MAGIC_SIZE];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_set(err, errno, "cannot open %s: %s", path, strerror(errno));
    ssize_t got = file_read_at(fd, start, sizeof(start), 0);
    bool is_whole = got == (ssize_t)sizeof(start);
    if (is_whole && memcmp(start, BLOCK_FILE_MAGIC, sizeof(start)) == 0)
        return fd;
    int code;
    if (got < 0)
        code = error_set(err, (int)-got, "cannot read %s: %s", path, strerror((int)-got));
    else if (is_whole && memcmp(start, BLOCK_FILE_MAGIC, BLOCK_FILE_MAGIC_NAME) == 0)
        code = refuse_version(fd, path, start, err);
    else
        code = error_set(err, EINVAL, "%s is not a recording of prof: it does not begin with " BLOCK_FILE_MAGIC, path);
    close(fd);
    return code;
}

int block_reader_open(struct block_reader **out, const char *path, struct error *err)
{
    struct block_reader *reader = *out = calloc(1, sizeof(*reader));
    if (!reader)
        return error_no_memory(err);
    reader->at = BLOCK_FILE_MAGIC_SIZE;
    reader->more_fd = -1;
    reader->path = strdup(path);
    reader->fd = reader->path ? open_spool(path, err) : -1;
    int code = !reader->path ? error_no_memory(err) : reader->fd < 0 ? reader->fd : 0;
    if (code) {
        block_reader_close(reader);
        *out = NULL;
    }
    return code;
}

void block_reader_close(struct block_reader *reader)
{
    if (!reader)
        return;
    if (reader->fd >= 0)
        close(reader->fd);
    if (reader->more_fd >= 0)
        close(reader->more_fd);
    array_free(&reader->block);
    array_free(&reader->slots);
    free(reader->path);
    free(reader->more_path);
    free(reader);
}

int block_reader_append(struct block_reader *reader, const char *path, struct error *err)
{
    int fd = open_spool(path, err);
    char *copy = fd < 0 ? NULL : strdup(path);
    if (fd < 0)
        return fd;
    if (!copy || reader->more_fd >= 0) {
        close(fd);
        free(copy);
        return copy ? error_set(err, EINVAL, "a recording has at most two parts") : error_no_memory(err);
    }
    reader->more_fd = fd;
    reader->more_path = copy;
    return 0;
}

const struct block_reader_progress *block_reader_get_progress(const struct block_reader *reader)
{
    return &reader->progress;
}

static uint64_t get_file_size(const struct block_reader *reader)
{
    struct stat info;
    return fstat(reader->fd, &info) == 0 && info.st_size > 0 ? (uint64_t)info.st_size : 0;
}

static uint64_t count_bytes_after_last_block(const struct block_reader *reader)
{
    uint64_t size = get_file_size(reader);
    return size > reader->at ? size - reader->at : 0;
}

uint64_t block_reader_count_bytes_left(const struct block_reader *reader)
{
    return reader->rest + count_bytes_after_last_block(reader);
}

static int report_read_error(const struct block_reader *reader, ssize_t code, struct error *err)
{
    return error_set(err, (int)-code, "cannot read %s: %s", reader->path, strerror((int)-code));
}

/* ---- reading at an offset: returns 1, 0 without a whole block, or an error ---- */

/* Whether a recorder may have written this header. */
static bool is_header(const struct block_header *header)
{
    switch (header->kind) {
    case BLOCK_EVENTS:
        return header->size <= BLOCK_MAX;
    case BLOCK_SAMPLES:
        return header->size <= CHUNK_SIZE;
    case BLOCK_FLIGHT_RECORDER:
        return header->size == 0;
    case BLOCK_SLOT:
    case BLOCK_FREE_SLOT:
        return header->size == SLOT_SIZE;
    }
    return false;
}

static bool parse_header(const unsigned char *bytes, size_t size, struct block_header *header)
{
    struct cursor at = cursor_of(bytes, size);
    *header = (struct block_header){.kind = (enum block_kind)cursor_u8(&at)};
    header->size = cursor_u32(&at);
    header->checksum = cursor_u32(&at);
    return !at.failed && is_header(header);
}

static int read_header(struct block_reader *reader, uint64_t offset, struct block_header *header, struct error *err)
{
    unsigned char bytes[BLOCK_HEADER];
    ssize_t got = file_read_at(reader->fd, bytes, sizeof(bytes), offset);
    if (got < 0)
        return report_read_error(reader, got, err);
    return parse_header(bytes, (size_t)got, header);
}

static int read_payload(struct block_reader *reader, uint64_t offset, size_t size, struct error *err)
{
    reader->block.length = 0;
    if (!array_reserve(&reader->block, size))
        return error_no_memory(err);
    ssize_t got = file_read_at(reader->fd, reader->block.data, size, offset);
    if (got < 0)
        return report_read_error(reader, got, err);
    return (size_t)got == size;
}

/* ---- slots ---- */

/* Reads the slot at `offset` into reader->block. Returns 0 if the slot is damaged or incomplete. */
static int read_slot(struct block_reader *reader, uint64_t offset, struct slot_ref *slot, size_t *chunk_size,
                     struct error *err)
{
    struct block_header header;
    int code = read_header(reader, offset, &header, err);
    if (code <= 0 || header.kind != BLOCK_SLOT || header.size != SLOT_SIZE)
        return code < 0 ? code : 0;
    code = read_payload(reader, offset + BLOCK_HEADER, SLOT_SIZE, err);
    if (code <= 0)
        return code;
    struct cursor at = cursor_of(reader->block.data, SLOT_HEADER);
    *slot = (struct slot_ref){.offset = offset};
    slot->sequence = cursor_u64(&at);
    slot->version = cursor_u64(&at);
    slot->events_end = cursor_u64(&at);
    *chunk_size = cursor_u32(&at);
    return !at.failed && *chunk_size <= CHUNK_SIZE &&
           compute_block_checksum(BLOCK_SLOT, reader->block.data, SLOT_HEADER + *chunk_size) == header.checksum;
}

/* ---- damage ---- */

/* Whether the block at `offset` is whole: 1, 0 or an error. A free slot has no checksum. */
static int is_whole(struct block_reader *reader, uint64_t offset, const struct block_header *header, struct error *err)
{
    if (header->kind == BLOCK_FREE_SLOT)
        return offset + BLOCK_HEADER + header->size <= get_file_size(reader);
    if (header->kind == BLOCK_SLOT) {
        struct slot_ref slot;
        size_t chunk_size;
        return read_slot(reader, offset, &slot, &chunk_size, err);
    }
    int code = read_payload(reader, offset + BLOCK_HEADER, header->size, err);
    if (code <= 0)
        return code;
    return compute_block_checksum(header->kind, reader->block.data, header->size) == header->checksum;
}

/* Verifies the block at `offset` during a search. The verified bytes of all blocks are at most a multiple of the
 * searched bytes: without this limit, hostile bytes with many headers of large blocks would take quadratic time. */
static int verify_in_search(struct block_reader *reader, uint64_t offset, const struct block_header *header,
                            struct error *err)
{
    enum { TIMES = 16, ALWAYS = 8 << 20 };
    if (header->kind != BLOCK_FREE_SLOT) {
        if (reader->verified + header->size > ALWAYS + TIMES * (reader->at + reader->searched))
            return 0;
        reader->verified += header->size;
    }
    return is_whole(reader, offset, header, err);
}

/* Finds the first whole block after `offset`: 1 with *found, 0 if no block follows, or an error. */
static int find_whole_block(struct block_reader *reader, uint64_t offset, uint64_t *found, struct error *err)
{
    enum { WINDOW = 32 * 1024 };
    unsigned char window[WINDOW];
    for (uint64_t start = offset + 1;; start += WINDOW - BLOCK_HEADER + 1) {
        ssize_t got = file_read_at(reader->fd, window, sizeof(window), start);
        if (got < 0)
            return report_read_error(reader, got, err);
        for (size_t i = 0; i + BLOCK_HEADER <= (size_t)got; i++) {
            struct block_header header;
            reader->searched++;
            if (!parse_header(window + i, (size_t)got - i, &header))
                continue;
            int code = verify_in_search(reader, start + i, &header, err);
            *found = start + i;
            if (code)
                return code;
        }
        if (got < WINDOW)
            return 0;
    }
}

/* Whether the header of a block with a damaged payload has a plausible length: another block follows at that
 * distance. */
static int is_length_plausible(struct block_reader *reader, uint64_t offset, const struct block_header *header,
                               struct error *err)
{
    struct block_header next;
    uint64_t end = offset + BLOCK_HEADER + header->size;
    if (end == get_file_size(reader))
        return 1;
    int code = read_header(reader, end, &next, err);
    return code <= 0 ? code : verify_in_search(reader, end, &next, err);
}

/* Finds the next whole block after the damaged block at `offset`: 1 with *next, 0 if no block follows, or an error.
 * `header`: NULL if the header is invalid. */
static int find_next_after_damage(struct block_reader *reader, uint64_t offset, const struct block_header *header,
                                  uint64_t *next, struct error *err)
{
    int code = header ? is_length_plausible(reader, offset, header, err) : 0;
    if (code > 0)
        *next = offset + BLOCK_HEADER + header->size;
    return code ? code : find_whole_block(reader, offset, next, err);
}

/* ---- slots of a flight recorder ---- */

DEFINE_COMPARE(compare_slots, struct slot_ref, ORDER_THEN(a->sequence, b->sequence, ORDER(b->version, a->version)))

/* Keeps only the newest version of each chunk. */
static void keep_newest_versions(struct block_reader *reader)
{
    size_t kept = 0;
    array_sort(&reader->slots, compare_slots);
    for (size_t i = 0; i < reader->slots.length; i++)
        if (!kept || reader->slots.data[i].sequence != reader->slots.data[kept - 1].sequence)
            reader->slots.data[kept++] = reader->slots.data[i];
    reader->slots.length = kept;
}

/* Adds the slot at `offset` to the list. */
static int add_slot(struct block_reader *reader, uint64_t offset, struct error *err)
{
    struct slot_ref slot;
    size_t chunk_size;
    int code = read_slot(reader, offset, &slot, &chunk_size, err);
    if (code < 0)
        return code;
    if (!code) {
        reader->progress.damaged_parts++;
        reader->progress.damaged_bytes += BLOCK_HEADER + SLOT_SIZE;
    } else if (!array_push(&reader->slots, slot)) {
        return error_no_memory(err);
    }
    return 0;
}

static int find_slots(struct block_reader *reader, struct error *err)
{
    struct block_header header;
    uint64_t offset = reader->at;
    for (;;) {
        int code = read_header(reader, offset, &header, err);
        if (code > 0) {
            if (header.kind == BLOCK_SLOT)
                code = add_slot(reader, offset, err);
            if (code < 0)
                return code;
            offset += BLOCK_HEADER + header.size;
            continue;
        }
        if (!code)
            code = find_whole_block(reader, offset, &offset, err);
        if (code < 0)
            return code;
        if (!code)
            break;
    }
    keep_newest_versions(reader);
    return 0;
}

/* Reads the next chunk of a flight recorder, or 0 after the last. Skips a chunk that the recorder has replaced
 * meanwhile, because it was the oldest. */
static int read_next_slot(struct block_reader *reader, const unsigned char **payload, size_t *size, struct error *err)
{
    while (reader->next_slot_index < reader->slots.length) {
        const struct slot_ref *wanted = &reader->slots.data[reader->next_slot_index++];
        struct slot_ref slot;
        int code = read_slot(reader, wanted->offset, &slot, size, err);
        if (code < 0)
            return code;
        if (!code || slot.sequence != wanted->sequence)
            continue;
        *payload = reader->block.data + SLOT_HEADER;
        reader->progress.chunk = slot.sequence;
        reader->has_chunk = true;
        reader->progress.bytes += BLOCK_HEADER + SLOT_HEADER + *size;
        return 1;
    }
    return 0;
}

/* Whether the next chunk in a slot comes before the next block. */
static bool is_slot_before_next_block(const struct block_reader *reader)
{
    return reader->next_slot_index < reader->slots.length &&
           reader->slots.data[reader->next_slot_index].events_end <= reader->at;
}

/* ---- in order ---- */

/* Continues with the appended file. False if no file was appended. */
static bool start_next_file(struct block_reader *reader)
{
    if (reader->more_fd < 0)
        return false;
    reader->rest += count_bytes_after_last_block(reader);
    close(reader->fd);
    free(reader->path);
    reader->fd = reader->more_fd;
    reader->path = reader->more_path;
    reader->more_fd = -1;
    reader->more_path = NULL;
    reader->at = BLOCK_FILE_MAGIC_SIZE;
    return true;
}

static void skip_to_offset(struct block_reader *reader, uint64_t next)
{
    reader->progress.damaged_parts++;
    reader->progress.damaged_bytes += next - reader->at;
    reader->progress.bytes += next - reader->at;
    reader->at = next;
}

/* Skips the damaged bytes at reader->at: returns 2, 0 if no whole block follows, or an error. If the file has grown
 * during the search, the block at reader->at may have become whole. */
static int skip_damage(struct block_reader *reader, const struct block_header *header, struct error *err)
{
    struct block_header again;
    uint64_t next = 0;
    int code = find_next_after_damage(reader, reader->at, header, &next, err);
    if (code <= 0)
        return code;
    code = read_header(reader, reader->at, &again, err);
    if (code > 0)
        code = is_whole(reader, reader->at, &again, err);
    if (code < 0)
        return code;
    if (!code)
        skip_to_offset(reader, next);
    return 2;
}

/* Lists the slots of the whole file. The file may be a flight recorder's even if its BLOCK_FLIGHT_RECORDER block is
 * damaged. */
static int list_slots(struct block_reader *reader, struct error *err)
{
    if (reader->progress.is_flight_recorder)
        return 2;
    reader->progress.is_flight_recorder = true;
    int code = find_slots(reader, err);
    return code < 0 ? code : 2;
}

/* Reads the block at reader->at: 1 if the caller gets it, 2 if not, 0 at the end. */
static int read_block(struct block_reader *reader, enum block_kind *kind, size_t *size, struct error *err)
{
    struct block_header header;
    int code = read_header(reader, reader->at, &header, err);
    if (code <= 0)
        return code ? code : skip_damage(reader, NULL, err);
    if (header.kind == BLOCK_SLOT || header.kind == BLOCK_FREE_SLOT) {
        code = list_slots(reader, err);
        reader->at += BLOCK_HEADER + header.size;
        return code;
    }
    code = is_whole(reader, reader->at, &header, err);
    if (code <= 0)
        return code ? code : skip_damage(reader, &header, err);
    reader->at += BLOCK_HEADER + header.size;
    reader->progress.bytes += BLOCK_HEADER + header.size;
    *kind = header.kind;
    *size = header.size;
    return header.kind == BLOCK_FLIGHT_RECORDER ? list_slots(reader, err) : 1;
}

int block_reader_next(struct block_reader *reader, enum block_kind *kind, const unsigned char **payload, size_t *size,
                      struct error *err)
{
    for (;;) {
        *kind = BLOCK_SAMPLES;
        if (is_slot_before_next_block(reader)) {
            int code = read_next_slot(reader, payload, size, err);
            if (code)
                return code;
        }
        int code = read_block(reader, kind, size, err);
        *payload = reader->block.data;
        if (code == 1 && *kind == BLOCK_SAMPLES) {
            reader->progress.chunk += reader->has_chunk;
            reader->has_chunk = true;
        }
        if (code < 0 || code == 1)
            return code;
        if (code == 2)
            continue;
        *kind = BLOCK_SAMPLES;
        code = read_next_slot(reader, payload, size, err);
        if (code)
            return code;
        if (!start_next_file(reader))
            return 0;
    }
}
