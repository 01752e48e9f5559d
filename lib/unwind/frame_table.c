/*
 * Finds the FDE of a pc: loads .eh_frame_hdr, .eh_frame and .debug_frame, and searches them. module.h has the order.
 */
#include "unwind/module.h"

#include "base/search.h"
#include "elf/elf_contents.h"

#include <dwarf.h>
#include <elf.h>

/* ---- .eh_frame_hdr: the table of the linker (Linux Standard Base 5.0 core, 10.6.2) ---- */

enum { HEADER_FIXED_SIZE = 4, TABLE_ENTRY_SIZE = 8 };

static const struct elf_segment *find_header_segment(const struct unwind_module *module)
{
    for (size_t i = 0; i < module->elf.segments.length; i++)
        if (module->elf.segments.data[i].type == PT_GNU_EH_FRAME)
            return &module->elf.segments.data[i];
    return NULL;
}

/* Reads .eh_frame_hdr and fills in the vaddr of .eh_frame. For an unusual table format, `table` stays 0. */
static bool header_open(struct unwind_module *module, uint64_t *eh_frame_vaddr)
{
    struct eh_frame_header *header = &module->header;
    const struct elf_segment *segment = find_header_segment(module);
    if (!segment)
        return false;
    struct bytes range = unwind_module_get_bytes(module, segment->address);
    range = bytes_get_part(&range, 0, segment->file_size);
    if (!file_part_open(&header->part, &range))
        return false;
    header->vaddr = segment->address;
    uint64_t head_size = header->part.size < 32 ? header->part.size : 32;
    const unsigned char *bytes = file_part_get_bytes(&header->part, 0, head_size);
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

static uint64_t read_header_address(const struct eh_frame_header *header, const unsigned char *bytes)
{
    struct cursor c = cursor_of(bytes, 4);
    return header->vaddr + (uint64_t)(int32_t)cursor_u32(&c);
}

/* Finds the last function that begins at or before `vaddr`: its start and the vaddr of its FDE. */
static bool header_search(struct eh_frame_header *header, uint64_t vaddr, uint64_t *start, uint64_t *fde_vaddr)
{
    /* functions below index `low` begin at or before vaddr, functions from `high` after */
    uint64_t low = 0, high = header->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        const unsigned char *entry = file_part_get_bytes(&header->part, header->table + middle * TABLE_ENTRY_SIZE, 4);
        if (!entry)
            return false;
        if (read_header_address(header, entry) <= vaddr)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return false;
    const unsigned char *entry =
        file_part_get_bytes(&header->part, header->table + (low - 1) * TABLE_ENTRY_SIZE, TABLE_ENTRY_SIZE);
    if (!entry)
        return false;
    *start = read_header_address(header, entry);
    *fde_vaddr = read_header_address(header, entry + 4);
    return true;
}

/* ---- tables built by reading a whole section ---- */

DEFINE_COMPARE(compare_entries, struct fde_entry, ORDER_THEN(a->start, b->start, ORDER(a->offset, b->offset)))

/* Limits of a built table, for damaged and hostile files: 4 MiB, and about 40 ms. Larger sections need .eh_frame_hdr,
 * which every linker writes. Go programs have the Go function table. */
enum { ENTRIES_MAX = 1 << 18, INDEXED_SECTION_MAX = 64 << 20 };

static void table_build(struct fde_table *table, struct cfi_section *section)
{
    struct cfi_fde fde;
    uint64_t offset = 0, next;
    if (section->part.size > INDEXED_SECTION_MAX)
        return;
    for (int kind, left = ENTRIES_MAX; left && (kind = cfi_fde_read(section, offset, &fde, &next)) >= 0; left--) {
        if (kind > 0 && !array_push(&table->entries, (struct fde_entry){fde.start, offset}))
            break;
        offset = next;
    }
    if (table->entries.length > 1)
        array_sort(&table->entries, compare_entries);
}

static const struct fde_entry *table_search(const struct fde_table *table, uint64_t vaddr)
{
    size_t next = search_count(table->entries.data, table->entries.length, element->start <= vaddr);
    return next ? &table->entries.data[next - 1] : NULL;
}

/* ---- Go ---- */

/* Go's linker writes this note, stripped or not. */
static bool has_go_note(const struct unwind_module *module)
{
    enum { GO_BUILD_ID = 4 };
    unsigned char id[512];
    return elf_file_read_note(&module->elf, "Go\0", GO_BUILD_ID, id, sizeof(id)) != 0;
}

static void load_go(struct unwind_module *module)
{
    if (module->go_state == LOADED)
        return;
    module->go_state = LOADED;
    bool has_table = unwind_module_has_code(module) && go_functions_open(&module->go, &module->elf, NULL) == 0;
    module->is_go = has_table || has_go_note(module);
}

size_t unwind_module_count_indexed(const struct unwind_module *module)
{
    return module->eh_frame_table.entries.length + module->debug_frame_table.entries.length;
}

bool unwind_module_is_go(struct unwind_module *module)
{
    load_go(module);
    return module->is_go;
}

int32_t unwind_module_find_go_frame_size(struct unwind_module *module, uint64_t vaddr)
{
    load_go(module);
    return module->go.table.function_count ? go_functions_find_frame_size(&module->go, vaddr) : -1;
}

/* ---- .eh_frame ---- */

/* Loads the section, at most once. A failure leaves an empty table. */
static void load_eh_frame(struct unwind_module *module)
{
    if (module->eh_frame_state == LOADED)
        return;
    module->eh_frame_state = LOADED;
    struct cfi_section *eh_frame = &module->eh_frame;
    eh_frame->is_32_bit = unwind_module_is_32_bit(module);
    const struct elf_section *section = elf_file_find_section(&module->elf, ".eh_frame");
    struct bytes bytes = {0};
    if (header_open(module, &eh_frame->vaddr)) {
        /* Without section headers the size of .eh_frame is unknown, and the section counts up to the end of its
         * segment. */
        bytes = unwind_module_get_bytes(module, eh_frame->vaddr);
    } else if (section && !(section->flags & SHF_COMPRESSED)) {
        eh_frame->vaddr = section->address;
        bytes = section->bytes;
    }
    if (!file_part_open(&eh_frame->part, &bytes))
        return;
    if (!module->header.table)
        table_build(&module->eh_frame_table, eh_frame);
}

bool unwind_module_use_frames(struct unwind_module *module, size_t frames_size, uint64_t eh_frame_vaddr, uint64_t start,
                              uint64_t size)
{
    const struct bytes frames = {.memory = module->owned_frames, .size = frames_size};
    module->eh_frame_state = module->debug_frame_state = LOADED;
    module->eh_frame.vaddr = eh_frame_vaddr;
    if (!file_part_open(&module->eh_frame.part, &frames))
        return false;
    table_build(&module->eh_frame_table, &module->eh_frame);
    for (size_t i = 0; i < module->eh_frame_table.entries.length; i++)
        if (module->eh_frame_table.entries.data[i].start - start < size)
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
        const struct fde_entry *entry = table_search(&module->eh_frame_table, vaddr);
        if (!entry)
            return false;
        *start = entry->start;
        offset = entry->offset;
    }
    return cfi_fde_read(section, offset, fde, &next) == 1 && vaddr >= fde->start && vaddr - fde->start < fde->size;
}

/* ---- .debug_frame ---- */

static void load_debug_frame(struct unwind_module *module)
{
    if (module->debug_frame_state == LOADED)
        return;
    module->debug_frame_state = LOADED;
    struct cfi_section *debug_frame = &module->debug_frame;
    debug_frame->is_debug_frame = true;
    debug_frame->is_32_bit = unwind_module_is_32_bit(module);
    if (elf_file_read_contents_size(&module->elf, ".debug_frame") > INDEXED_SECTION_MAX)
        return;
    struct bytes bytes = elf_file_load_contents(&module->elf, ".debug_frame", &module->owned_frames, NULL);
    if (file_part_open(&debug_frame->part, &bytes))
        table_build(&module->debug_frame_table, debug_frame);
}

static bool find_in_debug_frame(struct unwind_module *module, uint64_t vaddr, struct cfi_fde *fde)
{
    const struct fde_entry *entry = table_search(&module->debug_frame_table, vaddr);
    uint64_t next;
    return entry && cfi_fde_read(&module->debug_frame, entry->offset, fde, &next) == 1 && vaddr >= fde->start &&
           vaddr - fde->start < fde->size;
}

/* ---- unwind rules of a module ---- */

void unwind_module_load(struct unwind_module *module)
{
    if (!module)
        return;
    load_eh_frame(module);
    load_debug_frame(module);
    load_go(module);
    struct file_part *parts[] = {&module->header.part, &module->eh_frame.part, &module->debug_frame.part,
                                 &module->go.table.part};
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        file_part_get_bytes(parts[i], 0, parts[i]->size);
}

bool unwind_module_find_fde(struct unwind_module *module, uint64_t vaddr, struct cfi_fde *fde)
{
    uint64_t start;
    load_eh_frame(module);
    if (find_in_eh_frame(module, vaddr, &start, fde))
        return true;
    load_debug_frame(module);
    return find_in_debug_frame(module, vaddr, fde);
}

bool unwind_module_find_function(struct unwind_module *module, uint64_t vaddr, uint64_t *start, uint64_t *size)
{
    struct cfi_fde fde;
    if (!unwind_module_find_fde(module, vaddr, &fde))
        return false;
    *start = fde.start;
    *size = fde.size;
    return true;
}

bool unwind_module_is_entry(struct unwind_module *module, uint64_t vaddr)
{
    enum { ENTRY_SIZE = 128 };
    uint64_t entry = module->elf.entry;
    if (entry == 0 || vaddr < entry || vaddr - entry >= ENTRY_SIZE)
        return false;
    struct cfi_fde fde;
    uint64_t start_at_entry = 0, start_at_pc = 0;
    load_eh_frame(module);
    return !find_in_eh_frame(module, entry, &start_at_entry, &fde) &&
           !find_in_eh_frame(module, vaddr, &start_at_pc, &fde) && start_at_entry == start_at_pc;
}
