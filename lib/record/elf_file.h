/*
 * What the recorder needs to know of a mapped file: its build id, which tells whether a file is still the one that was
 * mapped, and where its code belongs, which turns file offsets into library-relative addresses.
 */
#ifndef PROF_RECORD_ELF_FILE_H
#define PROF_RECORD_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ELF_FILE_BUILD_ID_MAX = 64, ELF_FILE_SEGMENTS_MAX = 16 };

struct elf_segment {
    uint64_t offset, vaddr, size; /* of a PT_LOAD with execute permission: bytes in the file */
};

struct elf_file {
    unsigned char build_id[ELF_FILE_BUILD_ID_MAX];
    size_t build_id_size; /* 0: none */
    uint64_t base;        /* vaddr of the first PT_LOAD: rvas count from it */
    struct elf_segment segments[ELF_FILE_SEGMENTS_MAX];
    size_t segment_count;
};

/* Reads the program headers of a 64-bit little-endian ELF file. False if it is not one or is damaged. */
bool elf_file_read(int fd, struct elf_file *elf);

/* The library-relative address of the page at `file_offset`, as mmap was given it. Without a segment that holds it, the
 * offset itself, which is the same in most files. */
uint64_t elf_file_rva(const struct elf_file *elf, uint64_t file_offset);

/* Finds the GNU build id in the bytes of a note section. Returns its size, 0 if there is none; at most `max` bytes. */
size_t elf_notes_build_id(const void *notes, size_t size, unsigned char *build_id, size_t max);

#endif
