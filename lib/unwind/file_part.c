#include "unwind/file_part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum block_state { BLOCK_MISSING, BLOCK_READ, BLOCK_UNREADABLE };

static const size_t block_size = (size_t)1 << FILE_PART_BLOCK_BITS;

int file_part_open(struct file_part *part, struct file_source *file, uint64_t file_offset, uint64_t size,
                   struct error *err)
{
    *part = (struct file_part){.file = file, .file_offset = file_offset};
    if (size > FILE_PART_MAX || file_offset > INT64_MAX - size)
        return error_set(err, EFBIG, "%" PRIu64 " bytes at offset %" PRIu64 " are too large to be true", size,
                         file_offset);
    if (size == 0)
        return 0;
    size_t block_count = ((size_t)size + block_size - 1) >> FILE_PART_BLOCK_BITS;
    unsigned char *blocks = calloc(block_count, 1);
    void *reserved = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!blocks || reserved == MAP_FAILED) {
        free(blocks);
        if (reserved != MAP_FAILED)
            munmap(reserved, size);
        return error_no_memory(err);
    }
    part->bytes = reserved;
    part->size = part->reserved = (size_t)size;
    part->blocks = blocks;
    return 0;
}

void file_part_of_memory(struct file_part *part, const unsigned char *bytes, size_t size)
{
    *part = (struct file_part){.bytes = (unsigned char *)(uintptr_t)bytes, .size = size};
}

static bool read_block(struct file_part *part, size_t block)
{
    size_t start = block << FILE_PART_BLOCK_BITS;
    size_t size = part->size - start < block_size ? part->size - start : block_size;
    ssize_t got = file_source_read_at(part->file, part->bytes + start, size, part->file_offset + start);
    bool done = got == (ssize_t)size;
    if (got < 0)
        part->file->lost = (int)got;
    part->blocks[block] = done ? BLOCK_READ : BLOCK_UNREADABLE;
    return done;
}

bool file_part_read(struct file_part *part, size_t offset, size_t size)
{
    size_t last = (offset + size - 1) >> FILE_PART_BLOCK_BITS;
    for (size_t block = offset >> FILE_PART_BLOCK_BITS; block <= last; block++)
        if (part->blocks[block] != BLOCK_READ && (part->blocks[block] == BLOCK_UNREADABLE || !read_block(part, block)))
            return false;
    return true;
}

bool file_part_read_all(struct file_part *part)
{
    if (part->blocks) {
        if (!file_part_read(part, 0, part->size))
            return false;
        free(part->blocks);
        part->blocks = NULL;
    }
    return true;
}

void file_part_close(struct file_part *part)
{
    if (part->reserved)
        munmap(part->bytes, part->reserved);
    free(part->blocks);
    *part = (struct file_part){0};
}
