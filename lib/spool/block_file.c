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
 * higher version number. The writer frees the slot of the previous version one round later, when the disk holds the
 * newer version. So neither a kill of the recorder nor a power failure loses samples that were in the file. All slots
 * have the same size, so samples no longer enlarge a file that has reached its size limit. When the file has many
 * events, the recorder writes a new file with only the events that the samples need (spool_compact.h). The new file
 * replaces the old one after its sync to the disk.
 *
 * The assembler needs disk space beyond the spool: a temporary file of 16 bytes per sample, and the profile. So the
 * recorder reserves disk space behind the end of the file. If the file system refuses the reservation, the disk counts
 * as full. Closing the file releases the reservation.
 */
#include "spool/block_file.h"

#include "os/file_io.h"
#include "os/file_output.h"
#include "spool/block_append.h"
#include "spool/block_slots.h"
#include "spool/file_sync.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- a full disk ---- */

/* Drops the oldest queued samples while the queue exceeds `most` bytes. */
static void drop_oldest_queued(struct block_file *file, uint64_t most)
{
    for (size_t i = file->first_queued; i < file->waiting.length && file->queued_bytes > most; i++) {
        struct queued_block *block = &file->waiting.data[i];
        if (block->kind != BLOCK_SAMPLES || !block->payload)
            continue;
        extend_chunk_span(&file->dropped, &block->span);
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
        if (is_disk_full(code))
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
    if (is_disk_full(code))
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
        return block_slots_replace_chunk(file, bytes, size, span, err);
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
