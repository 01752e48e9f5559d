#include "unwind/module.h"

#include "elf/elf_note.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Far more than any linker writes. */
enum { SEGMENTS_MAX = 4096, NOTES_MAX = 64 * 1024 };

enum { PAGE_SIZE = 4096 };

/* ---- opening ---- */

struct elf_header {
    uint64_t program_headers;
    uint16_t program_header_count, program_header_size;
};

static int read_elf_header(struct unwind_module *module, const char *name, struct elf_header *header, struct error *err)
{
    struct file_part part;
    int code = unwind_module_part(module, 0, sizeof(Elf64_Ehdr), &part);
    const unsigned char *bytes = code == 0 ? file_part_at(&part, 0, sizeof(Elf64_Ehdr)) : NULL;
    if (!bytes || memcmp(bytes, ELFMAG, SELFMAG) != 0) {
        file_part_close(&part);
        return error_set(err, ENOEXEC, "%s is not an ELF file", name);
    }
    bool is_64bit = bytes[EI_CLASS] == ELFCLASS64 && bytes[EI_DATA] == ELFDATA2LSB;
    struct cursor c = cursor_of(bytes, sizeof(Elf64_Ehdr));
    cursor_bytes(&c, EI_NIDENT + 2); /* e_type */
    uint16_t machine = cursor_u16(&c);
    cursor_u32(&c); /* e_version */
    module->entry = cursor_u64(&c);
    header->program_headers = cursor_u64(&c);
    module->section_headers = cursor_u64(&c);
    cursor_u32(&c); /* e_flags */
    cursor_u16(&c); /* e_ehsize */
    header->program_header_size = cursor_u16(&c);
    header->program_header_count = cursor_u16(&c);
    uint16_t section_header_size = cursor_u16(&c);
    module->section_count = cursor_u16(&c);
    module->section_names = cursor_u16(&c);
    if (section_header_size != sizeof(Elf64_Shdr))
        module->section_headers = 0;
    file_part_close(&part);
    if (!is_64bit || machine != ARCH_ELF_MACHINE)
        return error_set(err, ENOEXEC,
                         "%s is for another kind of machine (ELF machine %u); its stacks are walked by frame pointer",
                         name, machine);
    return 0;
}

static int read_program_headers(struct unwind_module *module, const char *name, const struct elf_header *header,
                                struct error *err)
{
    uint64_t size = (uint64_t)header->program_header_count * sizeof(Elf64_Phdr);
    if (header->program_header_size != sizeof(Elf64_Phdr) || header->program_header_count > SEGMENTS_MAX)
        return error_set(err, ENOEXEC, "%s has damaged program headers", name);
    struct file_part part;
    int code = unwind_module_part(module, header->program_headers, size, &part);
    const unsigned char *bytes = code == 0 ? file_part_at(&part, 0, size) : NULL;
    if (!bytes) {
        file_part_close(&part);
        return error_set(err, ENOEXEC, "%s is cut off before the end of its program headers", name);
    }
    struct cursor c = cursor_of(bytes, size);
    bool have_memory = true;
    for (unsigned i = 0; i < header->program_header_count && have_memory; i++) {
        uint32_t type = cursor_u32(&c), flags = cursor_u32(&c);
        uint64_t file_offset = cursor_u64(&c), vaddr = cursor_u64(&c);
        cursor_u64(&c); /* p_paddr */
        uint64_t file_size = cursor_u64(&c);
        cursor_u64(&c); /* p_memsz */
        cursor_u64(&c); /* p_align */
        if (type == PT_LOAD) {
            have_memory = array_push(&module->segments, (struct segment){.vaddr = vaddr,
                                                                         .file_offset = file_offset,
                                                                         .file_size = file_size,
                                                                         .is_executable = (flags & PF_X) != 0});
        } else if (type == PT_GNU_EH_FRAME) {
            module->header_vaddr = vaddr;
            module->header_size = file_size;
        } else if (type == PT_NOTE && module->note_count < sizeof(module->notes) / sizeof(module->notes[0])) {
            module->notes[module->note_count++] = (struct note_place){file_offset, file_size};
        }
    }
    file_part_close(&part);
    if (!have_memory)
        return error_no_memory(err);
    if (module->segments.length == 0)
        return error_set(err, ENOEXEC, "%s has no segment that can be mapped", name);
    return 0;
}

static struct unwind_module *open_headers(struct unwind_module *module, const char *name, struct error *err)
{
    struct elf_header header = {0};
    if (read_elf_header(module, name, &header, err) == 0 && read_program_headers(module, name, &header, err) == 0)
        return module;
    unwind_module_unref(module);
    return NULL;
}

static struct unwind_module *module_new(struct error *err)
{
    struct unwind_module *module = calloc(1, sizeof(*module));
    if (!module) {
        error_no_memory(err);
        return NULL;
    }
    module->references = 1;
    return module;
}

struct unwind_module *unwind_module_open_file(struct file_source *file, struct error *err)
{
    struct unwind_module *module = module_new(err);
    if (!module)
        return NULL;
    module->file = file_source_ref(file);
    module->size = file->identity.size;
    return open_headers(module, file->path, err);
}

struct unwind_module *unwind_module_open(int fd, const char *name, struct error *err)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (own < 0) {
        error_set(err, errno, "cannot open %s again: %s", name, strerror(errno));
        return NULL;
    }
    struct file_source *file = file_source_new(own, -1, name, err);
    struct unwind_module *module = file ? unwind_module_open_file(file, err) : NULL;
    file_source_unref(file);
    return module;
}

static struct unwind_module *module_of_bytes(const void *bytes, size_t size, struct error *err)
{
    struct unwind_module *module = module_new(err);
    if (!module)
        return NULL;
    module->memory = malloc(size ? size : 1);
    if (!module->memory) {
        error_no_memory(err);
        unwind_module_unref(module);
        return NULL;
    }
    memcpy(module->memory, bytes, size);
    module->size = size;
    return module;
}

struct unwind_module *unwind_module_from_memory(const void *image, size_t size, const char *name, struct error *err)
{
    struct unwind_module *module = module_of_bytes(image, size, err);
    return module ? open_headers(module, name, err) : NULL;
}

/* The segment says where the code is; its bytes are not here, which is why it is no executable one. */
struct unwind_module *unwind_module_of_code(const void *frames, size_t frames_size, uint64_t start, uint64_t size,
                                            struct error *err)
{
    struct unwind_module *module = module_of_bytes(frames, frames_size, err);
    if (!module)
        return NULL;
    bool ok = array_push(&module->segments, (struct segment){.vaddr = start, .file_size = size});
    if (!ok)
        error_no_memory(err);
    else if (!(ok = unwind_module_use_frames(module, start + ((size + 7) & ~UINT64_C(7)), start, size)))
        error_set(err, ENOENT, "the unwinding information is not about this code");
    if (ok)
        return module;
    unwind_module_unref(module);
    return NULL;
}

struct unwind_module *unwind_module_ref(struct unwind_module *module)
{
    if (module)
        module->references++;
    return module;
}

void unwind_module_unref(struct unwind_module *module)
{
    if (!module || --module->references > 0)
        return;
    file_part_close(&module->header.part);
    file_part_close(&module->eh_frame.part);
    file_part_close(&module->debug_frame.part);
    array_free(&module->eh_frame_table.places);
    array_free(&module->debug_frame_table.places);
    array_free(&module->segments);
    free(module->inflated);
    free(module->memory);
    file_source_unref(module->file);
    free(module);
}

/* ---- addresses and bytes ---- */

int unwind_module_part(struct unwind_module *module, uint64_t file_offset, uint64_t size, struct file_part *part)
{
    *part = (struct file_part){0};
    if (file_offset > module->size)
        return -ENOENT;
    if (size > module->size - file_offset)
        size = module->size - file_offset;
    if (module->memory) {
        file_part_of_memory(part, module->memory + file_offset, (size_t)size);
        return 0;
    }
    return file_part_open(part, module->file, file_offset, size, NULL);
}

static bool copy_note(struct unwind_module *module, const struct note_place *place, const char owner[4], uint32_t type,
                      unsigned char *out, size_t max, size_t *size)
{
    struct file_part part;
    if (place->size > NOTES_MAX || unwind_module_part(module, place->file_offset, place->size, &part) != 0)
        return false;
    const unsigned char *notes = file_part_at(&part, 0, part.size);
    const unsigned char *found = notes ? elf_note_find(notes, part.size, owner, type, size) : NULL;
    bool fits = found && *size <= max;
    if (fits)
        memcpy(out, found, *size);
    file_part_close(&part);
    return fits;
}

bool unwind_module_note(struct unwind_module *module, const char owner[4], uint32_t type, unsigned char *out,
                        size_t max, size_t *size)
{
    for (unsigned i = 0; i < module->note_count; i++)
        if (copy_note(module, &module->notes[i], owner, type, out, max, size))
            return true;
    return false;
}

size_t unwind_module_build_id(struct unwind_module *module, unsigned char build_id[UNWIND_BUILD_ID_MAX])
{
    size_t size;
    bool found = unwind_module_note(module, ELF_NOTE_GNU, NT_GNU_BUILD_ID, build_id, UNWIND_BUILD_ID_MAX, &size);
    return found ? size : 0;
}

const struct segment *unwind_module_segment(const struct unwind_module *module, uint64_t vaddr)
{
    for (size_t i = 0; i < module->segments.length; i++) {
        const struct segment *segment = &module->segments.data[i];
        if (vaddr >= segment->vaddr && vaddr - segment->vaddr < segment->file_size)
            return segment;
    }
    return NULL;
}

/* How well a segment fits a mapping that begins at this offset of the file. Mappings are whole pages, so that the first
 * page of a segment may begin with the end of the one before it. */
static int segment_fit(const struct segment *segment, uint64_t file_offset)
{
    uint64_t page = segment->file_offset & ~(uint64_t)(PAGE_SIZE - 1);
    if (file_offset < page || file_offset - page >= segment->file_size + (segment->file_offset - page))
        return 0;
    return (segment->is_executable ? 2 : 0) + (file_offset >= segment->file_offset ? 2 : 1);
}

uint64_t unwind_module_vaddr(const struct unwind_module *module, uint64_t file_offset)
{
    const struct segment *best = NULL;
    int best_fit = 0;
    for (size_t i = 0; i < module->segments.length; i++) {
        int fit = segment_fit(&module->segments.data[i], file_offset);
        if (fit > best_fit) {
            best_fit = fit;
            best = &module->segments.data[i];
        }
    }
    return best ? best->vaddr + (file_offset - best->file_offset) : UINT64_MAX;
}

uint64_t unwind_module_base(const struct unwind_module *module)
{
    return module->segments.data[0].vaddr;
}

size_t unwind_module_read_code(struct unwind_module *module, uint64_t vaddr, unsigned char *out, size_t size)
{
    const struct segment *segment = unwind_module_segment(module, vaddr);
    if (!segment || !segment->is_executable)
        return 0;
    uint64_t into = vaddr - segment->vaddr, left = segment->file_size - into;
    struct file_part part;
    if (size > left)
        size = left;
    if (segment->file_offset > UINT64_MAX - into ||
        unwind_module_part(module, segment->file_offset + into, size, &part) != 0)
        return 0;
    const unsigned char *bytes = file_part_at(&part, 0, size);
    if (bytes)
        memcpy(out, bytes, size);
    file_part_close(&part);
    return bytes ? size : 0;
}

void unwind_module_code(struct unwind_module *module, uint64_t vaddr,
                        unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER])
{
    memset(code, 0, ARCH_CODE_BEFORE + ARCH_CODE_AFTER);
    const struct segment *segment = unwind_module_segment(module, vaddr);
    uint64_t into = segment ? vaddr - segment->vaddr : 0;
    uint64_t before = into < ARCH_CODE_BEFORE ? into : ARCH_CODE_BEFORE;
    unwind_module_read_code(module, vaddr - before, code + ARCH_CODE_BEFORE - before, before + ARCH_CODE_AFTER);
}
