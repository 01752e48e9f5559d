/*
 * The headers of an open ELF file as plain data: its segments, sections and build id. elf_file.h fills them in. The
 * readers of tables and of PT_DYNAMIC need only these headers.
 */
#pragma once

#include <elf.h>

#include "base/array.h"
#include "elf/bytes.h"

enum { ELF_BUILD_ID_MAX = 64 };

struct elf_segment { /* a program header */
    uint32_t type, flags;
    uint64_t address, offset, file_size;
};

struct elf_section {
    const char *name;
    uint32_t type, link;
    uint64_t flags, address, alignment, entry_size;
    uint64_t size;      /* size in memory; of a compressed section, size in the file */
    struct bytes bytes; /* bytes in the file; none for SHT_NOBITS, or if the section lies outside of the file */
};

struct elf_file {
    struct bytes bytes;         /* the whole file */
    struct file_source *source; /* NULL for an image in memory, which must outlive the struct */
    unsigned char *owned_image; /* freed with the file, or NULL */
    bool is_64, is_big_endian;
    uint16_t type, machine;
    uint64_t entry;
    ARRAY(struct elf_segment) segments; /* segments in the order of the file */
    ARRAY(struct elf_section) sections;
    char *section_names;
    int section_cache;      /* borrowed descriptor of the directory for decompressed sections (os/directory.h), or 0 */
    bool is_truncated;      /* the file ends before its section headers */
    bool are_sections_made; /* no section headers: `sections` were made from the segments (elf_dynamic.h) */
    bool has_load;
    uint64_t base; /* vaddr of the first PT_LOAD, from which library-relative addresses count */
    unsigned char build_id[ELF_BUILD_ID_MAX];
    size_t build_id_size; /* 0: none */
};

/* Returns the PT_LOAD whose bytes in the file contain this vaddr, or NULL. */
static inline const struct elf_segment *elf_file_find_segment(const struct elf_file *file, uint64_t address)
{
    for (size_t i = 0; i < file->segments.length; i++) {
        const struct elf_segment *segment = &file->segments.data[i];
        if (segment->type == PT_LOAD && address >= segment->address && address - segment->address < segment->file_size)
            return segment;
    }
    return NULL;
}

/* Returns the bytes of the file that are loaded at this vaddr, up to the end of the segment. */
static inline struct bytes elf_file_get_bytes_at(const struct elf_file *file, uint64_t address)
{
    const struct elf_segment *segment = elf_file_find_segment(file, address);
    uint64_t at = segment ? address - segment->address : 0;
    if (!segment || segment->offset > UINT64_MAX - at)
        return (struct bytes){0};
    return bytes_get_part(&file->bytes, segment->offset + at, segment->file_size - at);
}
