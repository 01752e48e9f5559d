/*
 * The headers of an open ELF file as plain data: its segments, sections and build id. elf_file.h fills them in; the
 * readers of tables and of PT_DYNAMIC need nothing else.
 */
#pragma once

#include "base/array.h"
#include "elf/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ELF_BUILD_ID_MAX = 64 };

struct elf_segment { /* a program header */
    uint32_t type, flags;
    uint64_t address, offset, file_size;
};

struct elf_section {
    const char *name;
    uint32_t type, link;
    uint64_t flags, address, alignment, entry_size;
    uint64_t size;      /* in memory; of a compressed section: in the file */
    struct bytes bytes; /* in the file; empty for SHT_NOBITS, and if the section does not lie inside the file */
};

struct elf_file {
    struct bytes bytes;         /* the whole file */
    struct file_source *source; /* NULL: an image in memory, which must outlive this */
    unsigned char *owned_image; /* freed with the file; NULL */
    bool is_64, is_big_endian;
    uint16_t type, machine;
    uint64_t entry;
    ARRAY(struct elf_segment) segments; /* in the order of the file */
    ARRAY(struct elf_section) sections;
    char *section_names;
    int kept_sections;      /* directory for decompressed sections (os/directory.h); 0: none. Borrowed
                             */
    bool is_cut;            /* it ends before its section headers */
    bool are_sections_made; /* no section headers: `sections` come from its segments (elf_dynamic.h) */
    bool has_load;
    uint64_t base; /* vaddr of the first PT_LOAD: library-relative addresses count from it */
    unsigned char build_id[ELF_BUILD_ID_MAX];
    size_t build_id_size; /* 0: none */
};
