/*
 * Reading ELF headers. Every size and offset comes from the file and may lie: what does not lie inside the file is
 * treated as not there, and whatever is read later goes through `struct bytes`, which knows its end.
 */
#include "symbol/elf_file.h"

#include "base/elf_note.h"
#include "base/file_io.h"
#include "symbol/elf_relocate.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#ifndef ELFCOMPRESS_ZSTD /* glibc 2.36 and older do not know it */
#define ELFCOMPRESS_ZSTD 2
#endif

/* More sections or segments than any real file has; the ELF header has 16 bits for either. Each note may be large, and
 * a hostile file can name the same bytes a million times, so only the first few are looked at. */
enum { HEADERS_MAX = 1 << 20, NOTES_MAX = 64 };

struct header_table {
    uint64_t offset;
    uint64_t count;
    uint16_t entry_size;
};

struct elf_header {
    struct header_table segments, sections;
    uint32_t names_section;
};

static uint64_t read_word(const struct elf_file *file, struct cursor *c)
{
    return file->is_64 ? cursor_u64(c) : cursor_u32(c);
}

static int not_readable(struct error *err, const char *name, const char *why)
{
    return error_set(err, EINVAL, "%s is not an ELF file that can be read: %s", name, why);
}

static int read_header(struct elf_file *file, const char *name, struct elf_header *header, struct error *err)
{
    unsigned char raw[64] = {0};
    size_t size = file->bytes.size < sizeof(raw) ? (size_t)file->bytes.size : sizeof(raw);
    if (size < 52 || !bytes_read(&file->bytes, 0, raw, size) || memcmp(raw, ELFMAG, SELFMAG) != 0)
        return not_readable(err, name, "it does not begin with an ELF header");
    if (raw[EI_CLASS] != ELFCLASS32 && raw[EI_CLASS] != ELFCLASS64)
        return not_readable(err, name, "it is neither a 32-bit nor a 64-bit one");
    if (raw[EI_DATA] != ELFDATA2LSB)
        return not_readable(err, name, "it is big-endian");
    file->is_64 = raw[EI_CLASS] == ELFCLASS64;
    struct cursor c = cursor_of(raw, size);
    cursor_bytes(&c, EI_NIDENT);
    file->type = cursor_u16(&c);
    file->machine = cursor_u16(&c);
    cursor_u32(&c);      /* e_version */
    read_word(file, &c); /* e_entry */
    header->segments.offset = read_word(file, &c);
    header->sections.offset = read_word(file, &c);
    cursor_u32(&c); /* e_flags */
    cursor_u16(&c); /* e_ehsize */
    header->segments.entry_size = cursor_u16(&c);
    header->segments.count = cursor_u16(&c);
    header->sections.entry_size = cursor_u16(&c);
    header->sections.count = cursor_u16(&c);
    header->names_section = cursor_u16(&c);
    if (c.failed)
        return not_readable(err, name, "its ELF header is cut off");
    return 0;
}

static struct cursor load_table(const struct elf_file *file, const struct header_table *table, size_t minimum,
                                unsigned char **owned)
{
    *owned = NULL;
    if (table->count == 0 || table->count > HEADERS_MAX || table->entry_size < minimum)
        return (struct cursor){0};
    struct bytes part = bytes_part(&file->bytes, table->offset, table->count * table->entry_size);
    *owned = bytes_load(&part);
    return *owned ? cursor_of(*owned, (size_t)part.size) : (struct cursor){0};
}

static void take_build_id(struct elf_file *file, const struct bytes *notes, unsigned *notes_left)
{
    if (file->build_id_size || notes->size > 1 << 20 || *notes_left == 0)
        return;
    --*notes_left;
    unsigned char *raw = bytes_load(notes);
    size_t size;
    const unsigned char *id =
        raw ? elf_note_find(raw, (size_t)notes->size, ELF_NOTE_GNU, NT_GNU_BUILD_ID, &size) : NULL;
    if (id && size <= ELF_BUILD_ID_MAX) {
        memcpy(file->build_id, id, size);
        file->build_id_size = size;
    }
    free(raw);
}

static void read_segments(struct elf_file *file, const struct header_table *table)
{
    unsigned char *owned;
    unsigned notes_left = NOTES_MAX;
    struct cursor all = load_table(file, table, file->is_64 ? 56 : 32, &owned);
    while (cursor_left(&all) >= table->entry_size && table->entry_size) {
        struct cursor c = cursor_of(cursor_bytes(&all, table->entry_size), table->entry_size);
        uint32_t type = cursor_u32(&c);
        if (file->is_64)
            cursor_u32(&c); /* p_flags */
        uint64_t offset = read_word(file, &c), address = read_word(file, &c);
        read_word(file, &c); /* p_paddr */
        uint64_t size = read_word(file, &c);
        if (type == PT_LOAD && !file->has_load) {
            file->has_load = true;
            file->base = address;
        } else if (type == PT_NOTE) {
            struct bytes notes = bytes_part(&file->bytes, offset, size);
            take_build_id(file, &notes, &notes_left);
        }
    }
    free(owned);
}

struct raw_section {
    uint32_t name;
    uint64_t offset;
};

static struct elf_section read_section(const struct elf_file *file, struct cursor *c, struct raw_section *raw)
{
    struct elf_section section = {.name = ""};
    raw->name = cursor_u32(c);
    section.type = cursor_u32(c);
    section.flags = read_word(file, c);
    section.address = read_word(file, c);
    raw->offset = read_word(file, c);
    section.size = read_word(file, c);
    section.link = cursor_u32(c);
    cursor_u32(c); /* sh_info */
    section.alignment = read_word(file, c);
    section.entry_size = read_word(file, c);
    section.bytes = (struct bytes){.fd = -1};
    bool inside = raw->offset <= file->bytes.size && section.size <= file->bytes.size - raw->offset;
    if (section.type != SHT_NOBITS && section.type != SHT_NULL && inside && section.size)
        section.bytes = bytes_part(&file->bytes, raw->offset, section.size);
    return section;
}

/* Where there are 65280 sections or more, the true counts stand in the header of section 0. */
static void read_extended_counts(const struct elf_file *file, struct elf_header *header)
{
    if (header->sections.offset == 0 || (header->sections.count != 0 && header->names_section != SHN_XINDEX))
        return;
    struct header_table first = header->sections;
    first.count = 1;
    unsigned char *owned;
    struct cursor c = load_table(file, &first, file->is_64 ? 64 : 40, &owned);
    struct raw_section raw;
    struct elf_section zero = read_section(file, &c, &raw);
    if (!c.failed && header->sections.count == 0)
        header->sections.count = zero.size;
    if (!c.failed && header->names_section == SHN_XINDEX)
        header->names_section = zero.link;
    free(owned);
}

static int read_sections(struct elf_file *file, struct elf_header *header, struct error *err)
{
    read_extended_counts(file, header);
    const struct header_table *table = &header->sections;
    file->is_cut =
        table->count > 0 && table->entry_size > 0 &&
        (table->offset > file->bytes.size || (file->bytes.size - table->offset) / table->entry_size < table->count);
    unsigned char *owned;
    struct cursor all = load_table(file, table, file->is_64 ? 64 : 40, &owned);
    ARRAY(uint32_t) names = {0};
    int result = 0;
    while (result == 0 && cursor_left(&all) >= table->entry_size && table->entry_size) {
        struct cursor c = cursor_of(cursor_bytes(&all, table->entry_size), table->entry_size);
        struct raw_section raw;
        struct elf_section section = read_section(file, &c, &raw);
        if (!array_push(&file->sections, section) || !array_push(&names, raw.name))
            result = error_no_memory(err);
    }
    free(owned);
    const struct elf_section *texts_section = file->sections.data && header->names_section < file->sections.length
                                                  ? &file->sections.data[header->names_section]
                                                  : NULL;
    if (result == 0 && texts_section) {
        struct window texts = {.bytes = &texts_section->bytes};
        for (size_t i = 0; result == 0 && i < names.length; i++) {
            const char *name = window_string(&texts, names.data[i]);
            char *copy = name ? arena_copy(&file->arena, name, strnlen(name, 256)) : NULL;
            if (copy)
                file->sections.data[i].name = copy;
            else if (name)
                result = error_no_memory(err);
        }
        window_destroy(&texts);
    }
    array_free(&names);
    return result;
}

static int read_headers(struct elf_file *file, const char *name, struct error *err)
{
    struct elf_header header = {0};
    int result = read_header(file, name, &header, err);
    if (result == 0) {
        read_segments(file, &header.segments);
        result = read_sections(file, &header, err);
    }
    unsigned notes_left = NOTES_MAX;
    for (size_t i = 0; result == 0 && i < file->sections.length; i++)
        if (file->sections.data[i].type == SHT_NOTE)
            take_build_id(file, &file->sections.data[i].bytes, &notes_left);
    return result;
}

int elf_file_open_fd(struct elf_file *file, int fd, const char *name, struct error *err)
{
    struct stat status;
    if (fstat(fd, &status) != 0) {
        int code = errno;
        close(fd);
        return error_set(err, code, "cannot open %s: %s", name, strerror(code));
    }
    *file = (struct elf_file){.fd = fd, .bytes = {.fd = fd, .size = (uint64_t)status.st_size}};
    int result = S_ISREG(status.st_mode) ? read_headers(file, name, err) : not_readable(err, name, "it is not a file");
    if (result != 0)
        elf_file_close(file);
    return result;
}

int elf_file_open(struct elf_file *file, const char *path, struct error *err)
{
    int fd = file_open_in(-1, path);
    return fd < 0 ? error_set(err, -fd, "cannot open %s: %s", path, strerror(-fd))
                  : elf_file_open_fd(file, fd, path, err);
}

int elf_file_open_image(struct elf_file *file, const void *image, size_t size, const char *name, struct error *err)
{
    *file = (struct elf_file){.fd = -1, .bytes = {.memory = image, .fd = -1, .size = size}};
    int result = read_headers(file, name, err);
    if (result != 0)
        elf_file_close(file);
    return result;
}

void elf_file_close(struct elf_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    free(file->owned_image);
    array_free(&file->sections);
    arena_destroy(&file->arena);
    *file = (struct elf_file){.fd = -1};
}

static bool is_old_compressed_name(const char *section, const char *wanted)
{
    return strncmp(section, ".zdebug_", 8) == 0 && strncmp(wanted, ".debug_", 7) == 0 &&
           strcmp(section + 8, wanted + 7) == 0;
}

const struct elf_section *elf_file_section(const struct elf_file *file, const char *name)
{
    for (size_t i = 0; i < file->sections.length; i++) {
        const struct elf_section *section = &file->sections.data[i];
        if (section->bytes.size && (strcmp(section->name, name) == 0 || is_old_compressed_name(section->name, name)))
            return section;
    }
    return NULL;
}

const struct elf_section *elf_file_section_at(const struct elf_file *file, uint64_t address)
{
    for (size_t i = 0; i < file->sections.length; i++) {
        const struct elf_section *section = &file->sections.data[i];
        if ((section->flags & SHF_ALLOC) && section->bytes.size && address >= section->address &&
            address - section->address < section->bytes.size)
            return section;
    }
    return NULL;
}

/* Debug info shrinks to a third or a tenth. A section that claims to be much larger than what it is made of is a bomb:
 * it is not unpacked, but for small ones, where a few bytes may well stand for many zeros. */
enum { USUAL_RATIO_MAX = 64, SMALL_SECTION = 16 << 20 };

static bool is_plausible_size(uint64_t size, uint64_t packed_size)
{
    return size > 0 && size <= BYTES_LOAD_MAX && (size <= SMALL_SECTION || size / USUAL_RATIO_MAX <= packed_size);
}

static bool unpack_zlib(unsigned char *out, uint64_t size, const unsigned char *packed, size_t packed_size)
{
    uLongf length = (uLongf)size;
    return uncompress(out, &length, packed, (uLong)packed_size) == Z_OK && length == size;
}

static bool unpack_zstd(unsigned char *out, uint64_t size, const unsigned char *packed, size_t packed_size)
{
#ifdef HAVE_ZSTD
    return ZSTD_decompress(out, (size_t)size, packed, packed_size) == size;
#else
    (void)out, (void)size, (void)packed, (void)packed_size;
    return false;
#endif
}

static uint64_t read_big_endian_64(struct cursor *c)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value = value << 8 | cursor_u8(c);
    return value;
}

/* The header of a compressed section: the compression (Elf32_Chdr, Elf64_Chdr; the older .zdebug_ is "ZLIB" and the
 * size). */
static uint32_t read_compression(const struct elf_file *file, const struct elf_section *section, struct cursor *c,
                                 uint64_t *size)
{
    if (!(section->flags & SHF_COMPRESSED)) {
        const unsigned char *magic = cursor_bytes(c, 4);
        *size = read_big_endian_64(c);
        return magic && memcmp(magic, "ZLIB", 4) == 0 ? ELFCOMPRESS_ZLIB : 0;
    }
    uint32_t type = cursor_u32(c);
    if (file->is_64)
        cursor_u32(c); /* ch_reserved */
    *size = read_word(file, c);
    read_word(file, c); /* ch_addralign */
    return type;
}

/* NULL, or what is wrong with the section. */
static const char *unpack(uint32_t type, const unsigned char *packed, size_t packed_size, uint64_t size,
                          unsigned char **out)
{
    if (type != ELFCOMPRESS_ZLIB && type != ELFCOMPRESS_ZSTD)
        return "is compressed in a way that is not known here";
#ifndef HAVE_ZSTD
    if (type == ELFCOMPRESS_ZSTD)
        return "is compressed with zstd, which this prof was built without";
#endif
    if (!is_plausible_size(size, packed_size))
        return "is damaged: it would be far too large when it is decompressed";
    unsigned char *memory = malloc(size + 1);
    if (!memory)
        return "is too large for the memory that is left";
    bool done = type == ELFCOMPRESS_ZSTD ? unpack_zstd(memory, size, packed, packed_size)
                                         : unpack_zlib(memory, size, packed, packed_size);
    if (!done) {
        free(memory);
        return "is damaged";
    }
    memory[size] = 0;
    *out = memory;
    return NULL;
}

static struct bytes unpacked_contents(const struct elf_file *file, const struct elf_section *section, const char *name,
                                      unsigned char **owned, struct error *err)
{
    struct bytes none = {.fd = -1};
    if (!(section->flags & SHF_COMPRESSED) && section->name[1] != 'z')
        return section->bytes;
    unsigned char *packed = bytes_load(&section->bytes);
    struct cursor c = packed ? cursor_of(packed, (size_t)section->bytes.size) : (struct cursor){0};
    uint64_t size;
    uint32_t type = read_compression(file, section, &c, &size);
    const char *problem = c.failed ? "is damaged" : unpack(type, c.at, cursor_left(&c), size, owned);
    free(packed);
    if (problem) {
        error_set(err, EINVAL, "section %s %s", name, problem);
        return none;
    }
    return (struct bytes){.memory = *owned, .fd = -1, .size = size};
}

struct bytes elf_file_contents(const struct elf_file *file, const char *name, unsigned char **owned, struct error *err)
{
    *owned = NULL;
    const struct elf_section *section = elf_file_section(file, name);
    struct bytes bytes = {.fd = -1};
    if (section)
        bytes = unpacked_contents(file, section, name, owned, err);
    if (bytes.size == 0 || file->type != ET_REL || !elf_relocations(file, section))
        return bytes;
    if (!*owned)
        *owned = bytes_load(&bytes);
    if (!*owned) {
        error_set(err, EIO, "section %s cannot be read", name);
        return (struct bytes){.fd = -1};
    }
    elf_relocate(file, section, *owned, bytes.size);
    return (struct bytes){.memory = *owned, .fd = -1, .size = bytes.size};
}

struct elf_symbol elf_symbol_read(const struct elf_file *file, struct cursor *c)
{
    struct elf_symbol symbol;
    symbol.name = cursor_u32(c);
    if (!file->is_64) {
        symbol.value = cursor_u32(c);
        symbol.size = cursor_u32(c);
    }
    symbol.info = cursor_u8(c);
    symbol.other = cursor_u8(c);
    symbol.section = cursor_u16(c);
    if (file->is_64) {
        symbol.value = cursor_u64(c);
        symbol.size = cursor_u64(c);
    }
    symbol.is_thumb = file->machine == EM_ARM && (symbol.info & 0xf) == STT_FUNC && (symbol.value & 1);
    if (symbol.is_thumb)
        symbol.value--;
    return symbol;
}
