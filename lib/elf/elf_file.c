/*
 * Opens files with libelf. Every size and offset in a file may be wrong. libelf bounds the header tables by the file's
 * size; this file bounds them by the sizes of real files. Parts outside of the file count as missing, and later reads
 * go through `struct bytes`, which knows the end.
 */
#include "elf/elf_file.h"

#include "os/file_io.h"
#include "elf/elf_dynamic.h"
#include "elf/elf_note.h"
#include "elf/elf_table.h"

#include <gelf.h>
#include <unistd.h>

/* More sections or segments than real files have, and more bytes of section names. A hostile file can declare the same
 * bytes as notes many times, so only the first few notes are read, and at most NOTE_BYTES_MAX bytes in total. */
enum { SECTIONS_MAX = 1 << 18, SEGMENTS_MAX = 1 << 16, NAMES_MAX = 16 << 20, NOTES_MAX = 64, NOTE_BYTES_MAX = 2 << 20 };

static int set_damaged_error(struct error *err, const char *name, const char *why)
{
    return error_set(err, EINVAL, "%s is damaged: %s", name, why);
}

/* ---- segments and sections ---- */

static int read_segments(struct elf_file *file, Elf *elf, struct error *err)
{
    size_t count;
    GElf_Phdr header;
    if (elf_getphdrnum(elf, &count) != 0 || count > SEGMENTS_MAX)
        return 0;
    for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &header); i++) {
        struct elf_segment segment = {.type = header.p_type,
                                      .flags = header.p_flags,
                                      .address = header.p_vaddr,
                                      .offset = header.p_offset,
                                      .file_size = header.p_filesz};
        if (!array_push(&file->segments, segment))
            return error_no_memory(err);
        if (segment.type == PT_LOAD && !file->has_load) {
            file->has_load = true;
            file->base = segment.address;
        }
    }
    return 0;
}

static void read_section_names(struct elf_file *file, Elf *elf, const uint32_t *names)
{
    size_t index;
    if (!names || elf_getshdrstrndx(elf, &index) != 0 || index >= file->sections.length)
        return;
    const struct bytes *texts = &file->sections.data[index].bytes;
    file->section_names = texts->size <= NAMES_MAX ? (char *)bytes_load(texts) : NULL;
    for (size_t i = 0; file->section_names && i < file->sections.length; i++)
        if (names[i] < texts->size)
            file->sections.data[i].name = file->section_names + names[i];
}

static struct elf_section make_section(const struct elf_file *file, const GElf_Shdr *header)
{
    struct elf_section section = {.name = "",
                                  .type = header->sh_type,
                                  .link = header->sh_link,
                                  .flags = header->sh_flags,
                                  .address = header->sh_addr,
                                  .alignment = header->sh_addralign,
                                  .entry_size = header->sh_entsize,
                                  .size = header->sh_size};
    bool is_inside = header->sh_offset <= file->bytes.size && section.size <= file->bytes.size - header->sh_offset;
    if (section.type != SHT_NOBITS && section.type != SHT_NULL && is_inside)
        section.bytes = bytes_get_part(&file->bytes, header->sh_offset, section.size);
    return section;
}

static int read_sections(struct elf_file *file, Elf *elf, struct error *err)
{
    size_t count = 0;
    ARRAY(uint32_t) names = {0};
    int code = 0;
    if (elf_getshdrnum(elf, &count) != 0 || count > SECTIONS_MAX)
        count = 0;
    for (size_t i = 0; code == 0 && i < count; i++) {
        GElf_Shdr header;
        if (!gelf_getshdr(elf_getscn(elf, i), &header))
            break;
        if (!array_push(&file->sections, make_section(file, &header)) || !array_push(&names, header.sh_name))
            code = error_no_memory(err);
    }
    if (code == 0)
        read_section_names(file, elf, names.data);
    array_free(&names);
    return code;
}

/* ---- notes ---- */

struct notes_left {
    unsigned count;
    uint64_t bytes;
};

static size_t copy_note(const struct elf_file *file, const struct bytes *notes, struct notes_left *left,
                        const char owner[4], uint32_t type, unsigned char *out, size_t max)
{
    size_t size = 0;
    unsigned char *raw = notes->size <= left->bytes ? bytes_load(notes) : NULL;
    left->count--;
    if (!raw)
        return 0;
    left->bytes -= notes->size;
    elf_convert_to_native(file, ELF_T_NHDR, raw, (size_t)notes->size);
    const unsigned char *found = elf_note_find(raw, (size_t)notes->size, owner, type, &size);
    size = found && size <= max ? size : 0;
    if (size)
        memcpy(out, found, size);
    free(raw);
    return size;
}

size_t elf_file_read_note(const struct elf_file *file, const char owner[4], uint32_t type, unsigned char *out,
                          size_t max)
{
    size_t size = 0;
    struct notes_left left = {.count = NOTES_MAX, .bytes = NOTE_BYTES_MAX};
    for (size_t i = 0; !size && left.count && i < file->segments.length; i++) {
        const struct elf_segment *segment = &file->segments.data[i];
        struct bytes notes = bytes_get_part(&file->bytes, segment->offset, segment->file_size);
        if (segment->type == PT_NOTE)
            size = copy_note(file, &notes, &left, owner, type, out, max);
    }
    left.count = NOTES_MAX;
    for (size_t i = 0; !size && left.count && i < file->sections.length; i++)
        if (file->sections.data[i].type == SHT_NOTE)
            size = copy_note(file, &file->sections.data[i].bytes, &left, owner, type, out, max);
    return size;
}

/* ---- opening ---- */

/* libelf allocates a record of 200 bytes for each section in the header of a file that is long enough for its sections.
 * The header of a file with more than 65,279 sections has the number 0 (gABI, "Extended numbering"). Only unlinked
 * object files have so many sections, and they are rejected. */
static bool has_too_many_sections(const struct elf_file *file, const unsigned char *head)
{
    static const unsigned char zeros[8];
    bool is_64 = head[EI_CLASS] == ELFCLASS64;
    size_t count_at = is_64 ? offsetof(Elf64_Ehdr, e_shnum) : offsetof(Elf32_Ehdr, e_shnum);
    size_t table_at = is_64 ? offsetof(Elf64_Ehdr, e_shoff) : offsetof(Elf32_Ehdr, e_shoff);
    bool is_extended = memcmp(head + count_at, zeros, 2) == 0 && memcmp(head + table_at, zeros, is_64 ? 8 : 4) != 0;
    return is_extended && file->bytes.size / sizeof(Elf32_Shdr) > SECTIONS_MAX;
}

static int read_header(struct elf_file *file, Elf *elf, const char *name, struct error *err)
{
    GElf_Ehdr header;
    size_t count;
    if (!gelf_getehdr(elf, &header))
        return set_damaged_error(err, name, elf_errmsg(-1));
    file->is_64 = header.e_ident[EI_CLASS] == ELFCLASS64;
    file->is_big_endian = header.e_ident[EI_DATA] == ELFDATA2MSB;
    file->type = header.e_type;
    file->machine = header.e_machine;
    file->entry = header.e_entry;
    file->is_truncated = header.e_shnum > 0 && elf_getshdrnum(elf, &count) == 0 && count == 0;
    return 0;
}

static int read_contents(struct elf_file *file, Elf *elf, const char *name, struct error *err)
{
    if (elf_kind(elf) != ELF_K_ELF)
        return set_damaged_error(err, name, elf ? "its ELF header has an unknown class" : elf_errmsg(-1));
    int code = read_header(file, elf, name, err);
    if (code == 0)
        code = read_segments(file, elf, err);
    if (code == 0)
        code = read_sections(file, elf, err);
    if (code == 0 && file->sections.length <= 1)
        code = elf_dynamic_make_sections(file, err);
    if (code == 0)
        file->build_id_size = elf_file_read_note(file, ELF_NOTE_GNU, NT_GNU_BUILD_ID, file->build_id, ELF_BUILD_ID_MAX);
    return code;
}

/* `fd`: -1 for an image. */
static int read_headers(struct elf_file *file, int fd, const char *name, struct error *err)
{
    unsigned char head[sizeof(Elf64_Ehdr)];
    if (!bytes_read(&file->bytes, 0, head, sizeof(head)) || memcmp(head, ELFMAG, SELFMAG) != 0)
        return error_set(err, ENOEXEC, "%s is not an ELF file", name);
    if (has_too_many_sections(file, head))
        return set_damaged_error(err, name, "it has too many sections");
    elf_version(EV_CURRENT);
    /* libelf does not write to an image that is opened for reading. */
    Elf *elf = fd < 0 ? elf_memory((char *)(uintptr_t)file->bytes.memory, (size_t)file->bytes.size)
                      : elf_begin(fd, ELF_C_READ, NULL);
    int code = read_contents(file, elf, name, err);
    elf_end(elf);
    return code;
}

int elf_file_open_source(struct elf_file *file, struct file_source *source, const char *name, struct error *err)
{
    *file = (struct elf_file){.source = file_source_ref(source),
                              .bytes = {.source = source, .size = source->identity.size}};
    bool earlier = atomic_exchange(&source->no_memory, false);
    int own = source->fd < 0 ? file_source_open(source) : -1, fd = source->fd < 0 ? own : source->fd;
    int code =
        fd < 0 ? error_set(err, -fd, "cannot open %s: %s", name, strerror(-fd)) : read_headers(file, fd, name, err);
    if (own >= 0)
        close(own);
    if (code == 0 && bytes_ran_out_of_memory(&file->bytes))
        code = error_no_memory(err);
    if (earlier)
        source->no_memory = true;
    if (code != 0)
        elf_file_close(file);
    return code;
}

int elf_file_open_fd(struct elf_file *file, int fd, const char *name, struct error *err)
{
    struct file_source *source;
    int code = file_source_new(&source, fd, -1, name, err);
    if (!code)
        code = elf_file_open_source(file, source, name, err);
    file_source_unref(source);
    return code;
}

int elf_file_open(struct elf_file *file, const char *path, struct error *err)
{
    int fd = file_open_in(-1, path);
    return fd < 0 ? error_set(err, -fd, "cannot open %s: %s", path, strerror(-fd))
                  : elf_file_open_fd(file, fd, path, err);
}

int elf_file_open_image(struct elf_file *file, const void *image, size_t size, const char *name, struct error *err)
{
    *file = (struct elf_file){.bytes = {.memory = image, .size = size}};
    int code = read_headers(file, -1, name, err);
    if (code != 0)
        elf_file_close(file);
    return code;
}

void elf_file_close(struct elf_file *file)
{
    file_source_unref(file->source);
    free(file->owned_image);
    free(file->section_names);
    array_free(&file->segments);
    array_free(&file->sections);
    *file = (struct elf_file){0};
}

/* ---- finding sections ---- */

static bool is_old_compressed_name(const char *section, const char *wanted)
{
    return strncmp(section, ".zdebug_", 8) == 0 && strncmp(wanted, ".debug_", 7) == 0 &&
           strcmp(section + 8, wanted + 7) == 0;
}

bool elf_file_has_id(const struct elf_file *file, const unsigned char *build_id, size_t size)
{
    return file->build_id_size == size && memcmp(file->build_id, build_id, size) == 0;
}

const struct elf_section *elf_file_find_section(const struct elf_file *file, const char *name)
{
    for (size_t i = 0; i < file->sections.length; i++) {
        const struct elf_section *section = &file->sections.data[i];
        if (section->bytes.size && (strcmp(section->name, name) == 0 || is_old_compressed_name(section->name, name)))
            return section;
    }
    return NULL;
}

const struct elf_section *elf_file_find_section_at(const struct elf_file *file, uint64_t address)
{
    for (size_t i = 0; i < file->sections.length; i++) {
        const struct elf_section *section = &file->sections.data[i];
        if ((section->flags & SHF_ALLOC) && section->bytes.size && address >= section->address &&
            address - section->address < section->bytes.size)
            return section;
    }
    return NULL;
}
