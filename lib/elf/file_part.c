#include "elf/file_part.h"

#include <sys/mman.h>

enum block_state { BLOCK_MISSING, BLOCK_READ, BLOCK_UNREADABLE };

static const size_t block_size = (size_t)1 << FILE_PART_BLOCK_BITS;

bool file_part_open(struct file_part *part, const struct bytes *bytes)
{
    *part = (struct file_part){0};
    if (bytes->size == 0 || bytes->size > FILE_PART_MAX)
        return false;
    size_t size = (size_t)bytes->size;
    if (bytes->memory) {
        *part = (struct file_part){.bytes = (unsigned char *)(uintptr_t)bytes->memory, .size = size};
        return true;
    }
    size_t block_count = (size + block_size - 1) >> FILE_PART_BLOCK_BITS;
    unsigned char *blocks = calloc(block_count, 1);
    void *reserved = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (blocks && reserved != MAP_FAILED) {
        *part = (struct file_part){.bytes = reserved,
                                   .size = size,
                                   .reserved = size,
                                   .blocks = blocks,
                                   .source = *bytes,
                                   .left = FILE_PART_READ_MAX};
        return true;
    }
    free(blocks);
    if (reserved != MAP_FAILED)
        munmap(reserved, size);
    return false;
}

static bool read_block(struct file_part *part, size_t block)
{
    size_t start = block << FILE_PART_BLOCK_BITS;
    size_t size = part->size - start < block_size ? part->size - start : block_size;
    if (size > part->left)
        return false;
    part->left -= size;
    ssize_t got = file_source_read_at(part->source.source, part->bytes + start, size, part->source.offset + start);
    bool done = got == (ssize_t)size;
    if (got < 0)
        part->source.source->lost = (int)got;
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

void file_part_close(struct file_part *part)
{
    if (part->reserved)
        munmap(part->bytes, part->reserved);
    free(part->blocks);
    *part = (struct file_part){0};
}
