/*
 * From a pc to its FDE: loading .eh_frame_hdr, .eh_frame and .debug_frame, and searching them. module.h says in which
 * order.
 */
#include "unwind/module.h"

#include "base/search.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* ---- .eh_frame_hdr: the table of the linker (Linux Standard Base 5.0 core, 10.6.2) ---- */

enum { HEADER_FIXED_SIZE = 4, TABLE_ENTRY_SIZE = 8 };

/* Reads the header at its vaddr. Fills the vaddr of .eh_frame; the table stays 0 if it is not of the usual kind. */
static bool header_open(struct unwind_module *module, uint64_t *eh_frame_vaddr)
{
    struct eh_frame_header *header = &module->header;
    const struct segment *segment = unwind_module_segment(module, module->header_vaddr);
    if (!segment)
        return false;
    uint64_t into = module->header_vaddr - segment->vaddr, size = module->header_size;
    if (size > segment->file_size - into)
        size = segment->file_size - into;
    if (segment->file_offset > UINT64_MAX - into ||
        unwind_module_part(module, segment->file_offset + into, size, &header->part) != 0)
        return false;
    header->vaddr = module->header_vaddr;
    uint64_t head_size = header->part.size < 32 ? header->part.size : 32;
    const unsigned char *bytes = file_part_at(&header->part, 0, head_size);
    if (!bytes)
        return false;
    struct cursor c = cursor_of(bytes, head_size);
    uint8_t version = cursor_u8(&c), frame_encoding = cursor_u8(&c), count_encoding = cursor_u8(&c);
    uint8_t table_encoding = cursor_u8(&c);
    if (version != 1 ||
        !cfi_read_address(&c, frame_encoding, header->vaddr + HEADER_FIXED_SIZE, header->vaddr, eh_frame_vaddr))
        return false;
    uint64_t count;
    if (table_encoding == (DW_EH_PE_datarel | DW_EH_PE_sdata4) && cfi_read_address(&c, count_encoding, 0, 0, &count)) {
        header->table = (uint64_t)(c.at - bytes);
        uint64_t room = (header->part.size - header->table) / TABLE_ENTRY_SIZE;
        header->count = count < room ? count : room;
    }
    return true;
}

static uint64_t header_address(const struct eh_frame_header *header, const unsigned char *bytes)
{
    struct cursor c = cursor_of(bytes, 4);
    return header->vaddr + (uint64_t)(int32_t)cursor_u32(&c);
}

/* The vaddr of the FDE of the last function that begins at or before `vaddr`. */
static bool header_search(struct eh_frame_header *header, uint64_t vaddr, uint64_t *start, uint64_t *fde_vaddr)
{
    uint64_t low = 0,
             high = header->count; /* functions before `low` begin at or before vaddr, those from `high` after */
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        const unsigned char *entry = file_part_at(&header->part, header->table + middle * TABLE_ENTRY_SIZE, 4);
        if (!entry)
            return false;
        if (header_address(header, entry) <= vaddr)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return false;
    const unsigned char *entry =
        file_part_at(&header->part, header->table + (low - 1) * TABLE_ENTRY_SIZE, TABLE_ENTRY_SIZE);
    if (!entry)
        return false;
    *start = header_address(header, entry);
    *fde_vaddr = header_address(header, entry + 4);
    return true;
}

/* ---- tables built by going through a section ---- */

static int compare_places(const void *a, const void *b)
{
    const struct fde_place *left = a, *right = b;
    if (left->start != right->start)
        return left->start < right->start ? -1 : 1;
    return left->offset < right->offset ? -1 : left->offset > right->offset;
}

static void table_build(struct fde_table *table, struct cfi_section *section)
{
    struct cfi_fde fde;
    uint64_t offset = 0, next;
    for (int kind; (kind = cfi_fde_read(section, offset, &fde, &next)) >= 0; offset = next)
        if (kind > 0 && !array_push(&table->places, (struct fde_place){fde.start, offset}))
            break;
    if (table->places.length > 1)
        qsort(table->places.data, table->places.length, sizeof(*table->places.data), compare_places);
}

static bool starts_up_to(const void *place, const void *vaddr)
{
    return ((const struct fde_place *)place)->start <= *(const uint64_t *)vaddr;
}

static const struct fde_place *table_search(const struct fde_table *table, uint64_t vaddr)
{
    size_t next =
        search_count_before(table->places.data, table->places.length, sizeof(struct fde_place), starts_up_to, &vaddr);
    return next ? &table->places.data[next - 1] : NULL;
}

/* ---- sections ---- */

struct section {
    uint32_t name, type;
    uint64_t flags, vaddr, file_offset, size;
    uint32_t link;
};

static bool section_read(struct file_part *headers, uint64_t index, struct section *section)
{
    const unsigned char *bytes = file_part_at(headers, index * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
    if (!bytes)
        return false;
    struct cursor c = cursor_of(bytes, sizeof(Elf64_Shdr));
    section->name = cursor_u32(&c);
    section->type = cursor_u32(&c);
    section->flags = cursor_u64(&c);
    section->vaddr = cursor_u64(&c);
    section->file_offset = cursor_u64(&c);
    section->size = cursor_u64(&c);
    section->link = cursor_u32(&c);
    return true;
}

static bool name_is(struct file_part *names, uint32_t offset, const char *wanted)
{
    size_t size = strlen(wanted) + 1;
    const unsigned char *text = file_part_at(names, offset, size);
    return text && memcmp(text, wanted, size) == 0;
}

/* The section of one of two names (NULL: no second). */
static bool section_find(struct unwind_module *module, const char *name, const char *other_name, struct section *found)
{
    bool ok = false;
    struct file_part headers, names = {0};
    uint64_t room =
        module->section_headers && module->section_headers < module->size ? module->size - module->section_headers : 0;
    if (room == 0 || unwind_module_part(module, module->section_headers, room, &headers) != 0)
        return false;
    struct section section;
    uint64_t count = module->section_count, name_index = module->section_names;
    /* Numbers that do not fit the ELF header are in section 0 (gABI, "Extended numbering"). */
    if ((count == 0 || name_index == SHN_XINDEX) && section_read(&headers, 0, &section)) {
        count = count ? count : section.size;
        name_index = name_index == SHN_XINDEX ? section.link : name_index;
    }
    if (section_read(&headers, name_index, &section) &&
        unwind_module_part(module, section.file_offset, section.size, &names) == 0)
        for (uint64_t i = 1; i < count && !ok && section_read(&headers, i, found); i++)
            ok = found->type != SHT_NOBITS &&
                 (name_is(&names, found->name, name) || (other_name && name_is(&names, found->name, other_name)));
    file_part_close(&names);
    file_part_close(&headers);
    return ok;
}

/* ---- Go ---- */

/* Go's linker writes a note of its own, stripped or not. */
static bool has_go_note(struct unwind_module *module)
{
    enum { GO_BUILD_ID = 4 };
    unsigned char id[512];
    size_t size;
    return unwind_module_note(module, "Go\0", GO_BUILD_ID, id, sizeof(id), &size);
}

bool unwind_module_is_go(struct unwind_module *module)
{
    unwind_module_load_eh_frame(module);
    return module->is_go;
}

/* ---- .eh_frame ---- */

void unwind_module_load_eh_frame(struct unwind_module *module)
{
    if (module->eh_frame_state == LOADED)
        return;
    module->eh_frame_state = LOADED;
    module->is_go = has_go_note(module);
    struct cfi_section *eh_frame = &module->eh_frame;
    struct section section;
    if (module->header_size && header_open(module, &eh_frame->vaddr)) {
        /* Nothing gives its size without section headers; it is searched up to the end of its segment. */
        const struct segment *segment = unwind_module_segment(module, eh_frame->vaddr);
        uint64_t into = segment ? eh_frame->vaddr - segment->vaddr : 0;
        if (!segment || segment->file_offset > UINT64_MAX - into ||
            unwind_module_part(module, segment->file_offset + into, segment->file_size - into, &eh_frame->part) != 0)
            return;
    } else if (section_find(module, ".eh_frame", NULL, &section) && !(section.flags & SHF_COMPRESSED)) {
        eh_frame->vaddr = section.vaddr;
        if (unwind_module_part(module, section.file_offset, section.size, &eh_frame->part) != 0)
            return;
    }
    if (!module->header.table)
        table_build(&module->eh_frame_table, eh_frame);
}

bool unwind_module_use_frames(struct unwind_module *module, uint64_t eh_frame_vaddr, uint64_t start, uint64_t size)
{
    module->eh_frame_state = module->debug_frame_state = LOADED;
    module->eh_frame.vaddr = eh_frame_vaddr;
    file_part_of_memory(&module->eh_frame.part, module->memory, (size_t)module->size);
    table_build(&module->eh_frame_table, &module->eh_frame);
    for (size_t i = 0; i < module->eh_frame_table.places.length; i++)
        if (module->eh_frame_table.places.data[i].start - start < size)
            return true;
    return false;
}

static bool find_in_eh_frame(struct unwind_module *module, uint64_t vaddr, uint64_t *start, struct cfi_fde *fde)
{
    struct cfi_section *section = &module->eh_frame;
    uint64_t offset, next;
    if (module->header.table) {
        if (!header_search(&module->header, vaddr, start, &offset))
            return false;
        offset -= section->vaddr;
    } else {
        const struct fde_place *place = table_search(&module->eh_frame_table, vaddr);
        if (!place)
            return false;
        *start = place->start;
        offset = place->offset;
    }
    return cfi_fde_read(section, offset, fde, &next) == 1 && vaddr >= fde->start && vaddr - fde->start < fde->size;
}

/* ---- .debug_frame ---- */

static unsigned char *inflate_bytes(const unsigned char *bytes, size_t size, uint64_t inflated_size)
{
    /* deflate cannot shrink data by more than a factor of 1032, so a larger claim is damage */
    if (inflated_size == 0 || inflated_size > FILE_PART_MAX || inflated_size / 1032 > size)
        return NULL;
    unsigned char *inflated = malloc(inflated_size);
    uLongf got = inflated_size;
    if (!inflated || uncompress(inflated, &got, bytes, size) != Z_OK || got != inflated_size) {
        free(inflated);
        return NULL;
    }
    return inflated;
}

/* SHF_COMPRESSED: struct Elf64_Chdr, then the data. */
static unsigned char *inflate_section(struct file_part *part, uint64_t *size)
{
    const unsigned char *bytes = file_part_at(part, 0, part->size);
    struct cursor c = cursor_of(bytes, bytes ? part->size : 0);
    uint32_t type = cursor_u32(&c);
    cursor_u32(&c); /* ch_reserved */
    *size = cursor_u64(&c);
    cursor_u64(&c); /* ch_addralign */
    return c.failed || type != ELFCOMPRESS_ZLIB ? NULL : inflate_bytes(c.at, cursor_left(&c), *size);
}

/* .zdebug_frame: "ZLIB", the size in eight bytes, big end first, then the data. */
static unsigned char *inflate_old_section(struct file_part *part, uint64_t *size)
{
    const unsigned char *bytes = file_part_at(part, 0, part->size);
    struct cursor c = cursor_of(bytes, bytes ? part->size : 0);
    const unsigned char *magic = cursor_bytes(&c, 4);
    *size = __builtin_bswap64(cursor_u64(&c));
    return c.failed || memcmp(magic, "ZLIB", 4) != 0 ? NULL : inflate_bytes(c.at, cursor_left(&c), *size);
}

void unwind_module_load_debug_frame(struct unwind_module *module)
{
    if (module->debug_frame_state == LOADED)
        return;
    module->debug_frame_state = LOADED;
    struct cfi_section *debug_frame = &module->debug_frame;
    struct section section;
    debug_frame->is_debug_frame = true;
    if (!section_find(module, ".debug_frame", ".zdebug_frame", &section) ||
        unwind_module_part(module, section.file_offset, section.size, &debug_frame->part) != 0)
        return;
    const unsigned char *magic = file_part_at(&debug_frame->part, 0, 4);
    bool old = magic && memcmp(magic, "ZLIB", 4) == 0;
    if (old || (section.flags & SHF_COMPRESSED)) {
        uint64_t size;
        unsigned char *inflated =
            old ? inflate_old_section(&debug_frame->part, &size) : inflate_section(&debug_frame->part, &size);
        file_part_close(&debug_frame->part);
        if (!inflated)
            return;
        module->inflated = inflated;
        file_part_of_memory(&debug_frame->part, inflated, size);
    }
    table_build(&module->debug_frame_table, debug_frame);
}

static bool find_in_debug_frame(struct unwind_module *module, uint64_t vaddr, struct cfi_fde *fde)
{
    const struct fde_place *place = table_search(&module->debug_frame_table, vaddr);
    uint64_t next;
    return place && cfi_fde_read(&module->debug_frame, place->offset, fde, &next) == 1 && vaddr >= fde->start &&
           vaddr - fde->start < fde->size;
}

/* ---- the module's answer ---- */

bool unwind_module_find(struct unwind_module *module, uint64_t vaddr, struct cfi_fde *fde)
{
    uint64_t start;
    unwind_module_load_eh_frame(module);
    if (find_in_eh_frame(module, vaddr, &start, fde))
        return true;
    unwind_module_load_debug_frame(module);
    return find_in_debug_frame(module, vaddr, fde);
}

bool unwind_module_function(struct unwind_module *module, uint64_t vaddr, uint64_t *start, uint64_t *size)
{
    struct cfi_fde fde;
    if (!unwind_module_find(module, vaddr, &fde))
        return false;
    *start = fde.start;
    *size = fde.size;
    return true;
}

bool unwind_module_is_entry(struct unwind_module *module, uint64_t vaddr)
{
    enum { ENTRY_SIZE = 128 };
    if (module->entry == 0 || vaddr < module->entry || vaddr - module->entry >= ENTRY_SIZE)
        return false;
    struct cfi_fde fde;
    uint64_t start_at_entry = 0, start_at_pc = 0;
    unwind_module_load_eh_frame(module);
    return !find_in_eh_frame(module, module->entry, &start_at_entry, &fde) &&
           !find_in_eh_frame(module, vaddr, &start_at_pc, &fde) && start_at_entry == start_at_pc;
}
