/* The C library of the test itself, as a file and where it is mapped. */
#pragma once

#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct c_library {
    const unsigned char *start, *end; /* of its code */
    uint64_t load_address;
    char path[256];
};

static inline int note_c_library(struct dl_phdr_info *info, size_t size, void *context)
{
    struct c_library *library = context;
    (void)size;
    if (!strstr(info->dlpi_name, "/libc.so"))
        return 0;
    snprintf(library->path, sizeof(library->path), "%s", info->dlpi_name);
    library->load_address = info->dlpi_addr;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
            continue;
        library->start = (const unsigned char *)(uintptr_t)(info->dlpi_addr + header->p_vaddr);
        library->end = library->start + header->p_filesz;
    }
    return 1;
}

static inline bool c_library_find(struct c_library *library)
{
    *library = (struct c_library){0};
    return dl_iterate_phdr(note_c_library, library);
}
