/*
 * ELF-64 program headers and GNU notes (System V gABI, chapters 4 and 5; the build id note has type 3 and owner "GNU").
 */
#include "record/elf_file.h"

#include "base/cursor.h"

#include <elf.h>
#include <stdlib.h>
#include <unistd.h>

enum { PROGRAM_HEADERS_MAX = 512, NOTES_MAX = 64 * 1024, PAGE = 4096 };

static bool read_at(int fd, uint64_t offset, void *out, size_t size)
{
    return offset <= INT64_MAX && pread(fd, out, size, (off_t)offset) == (ssize_t)size;
}

static size_t align4(size_t size)
{
    return (size + 3) & ~(size_t)3;
}

size_t elf_notes_build_id(const void *notes, size_t size, unsigned char *build_id, size_t max)
{
    struct cursor c = cursor_of(notes, size);
    while (cursor_left(&c)) {
        uint32_t name_size = cursor_u32(&c), id_size = cursor_u32(&c), type = cursor_u32(&c);
        const unsigned char *name = cursor_bytes(&c, align4(name_size));
        const unsigned char *id = cursor_bytes(&c, id_size);
        if (!name || !id)
            return 0;
        if (type == NT_GNU_BUILD_ID && name_size == 4 && !memcmp(name, "GNU", 4)) {
            if (id_size > max)
                return 0;
            memcpy(build_id, id, id_size);
            return id_size;
        }
        cursor_bytes(&c, align4(id_size) - id_size);
    }
    return 0;
}

static void read_notes(int fd, uint64_t offset, uint64_t size, struct elf_file *elf)
{
    if (elf->build_id_size || size > NOTES_MAX)
        return;
    unsigned char *notes = malloc(size ? size : 1);
    if (notes && read_at(fd, offset, notes, size))
        elf->build_id_size = elf_notes_build_id(notes, size, elf->build_id, sizeof(elf->build_id));
    free(notes);
}

static void read_program_header(int fd, struct cursor c, struct elf_file *elf, bool *has_base)
{
    uint32_t type = cursor_u32(&c), flags = cursor_u32(&c);
    uint64_t offset = cursor_u64(&c), vaddr = cursor_u64(&c);
    cursor_u64(&c); /* physical address */
    uint64_t size = cursor_u64(&c);
    if (type == PT_LOAD && !*has_base) {
        elf->base = vaddr;
        *has_base = true;
    }
    if (type == PT_LOAD && flags & PF_X && elf->segment_count < ELF_FILE_SEGMENTS_MAX)
        elf->segments[elf->segment_count++] = (struct elf_segment){.offset = offset, .vaddr = vaddr, .size = size};
    if (type == PT_NOTE)
        read_notes(fd, offset, size, elf);
}

bool elf_file_read(int fd, struct elf_file *elf)
{
    unsigned char head[sizeof(Elf64_Ehdr)];
    memset(elf, 0, sizeof(*elf));
    if (!read_at(fd, 0, head, sizeof(head)) || memcmp(head, ELFMAG, SELFMAG) || head[EI_CLASS] != ELFCLASS64 ||
        head[EI_DATA] != ELFDATA2LSB)
        return false;
    struct cursor c = cursor_of(head, sizeof(head));
    cursor_bytes(&c, offsetof(Elf64_Ehdr, e_phoff));
    uint64_t headers_offset = cursor_u64(&c);
    cursor_bytes(&c, offsetof(Elf64_Ehdr, e_phentsize) - offsetof(Elf64_Ehdr, e_shoff));
    size_t header_size = cursor_u16(&c), header_count = cursor_u16(&c);
    if (header_size < sizeof(Elf64_Phdr) || header_size > 4 * sizeof(Elf64_Phdr) || header_count > PROGRAM_HEADERS_MAX)
        return false;

    size_t size = header_size * header_count;
    unsigned char *headers = malloc(size ? size : 1);
    bool readable = headers && read_at(fd, headers_offset, headers, size), has_base = false;
    for (size_t i = 0; readable && i < header_count; i++)
        read_program_header(fd, cursor_of(headers + i * header_size, header_size), elf, &has_base);
    free(headers);
    return readable;
}

uint64_t elf_file_rva(const struct elf_file *elf, uint64_t file_offset)
{
    for (size_t i = 0; i < elf->segment_count; i++) {
        const struct elf_segment *segment = &elf->segments[i];
        /* mmap takes whole pages, so a mapping begins up to a page before its segment. */
        uint64_t first_page = segment->offset & ~(uint64_t)(PAGE - 1);
        if (file_offset >= first_page && file_offset - first_page < segment->size + (segment->offset - first_page))
            return file_offset - segment->offset + segment->vaddr - elf->base;
    }
    return file_offset;
}
