/*
 * A range of file bytes at fixed addresses in memory, read block by block on request.
 *
 * A large program has megabytes of CFI, and a recording needs a few hundred KiB. A part reserves address space for the
 * whole range, and reads blocks of 16 KiB on request. A part reads with pread() into private memory, because a mapped
 * file that another process truncates kills the reader with SIGBUS, and a file system with a mapped file cannot be
 * unmounted. Unlike a window (elf/bytes.h), a part keeps all blocks that it read, because FDEs and CIEs are pointers
 * into these blocks. If the file cannot be reopened, the part sets `lost` in the file source.
 */
#pragma once

#include "elf/bytes.h"

enum { FILE_PART_BLOCK_BITS = 14 };

/* Limit of one part, in bytes. No CFI section and no image of a real file is larger. */
#define FILE_PART_MAX (UINT64_C(1) << 30)

/* Limit of bytes that all parts read. No real program needs more CFI in memory. */
#define FILE_PART_READ_MAX ((size_t)64 << 20)

struct file_part {
    unsigned char *bytes; /* all bytes of the part; only read blocks are valid */
    size_t size;
    size_t left;           /* remaining bytes that may be read */
    unsigned char *blocks; /* enum block_state of each block, or NULL if all blocks are present */
    size_t reserved;       /* bytes of address space reserved for `bytes`, or 0 (`bytes` is borrowed) */
    struct bytes source;
};

/* Reserves address space for `bytes`, whose file or memory must outlive the part, and reads nothing. Returns false
 * and leaves an empty part if the range is empty or larger than FILE_PART_MAX, or if memory ran out. */
bool file_part_open(struct file_part *part, const struct bytes *bytes);

/* Reads the blocks of the `size` bytes (at least 1) at `offset`, which lie inside the part. file_part_get_bytes() calls
 * this function. */
bool file_part_read(struct file_part *part, size_t offset, size_t size);

void file_part_close(struct file_part *part);

/* Returns `size` bytes at `offset` of the part, or NULL if some lie outside of the part or cannot be read. Valid until
 * close. */
static inline const unsigned char *file_part_get_bytes(struct file_part *part, uint64_t offset, uint64_t size)
{
    if (offset > part->size || size > part->size - offset)
        return NULL;
    if (part->blocks && size > 0 && !file_part_read(part, (size_t)offset, (size_t)size))
        return NULL;
    return part->bytes + offset;
}
