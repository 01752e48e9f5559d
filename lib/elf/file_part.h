/*
 * A range of bytes that stays where it was read.
 *
 * The CFI of a large program is megabytes, of which a recording touches a few hundred KiB. A part reserves address
 * space for all of it and reads blocks of 16 KiB as they are asked for. It reads with pread() into private memory
 * rather than mapping the file, because a mapped file that somebody truncates meanwhile kills the reader with SIGBUS,
 * and a file system with a mapped file cannot be unmounted. Unlike a window (elf/bytes.h) it keeps what it read: FDEs
 * and CIEs are pointers into it. If the file cannot be opened again, it says so in the `lost` of its source.
 */
#pragma once

#include "elf/bytes.h"

enum { FILE_PART_BLOCK_BITS = 14 };

/* No CFI section and no image is larger; a file that claims so is damaged. */
#define FILE_PART_MAX (UINT64_C(1) << 30)

/* No program needs as much CFI in memory; a file that makes the walker read more is hostile. */
#define FILE_PART_READ_MAX ((size_t)64 << 20)

struct file_part {
    unsigned char *bytes; /* the whole part; valid where it was asked for */
    size_t size;
    size_t left;           /* bytes that may still be read */
    unsigned char *blocks; /* enum block_state of each block; NULL: all of it is there */
    size_t reserved;       /* bytes of the reservation behind `bytes`; 0: `bytes` belongs to somebody else */
    struct bytes source;
};

/* Reserves room for `bytes`, whose file or memory must outlive the part, and reads nothing. Returns false and leaves an
 * empty part if there are no bytes or more than FILE_PART_MAX, or if memory ran out. */
bool file_part_open(struct file_part *part, const struct bytes *bytes);

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
