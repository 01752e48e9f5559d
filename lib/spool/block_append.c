#include "spool/block_append.h"

#include "base/checksum.h"
#include "os/file_io.h"

#include <fcntl.h>
#include <unistd.h>

/* Disk space (bytes) that the assembler needs: minimum, and per sample. */
enum { PROFILE_MIN = 16 * 1024, PROFILE_SAMPLE = 24 };

void write_fixed_size_number(unsigned char *out, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        out[i] = (unsigned char)(value >> (8 * i));
}

int report_write_error(const struct block_file *file, int code, struct error *err)
{
    return error_set(err, -code, "cannot write to %s: %s", file->path, strerror(-code));
}

bool is_disk_full(int code)
{
    return code == -ENOSPC || code == -EDQUOT || code == -EFBIG;
}

int reserve_room(struct block_file *file, uint64_t size, uint64_t samples)
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

void truncate_to_last_block(struct block_file *file)
{
    if (ftruncate(file->fd, (off_t)file->bytes) == 0)
        file->reserved = 0;
    lseek(file->fd, (off_t)file->bytes, SEEK_SET);
}

uint32_t compute_block_checksum(enum block_kind kind, const void *payload, size_t size)
{
    return (uint32_t)checksum_mix(checksum_bytes(payload, size), kind);
}

void fill_block_header(unsigned char *header, enum block_kind kind, size_t size, uint32_t checksum)
{
    header[0] = (unsigned char)kind;
    write_fixed_size_number(header + 1, size, 4);
    write_fixed_size_number(header + 5, checksum, 4);
}

int write_block(int fd, enum block_kind kind, const void *payload, size_t size)
{
    unsigned char header[BLOCK_HEADER];
    fill_block_header(header, kind, size, compute_block_checksum(kind, payload, size));
    int code = file_write(fd, header, sizeof(header));
    return code ? code : file_write(fd, payload, size);
}

int append_block(struct block_file *file, enum block_kind kind, const void *payload, size_t size, uint64_t samples)
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

void extend_chunk_span(struct chunk_span *sum, const struct chunk_span *span)
{
    if (!sum->samples || span->first < sum->first)
        sum->first = span->first;
    if (span->last > sum->last)
        sum->last = span->last;
    sum->samples += span->samples;
    sum->cpu_samples += span->cpu_samples;
}
