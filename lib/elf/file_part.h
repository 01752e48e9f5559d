/*
 * A range of bytes that stays where it was read.
 *
 * The CFI of a large program has megabytes, of which a recording needs a few hundred KiB. A part reserves address space
 * for the whole range, and reads blocks of 16 KiB on request. It reads with pread() into private memory, because a
 * mapped file that another process truncates kills the reader with SIGBUS, and a file system with a mapped file cannot
 * be unmounted. Unlike a window (elf/bytes.h) it keeps the blocks: FDEs and CIEs are pointers into them. If the file
 * cannot be opened again, it sets `lost` in its source.
 */
#pragma once

#include "elf/bytes.h"

enum { FILE_PART_BLOCK_BITS = 14 };

/* No CFI section and no image is larger; a file that claims so is damaged. */
#define FILE_PART_MAX (UINT64_C(1) << 30)

/* Limit: no program needs more CFI in memory; a larger file is hostile. */
#define FILE_PART_READ_MAX ((size_t)64 << 20)

struct file_part {
    unsigned char *bytes; /* the whole part; valid where blocks were read */
    size_t size;
    size_t left;           /* bytes that may still be read */
    unsigned char *blocks; /* enum block_state of each block; NULL: all blocks are present */
    size_t reserved;       /* bytes reserved for `bytes`; 0: `bytes` is borrowed */
    struct bytes source;
};

/* Reserves address space for `bytes`, whose file or memory must outlive the part, and reads nothing. Returns false
 * and leaves an empty part if the range is empty or larger than FILE_PART_MAX, or if memory ran out. */
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
