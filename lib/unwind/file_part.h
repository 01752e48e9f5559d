/*
 * A part of a file, read when it is first needed.
 *
 * The CFI of a large program is megabytes, of which a recording touches a few hundred KiB. A part reserves address
 * space for all of it and reads blocks of 16 KiB as they are asked for. It reads with pread() into private memory
 * rather than mapping the file, because a mapped file that somebody truncates meanwhile kills the reader with SIGBUS,
 * and a file system with a mapped file cannot be unmounted.
 */
#ifndef PROF_UNWIND_FILE_PART_H
#define PROF_UNWIND_FILE_PART_H

#include "base/error.h"
#include "base/file_source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FILE_PART_BLOCK_BITS = 14 };

/* No CFI section and no image is larger; a file that claims so is damaged. */
#define FILE_PART_MAX (UINT64_C(1) << 30)

struct file_part {
    unsigned char *bytes; /* the whole part; valid where it was asked for */
    size_t size;
    unsigned char *blocks; /* enum block_state of each block; NULL: all of it is there */
    size_t reserved;       /* bytes of the reservation behind `bytes`; 0: `bytes` belongs to somebody else */
    uint64_t file_offset;
    struct file_source *file; /* borrowed */
};

/* Reserves room for `size` bytes at `file_offset` of `file`, which must outlive the part. Reads nothing. */
int file_part_open(struct file_part *part, struct file_source *file, uint64_t file_offset, uint64_t size,
                   struct error *err);

/* A part of bytes that are in memory already and outlive the part. */
void file_part_of_memory(struct file_part *part, const unsigned char *bytes, size_t size);

/* Reads what is missing of the whole part; false if the file has become too short or unreadable. */
bool file_part_read_all(struct file_part *part);

/* Reads the blocks that hold `size` bytes at `offset` (which lie inside the part, size > 0). For file_part_at(). */
bool file_part_read(struct file_part *part, size_t offset, size_t size);

void file_part_close(struct file_part *part);

/* `size` bytes at `offset` of the part, or NULL if they are not all inside it or cannot be read. Valid until close. */
static inline const unsigned char *file_part_at(struct file_part *part, uint64_t offset, uint64_t size)
{
    if (offset > part->size || size > part->size - offset)
        return NULL;
    if (part->blocks && size > 0 && !file_part_read(part, (size_t)offset, (size_t)size))
        return NULL;
    return part->bytes + offset;
}

#endif
