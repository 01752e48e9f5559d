/*
 *     file   := "PROFSPL6" block*
 *     block  := kind (1 byte)  length (u32)  checksum (u32)  payload
 *     'E'    := events (spool.c)
 *     'S'    := one chunk (chunk.c)
 *     'K'    := empty; this file stores its chunks in slots
 *     'R'    := slot: sequence (u64)  version (u64)  end of its events (u64)  size (u32)  one chunk  padding
 *     'F'    := a free slot
 *
 * Fixed numbers are little-endian. The checksum covers the kind and the payload, without the padding of a slot
 * (compute_block_checksum()). A free slot has no checksum: to free a slot, the recorder writes one byte, its kind,
 * which a crash cannot tear. A chunk refers only to events that precede the chunk in the file; the chunk of a slot,
 * only to events before the offset "end of its events". When a write fails halfway, the recorder truncates the file to
 * its last whole block.
 *
 * A flight recorder writes each version of the chunk that it fills to another slot, with the same sequence number and a
 * higher version number. It frees the slot of the previous version one round later, when the disk holds the newer
 * version. So neither a kill of the recorder nor a power failure loses samples that were in the file. All slots have
 * the same size, so samples no longer enlarge a file that has reached its size limit. When the file has many events,
 * the recorder writes a new file with only the events that the samples need (spool_compact.h). The new file replaces
 * the old one after its sync to the disk.
 *
 * The assembler needs disk space beyond the spool: a temporary file of 16 bytes per sample, and the profile. So the
 * recorder reserves disk space behind the end of the file. If the file system refuses the reservation, the disk counts
 * as full. Closing the file releases the reservation.
 */
#include "spool/block_file.h"

#include "base/cursor.h"
#include "base/checksum.h"
#include "os/file_io.h"
#include "os/file_output.h"
#include "spool/file_sync.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Disk space (bytes) that the assembler needs: minimum, and per sample. */
enum { PROFILE_MIN = 16 * 1024, PROFILE_SAMPLE = 24 };

enum { MIN_SLOTS = 4 }; /* of a flight recorder: the newest whole chunk, and three versions of the chunk being filled */

static void write_fixed(unsigned char *out, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        out[i] = (unsigned char)(value >> (8 * i));
}

static int report_write_error(const struct block_file *file, int code, struct error *err)
{
    return error_set(err, -code, "cannot write to %s: %s", file->path, strerror(-code));
}

/* The disk is full, or the file has reached a quota or a file-size limit. */
static bool is_full(int code)
{
    return code == -ENOSPC || code == -EDQUOT || code == -EFBIG;
}

/* ---- appending ---- */

/* Reserves disk space for `size` more bytes and the profile of `samples` samples. */
static int reserve_room(struct block_file *file, uint64_t size, uint64_t samples)
{
    uint64_t spool = file->bytes + size;
    uint64_t needed = spool + spool / 4 + PROFILE_MIN + samples * PROFILE_SAMPLE;
    if (needed <= file->reserved)
        return 0;
    uint64_t wanted = needed + needed / 4; /* a larger reservation avoids a call for each block */
    if (fallocate(file->fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)wanted)) {
        wanted = needed;
        if (fallocate(file->fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)wanted))
            return errno == ENOSPC || errno == EDQUOT ? -errno : 0; /* not every file system can reserve */
    }
    file->reserved = wanted;
    return 0;
}

/* Truncates the file to its last whole block, and releases the reservation. If the truncation fails, the reader still
 * stops at the incomplete block. */
static void truncate_to_last_block(struct block_file *file)
{
    if (ftruncate(file->fd, (off_t)file->bytes) == 0)
        file->reserved = 0;
    lseek(file->fd, (off_t)file->bytes, SEEK_SET);
}

uint32_t compute_block_checksum(enum block_kind kind, const void *payload, size_t size)
{
    return (uint32_t)checksum_mix(checksum_bytes(payload, size), kind);
}

static uint32_t read_u32(const unsigned char *bytes)
{
    struct cursor c = cursor_of(bytes, sizeof(uint32_t));
    return cursor_u32(&c);
}

static void fill_header(unsigned char *header, enum block_kind kind, size_t size, uint32_t checksum)
{
    header[0] = (unsigned char)kind;
    write_fixed(header + 1, size, 4);
    write_fixed(header + 5, checksum, 4);
}

static int write_block(int fd, enum block_kind kind, const void *payload, size_t size)
{
    unsigned char header[BLOCK_HEADER];
    fill_header(header, kind, size, compute_block_checksum(kind, payload, size));
    int code = file_write(fd, header, sizeof(header));
    return code ? code : file_write(fd, payload, size);
}

static int append_block(struct block_file *file, enum block_kind kind, const void *payload, size_t size,
                        uint64_t samples)
{
    int code = reserve_room(file, BLOCK_HEADER + size, file->samples + samples);
    if (code)
        return code;
    code = write_block(file->fd, kind, payload, size);
    if (code) {
        truncate_to_last_block(file);
        return code;
    }
    file->bytes += BLOCK_HEADER + size;
    file->samples += samples;
    if (kind == BLOCK_EVENTS) {
        file->events_end = file->bytes;
        file->event_bytes += size;
    }
    return 0;
}

/* ---- a full disk ---- */

static void extend_span(struct chunk_span *sum, const struct chunk_span *span)
{
    if (!sum->samples || span->first < sum->first)
        sum->first = span->first;
    if (span->last > sum->last)
        sum->last = span->last;
    sum->samples += span->samples;
    sum->cpu_samples += span->cpu_samples;
}

/* Drops the oldest queued samples while the queue exceeds `most` bytes. */
static void drop_oldest_queued(struct block_file *file, uint64_t most)
{
    for (size_t i = file->first_queued; i < file->waiting.length && file->queued_bytes > most; i++) {
        struct queued_block *block = &file->waiting.data[i];
        if (block->kind != BLOCK_SAMPLES || !block->payload)
            continue;
        extend_span(&file->dropped, &block->span);
        file->queued_bytes -= block->size;
        free(block->payload);
        block->payload = NULL;
    }
}

static int queue_block(struct block_file *file, enum block_kind kind, const void *payload, size_t size,
                       const struct chunk_span *span, struct error *err)
{
    struct queued_block block = {.kind = kind, .payload = malloc(size ? size : 1), .size = size};
    if (!block.payload)
        return error_no_memory(err);
    memcpy(block.payload, payload, size);
    if (span)
        block.span = *span;
    if (!array_push(&file->waiting, block)) {
        free(block.payload);
        return error_no_memory(err);
    }
    file->queued_bytes += size;
    drop_oldest_queued(file, BLOCK_FILE_QUEUE_MAX);
    return 0;
}

static void drop_queue(struct block_file *file, struct queued_block *block)
{
    if (block->payload)
        file->queued_bytes -= block->size;
    free(block->payload);
    block->payload = NULL;
    if (++file->first_queued == file->waiting.length)
        file->first_queued = file->waiting.length = 0;
}

int block_file_write_queued(struct block_file *file, struct error *err)
{
    while (block_file_has_queued(file)) {
        struct queued_block *block = &file->waiting.data[file->first_queued];
        int code =
            block->payload ? append_block(file, block->kind, block->payload, block->size, block->span.samples) : 0;
        if (is_full(code))
            return 0;
        if (code)
            return report_write_error(file, code, err);
        drop_queue(file, block);
    }
    return 0;
}

/* Appends the block, or queues it if the disk is full or earlier blocks are queued: blocks keep their order. */
static int append_or_queue(struct block_file *file, enum block_kind kind, const void *payload, size_t size,
                           const struct chunk_span *span, struct error *err)
{
    int code = -ENOSPC;
    if (!block_file_has_queued(file))
        code = append_block(file, kind, payload, size, span ? span->samples : 0);
    if (is_full(code))
        return queue_block(file, kind, payload, size, span, err);
    return code ? report_write_error(file, code, err) : 0;
}

void block_file_limit_queued(struct block_file *file)
{
    enum { LOST_EVENT = 256 }; /* bytes of the event that reports the dropped samples, with its block */
    struct rlimit limit;
    uint64_t others =
        BLOCK_FILE_MAGIC_SIZE + LOST_EVENT + (uint64_t)BLOCK_HEADER * (file->waiting.length - file->first_queued);
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        drop_oldest_queued(file, limit.rlim_cur > others ? limit.rlim_cur - others : 0);
}

int block_file_move_queued(struct block_file *file, struct error *err)
{
    int fd = memfd_create("prof-spool", MFD_CLOEXEC);
    int code = fd < 0 ? -errno : file_write(fd, BLOCK_FILE_MAGIC, BLOCK_FILE_MAGIC_SIZE);
    while (!code && block_file_has_queued(file)) {
        struct queued_block *block = &file->waiting.data[file->first_queued];
        if (block->payload)
            code = write_block(fd, block->kind, block->payload, block->size);
        if (!code)
            drop_queue(file, block);
    }
    if (!code)
        return fd;
    if (fd >= 0)
        close(fd);
    return error_set(err, -code, "cannot store the rest of the recording in memory: %s", strerror(-code));
}

/* ---- a flight recorder ---- */

static void free_slot(struct block_file *file, struct block_slot *slot)
{
    unsigned char kind = BLOCK_FREE_SLOT;
    if (pwrite(file->fd, &kind, 1, (off_t)slot->offset) == 1)
        file->samples -= slot->span.samples;
    slot->used = false;
}

/* Frees the slot with the previous version of the chunk being filled. Its samples no longer count. */
static void free_superseded_slot(struct block_file *file)
{
    if (file->superseded != SIZE_MAX)
        free_slot(file, &file->slots.data[file->superseded]);
    file->superseded = SIZE_MAX;
}

/* Returns the used slot with the oldest samples, except those of the chunk being filled, or NULL for none. */
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
    fill_header(header, BLOCK_FREE_SLOT, SLOT_SIZE, 0);
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
    write_fixed(payload, file->sequence, 8);
    write_fixed(payload + 8, ++file->version, 8);
    write_fixed(payload + 16, file->events_end, 8);
    write_fixed(payload + 24, size, 4);
    memcpy(payload + SLOT_HEADER, chunk, size);
    fill_header(bytes, BLOCK_SLOT, SLOT_SIZE, compute_block_checksum(BLOCK_SLOT, payload, SLOT_HEADER + size));
    size_t total = BLOCK_HEADER + SLOT_HEADER + size;
    for (size_t done = 0; done < total;) {
        ssize_t got = pwrite(file->fd, bytes + done, total - done, (off_t)(slot->offset + done));
        if (got < 0 && errno != EINTR)
            return -errno;
        done += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

/* Writes the chunk to a slot. On a full disk it replaces the oldest chunk; without an older chunk, drops the new
 * one. */
static int replace_chunk(struct block_file *file, const void *chunk, size_t size, const struct chunk_span *span,
                         struct error *err)
{
    size_t index = 0;
    free_superseded_slot(file);
    free_slots_beyond_limits(file, span->last, 1);
    int code = find_free_slot(file, &index);
    struct block_slot *oldest = is_full(code) ? find_oldest_slot(file) : NULL;
    if (oldest) {
        free_slot(file, oldest);
        code = find_free_slot(file, &index);
    }
    if (!code)
        code = write_slot(file, &file->slots.data[index], chunk, size);
    if (is_full(code)) {
        extend_span(&file->dropped, span);
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

void block_file_end_chunk(struct block_file *file)
{
    file->newest = SIZE_MAX;
    file->sequence++;
}

/* ---- compacting the events of a flight recorder ---- */

/* A flight recorder compacts its events when they exceed MANY_EVENTS bytes and one MANY_EVENTS_PART-th of the bytes of
 * its chunks: compacting copies all chunks. */
enum { MANY_EVENTS = 256 << 10, MANY_EVENTS_PART = 4 };

bool block_file_has_many_events(const struct block_file *file)
{
    uint64_t many = file->slots.length * (uint64_t)SLOT_SIZE / MANY_EVENTS_PART;
    if (many < MANY_EVENTS)
        many = MANY_EVENTS;
    if (many < file->many_events)
        many = file->many_events;
    return block_file_is_flight_recorder(file) && !block_file_has_queued(file) && file->event_bytes > many;
}

void block_file_find_oldest_chunk(const struct block_file *file, uint64_t *sequence, uint64_t *time)
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

bool block_file_read_events(struct block_file *file, unsigned char **bytes, size_t *size)
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
    write_fixed(payload + 16, to->events_end, 8);
    uint32_t size = read_u32(payload + 24);
    if (size > CHUNK_SIZE)
        return -EIO;
    memset(payload + SLOT_HEADER + size, 0, CHUNK_SIZE - size);
    fill_header(bytes, BLOCK_SLOT, SLOT_SIZE, compute_block_checksum(BLOCK_SLOT, payload, SLOT_HEADER + size));
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

int block_file_replace_events(struct block_file *file, const void *events, size_t size, struct error *err)
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

/* ---- the file ---- */

static int create_file(struct block_file *file, struct error *err)
{
    file->fd = open(file->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file->fd < 0)
        return error_set(err, errno, "cannot create %s: %s", file->path, strerror(errno));
    file_give_to_sudo_user(file->fd, file->path);
    flock(file->fd, LOCK_EX | LOCK_NB); /* the kernel releases the lock when the recorder exits or is killed */
    int code = file_write(file->fd, BLOCK_FILE_MAGIC, BLOCK_FILE_MAGIC_SIZE);
    if (!code) {
        file->bytes = file->events_end = BLOCK_FILE_MAGIC_SIZE;
        if (block_file_is_flight_recorder(file))
            code = append_block(file, BLOCK_FLIGHT_RECORDER, "", 0, 0);
    }
    if (!code) {
        file->sync = file_sync_begin(file->fd, file->path);
        return 0;
    }
    unlink(file->path);
    return report_write_error(file, code, err);
}

int block_file_create(struct block_file *file, const char *path, uint64_t keep_bytes, uint64_t keep_ns,
                      struct error *err)
{
    *file = (struct block_file){
        .fd = -1, .keep_bytes = keep_bytes, .keep_ns = keep_ns, .newest = SIZE_MAX, .superseded = SIZE_MAX};
    file->path = strdup(path);
    return file->path ? create_file(file, err) : error_no_memory(err);
}

int block_file_add_events(struct block_file *file, const void *bytes, size_t size, struct error *err)
{
    return append_or_queue(file, BLOCK_EVENTS, bytes, size, NULL, err);
}

int block_file_add_chunk(struct block_file *file, const void *bytes, size_t size, const struct chunk_span *span,
                         struct error *err)
{
    if (block_file_is_flight_recorder(file))
        return replace_chunk(file, bytes, size, span, err);
    return append_or_queue(file, BLOCK_SAMPLES, bytes, size, span, err);
}

int block_file_sync(struct block_file *file, struct error *err)
{
    int code = file_sync_request(file->sync);
    return code ? report_write_error(file, code, err) : 0;
}

int block_file_close(struct block_file *file, struct error *err)
{
    int code = 0;
    file_sync_end(file->sync);
    if (file->fd >= 0) {
        truncate_to_last_block(file);
        if (close(file->fd) < 0)
            code = report_write_error(file, -errno, err);
    }
    for (size_t i = file->first_queued; i < file->waiting.length; i++)
        free(file->waiting.data[i].payload);
    array_free(&file->waiting);
    array_free(&file->slots);
    free(file->path);
    *file = (struct block_file){.fd = -1};
    return code;
}
