#include "spool/block_slots.h"

#include "base/cursor.h"
#include "os/file_io.h"
#include "spool/block_append.h"
#include "spool/file_sync.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

enum {
    MIN_SLOTS = 4
}; /* for a flight recorder, the newest whole chunk, and three versions of the chunk being filled */

static uint32_t read_u32(const unsigned char *bytes)
{
    struct cursor c = cursor_of(bytes, sizeof(uint32_t));
    return cursor_u32(&c);
}

static void free_slot(struct block_file *file, struct block_slot *slot)
{
    unsigned char kind = BLOCK_FREE_SLOT;
    if (pwrite(file->fd, &kind, 1, (off_t)slot->offset) == 1)
        file->samples -= slot->span.samples;
    slot->used = false;
}

/* Frees the slot with the previous version of the chunk being filled. The samples of this slot no longer count. */
static void free_superseded_slot(struct block_file *file)
{
    if (file->superseded != SIZE_MAX)
        free_slot(file, &file->slots.data[file->superseded]);
    file->superseded = SIZE_MAX;
}

/* Returns the used slot with the oldest samples, or NULL for none. Excludes the chunk being filled. */
static struct block_slot *find_oldest_slot(struct block_file *file)
{
    struct block_slot *oldest = NULL;
    for (size_t i = 0; i < file->slots.length; i++) {
        struct block_slot *slot = &file->slots.data[i];
        if (slot->used && i != file->newest && i != file->superseded &&
            (!oldest || slot->span.last < oldest->span.last))
            oldest = slot;
    }
    return oldest;
}

static size_t count_used_slots(const struct block_file *file)
{
    size_t count = 0;
    for (size_t i = 0; i < file->slots.length; i++)
        count += file->slots.data[i].used;
    return count;
}

/* Returns how many slots fit into a file of keep_bytes beside its events. Chunks get at least a CHUNKS_PART-th of the
 * file, because compaction cannot drop the events of libraries. */
static size_t count_slots_within_limit(const struct block_file *file)
{
    enum { CHUNKS_PART = 4 };
    if (!file->keep_bytes)
        return SIZE_MAX;
    uint64_t room = file->keep_bytes > file->event_bytes ? file->keep_bytes - file->event_bytes : 0;
    if (room < file->keep_bytes / CHUNKS_PART)
        room = file->keep_bytes / CHUNKS_PART;
    size_t count = (size_t)(room / (BLOCK_HEADER + SLOT_SIZE));
    return count < MIN_SLOTS ? MIN_SLOTS : count;
}

/* Frees the oldest slots until `adding` more slots fit within the limits. */
static void free_slots_beyond_limits(struct block_file *file, uint64_t now, size_t adding)
{
    size_t most = count_slots_within_limit(file);
    size_t used = count_used_slots(file);
    for (struct block_slot *oldest; (oldest = find_oldest_slot(file)); used--) {
        bool is_old = file->keep_ns && oldest->span.last + file->keep_ns < now;
        if (used + adding <= most && !is_old)
            break;
        free_slot(file, oldest);
    }
}

/* Returns a free slot, or a new one at the end of the file. -ENOSPC if the disk is full. */
static int find_free_slot(struct block_file *file, size_t *index)
{
    for (size_t i = 0; i < file->slots.length; i++)
        if (!file->slots.data[i].used) {
            *index = i;
            return 0;
        }
    int code = reserve_room(file, BLOCK_HEADER + SLOT_SIZE, file->samples);
    if (!code && !array_push(&file->slots, ((struct block_slot){.offset = file->bytes})))
        code = -ENOMEM;
    if (code)
        return code;
    unsigned char header[BLOCK_HEADER];
    fill_block_header(header, BLOCK_FREE_SLOT, SLOT_SIZE, 0);
    code = file_write(file->fd, header, sizeof(header));
    if (!code && ftruncate(file->fd, (off_t)(file->bytes + sizeof(header) + SLOT_SIZE)))
        code = -errno;
    if (code) {
        file->slots.length--;
        truncate_to_last_block(file);
        return code;
    }
    file->bytes += sizeof(header) + SLOT_SIZE;
    lseek(file->fd, (off_t)file->bytes, SEEK_SET);
    *index = file->slots.length - 1;
    return 0;
}

static int write_slot(struct block_file *file, const struct block_slot *slot, const void *chunk, size_t size)
{
    unsigned char bytes[BLOCK_HEADER + SLOT_SIZE], *payload = bytes + BLOCK_HEADER;
    write_fixed_size_number(payload, file->sequence, 8);
    write_fixed_size_number(payload + 8, ++file->version, 8);
    write_fixed_size_number(payload + 16, file->events_end, 8);
    write_fixed_size_number(payload + 24, size, 4);
    memcpy(payload + SLOT_HEADER, chunk, size);
    fill_block_header(bytes, BLOCK_SLOT, SLOT_SIZE, compute_block_checksum(BLOCK_SLOT, payload, SLOT_HEADER + size));
    size_t total = BLOCK_HEADER + SLOT_HEADER + size;
    for (size_t done = 0; done < total;) {
        ssize_t got = pwrite(file->fd, bytes + done, total - done, (off_t)(slot->offset + done));
        if (got < 0 && errno != EINTR)
            return -errno;
        done += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

int block_slots_replace_chunk(struct block_file *file, const void *chunk, size_t size, const struct chunk_span *span,
                              struct error *err)
{
    size_t index = 0;
    free_superseded_slot(file);
    free_slots_beyond_limits(file, span->last, 1);
    int code = find_free_slot(file, &index);
    struct block_slot *oldest = is_disk_full(code) ? find_oldest_slot(file) : NULL;
    if (oldest) {
        free_slot(file, oldest);
        code = find_free_slot(file, &index);
    }
    if (!code)
        code = write_slot(file, &file->slots.data[index], chunk, size);
    if (is_disk_full(code)) {
        extend_chunk_span(&file->dropped, span);
        return 0;
    }
    if (code)
        return report_write_error(file, code, err);
    if (file->newest != SIZE_MAX) {
        struct block_slot *before = &file->slots.data[file->newest];
        file->samples -= before->span.samples;
        before->span.samples = 0;
        file->superseded = file->newest;
    }
    file->slots.data[index].used = true;
    file->slots.data[index].sequence = file->sequence;
    file->slots.data[index].span = *span;
    file->samples += span->samples;
    file->newest = index;
    return 0;
}

void block_slots_end_chunk(struct block_file *file)
{
    file->newest = SIZE_MAX;
    file->sequence++;
}

/* ---- compacting the events of a flight recorder ---- */

/* A flight recorder compacts its events when they exceed MANY_EVENTS bytes and one MANY_EVENTS_PART-th of the bytes of
 * its chunks: compacting copies all chunks. */
enum { MANY_EVENTS = 256 << 10, MANY_EVENTS_PART = 4 };

bool block_slots_has_many_events(const struct block_file *file)
{
    uint64_t many = file->slots.length * (uint64_t)SLOT_SIZE / MANY_EVENTS_PART;
    if (many < MANY_EVENTS)
        many = MANY_EVENTS;
    if (many < file->many_events)
        many = file->many_events;
    return block_file_is_flight_recorder(file) && !block_file_has_queued(file) && file->event_bytes > many;
}

void block_slots_find_oldest_chunk(const struct block_file *file, uint64_t *sequence, uint64_t *time)
{
    *sequence = file->sequence;
    *time = UINT64_MAX;
    for (size_t i = 0; i < file->slots.length; i++) {
        const struct block_slot *slot = &file->slots.data[i];
        if (slot->used && slot->sequence < *sequence)
            *sequence = slot->sequence;
        if (slot->used && slot->span.first < *time)
            *time = slot->span.first;
    }
    if (*time == UINT64_MAX)
        *time = 0;
}

bool block_slots_read_events(struct block_file *file, unsigned char **bytes, size_t *size)
{
    unsigned char *all = malloc(file->event_bytes ? file->event_bytes : 1), header[BLOCK_HEADER];
    uint64_t offset = BLOCK_FILE_MAGIC_SIZE;
    size_t got = 0;
    bool done = all != NULL;
    while (done && offset < file->bytes) {
        done = file_read_at(file->fd, header, sizeof(header), offset) == sizeof(header);
        uint32_t length = done ? read_u32(header + 1) : 0;
        if (done && header[0] == BLOCK_EVENTS) {
            done = length <= file->event_bytes - got &&
                   file_read_at(file->fd, all + got, length, offset + BLOCK_HEADER) == (ssize_t)length;
            got += done ? length : 0;
        }
        offset += BLOCK_HEADER + length;
    }
    *bytes = done ? all : NULL;
    *size = done ? got : 0;
    if (!done)
        free(all);
    return done;
}

/* Copies a slot to the new file, behind its events. */
static int copy_slot_to(struct block_file *to, const struct block_file *from, const struct block_slot *slot)
{
    unsigned char bytes[BLOCK_HEADER + SLOT_SIZE], *payload = bytes + BLOCK_HEADER;
    if (file_read_at(from->fd, bytes, sizeof(bytes), slot->offset) < BLOCK_HEADER + SLOT_HEADER)
        return -EIO;
    write_fixed_size_number(payload + 16, to->events_end, 8);
    uint32_t size = read_u32(payload + 24);
    if (size > CHUNK_SIZE)
        return -EIO;
    memset(payload + SLOT_HEADER + size, 0, CHUNK_SIZE - size);
    fill_block_header(bytes, BLOCK_SLOT, SLOT_SIZE, compute_block_checksum(BLOCK_SLOT, payload, SLOT_HEADER + size));
    struct block_slot copy = *slot;
    copy.offset = to->bytes;
    int code = reserve_room(to, sizeof(bytes), from->samples);
    if (!code)
        code = file_write(to->fd, bytes, sizeof(bytes));
    if (!code && !array_push(&to->slots, copy))
        code = -ENOMEM;
    to->bytes += code ? 0 : sizeof(bytes);
    return code;
}

static int write_compacted_file(struct block_file *to, const struct block_file *from, const void *events, size_t size)
{
    int code = file_write(to->fd, BLOCK_FILE_MAGIC, BLOCK_FILE_MAGIC_SIZE);
    to->bytes = to->events_end = BLOCK_FILE_MAGIC_SIZE;
    if (!code)
        code = append_block(to, BLOCK_FLIGHT_RECORDER, "", 0, 0);
    if (!code)
        code = append_block(to, BLOCK_EVENTS, events, size, 0);
    for (size_t i = 0; i < from->slots.length && !code; i++) {
        if (from->newest == i)
            to->newest = to->slots.length;
        if (from->superseded == i)
            to->superseded = to->slots.length;
        if (from->slots.data[i].used)
            code = copy_slot_to(to, from, &from->slots.data[i]);
    }
    return code;
}

int block_slots_replace_events(struct block_file *file, const void *events, size_t size, struct error *err)
{
    struct block_file made = *file;
    char *path = malloc(strlen(file->path) + sizeof(".new"));
    if (!path)
        return error_no_memory(err);
    memcpy(path, file->path, strlen(file->path));
    memcpy(path + strlen(file->path), ".new", sizeof(".new"));
    memset(&made.slots, 0, sizeof(made.slots));
    made.newest = made.superseded = SIZE_MAX;
    made.reserved = made.event_bytes = 0;
    file_sync_end(file->sync); /* an earlier compaction has renamed its file */
    unlink(path);              /* left by a killed recorder */
    made.fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int code = made.fd < 0 ? -errno : 0;
    if (!code) {
        flock(made.fd, LOCK_EX | LOCK_NB);
        code = size <= BLOCK_MAX ? write_compacted_file(&made, file, events, size) : -EFBIG;
        if (code)
            unlink(path);
    }
    file->many_events = 2 * (code ? file->event_bytes : size);
    if (code) { /* the disk may be full: keep the old file */
        if (made.fd >= 0)
            close(made.fd);
        array_free(&made.slots);
        free(path);
        file->sync = file_sync_begin(file->fd, file->path);
        return 0;
    }
    made.many_events = file->many_events;
    int replaced_fd = file->fd;
    array_free(&file->slots);
    *file = made;
    file->samples = 0;
    for (size_t i = 0; i < file->slots.length; i++)
        file->samples += file->slots.data[i].span.samples;
    file->sync = file_sync_begin(file->fd, file->path);
    file_sync_replace(file->sync, path, replaced_fd, file->path);
    return 0;
}
