/*
 * Finds the Go function table, and the two addresses that the table lacks. The table is in section .gopclntab.
 * Position-independent programs up to Go 1.25 have the table in .data.rel.ro.gopclntab, which linkers other than Go's
 * merge into .data.rel.ro. In .data.rel.ro, and in all data of a program without section headers, this file searches
 * for the table's header. Since Go 1.18, function addresses are relative to the start of Go's text, which with cgo is
 * not the start of .text. Addresses of inlined calls are relative to a symbol that strip removes. The runtime has both
 * addresses in its `moduledata`, a record whose first two words point to the table and to its names. This file searches
 * for these two words. If the loader fills in the addresses, this file reads the addresses from the relocations.
 */
#include "elf/go_table.h"

#include "elf/elf_table.h"

enum {
    MAGIC_1_2 = 0xfffffffb,
    MAGIC_1_16 = 0xfffffffa,
    MAGIC_1_18 = 0xfffffff0,
    MAGIC_1_20 = 0xfffffff1,
};

/* Indexes of the used words of moduledata. */
enum { MODULE_TEXT = 22, MODULE_FUNCTION_DATA_1_18 = 38, MODULE_FUNCTION_DATA_1_20 = 40, MODULE_WORDS };

enum { HEADER_MAX = 8 + 8 * 8, SCAN_STEP = 1 << 16 };

#define SCAN_MAX (UINT64_C(256) << 20) /* bytes of data to search for moduledata */

struct cursor go_table_read_at(struct go_table *table, uint64_t part, uint64_t offset, size_t size)
{
    size_t whole = table->part.size;
    if (part >= whole || offset >= whole - part)
        return (struct cursor){.failed = true};
    if (size > whole - part - offset)
        size = (size_t)(whole - part - offset);
    const unsigned char *bytes = file_part_get_bytes(&table->part, part + offset, size);
    return bytes ? cursor_of(bytes, size) : (struct cursor){.failed = true};
}

/* ---- relocated words ---- */

static bool is_relative(const struct elf_file *file, uint32_t type)
{
    return (file->machine == EM_X86_64 && type == R_X86_64_RELATIVE) ||
           (file->machine == EM_AARCH64 && type == R_AARCH64_RELATIVE);
}

/* Calls `visit` for each relocated word that holds an address of this program, until `visit` returns false. Skips
 * 32-bit files, which store these addresses in place. */
static void visit_relocations(const struct elf_file *file, bool (*visit)(void *context, const struct elf_relocation *),
                              void *context)
{
    bool go_on = file->is_64 && file->type == ET_DYN;
    for (size_t i = 0; go_on && i < file->sections.length; i++) {
        const struct elf_section *section = &file->sections.data[i];
        struct elf_relocations relocations;
        if (section->type != SHT_RELA || !(section->flags & SHF_ALLOC) ||
            !elf_relocations_load(&relocations, file, section))
            continue;
        for (size_t r = 0; go_on && r < relocations.count; r++) {
            struct elf_relocation relocation = elf_relocations_get(&relocations, r);
            if (is_relative(file, relocation.type))
                go_on = visit(context, &relocation);
        }
        elf_relocations_free(&relocations);
    }
}

struct loaded_part {
    unsigned char *bytes;
    uint64_t address, size;
};

static bool write_relocation(void *context, const struct elf_relocation *relocation)
{
    const struct loaded_part *part = context;
    uint64_t at = relocation->address - part->address;
    if (at < part->size && part->size - at >= 8)
        memcpy(part->bytes + at, &relocation->addend, 8);
    return true;
}

/* Reads the program's memory at this vaddr as loaded. */
static bool read_program(const struct elf_file *file, uint64_t address, void *out, size_t size)
{
    struct bytes bytes = elf_file_get_bytes_at(file, address);
    if (!bytes_read(&bytes, 0, out, size))
        return false;
    struct loaded_part part = {.bytes = out, .address = address, .size = size};
    visit_relocations(file, write_relocation, &part);
    return true;
}

/* ---- the header ---- */

static uint64_t read_word(struct cursor *c, unsigned pointer_size)
{
    return pointer_size == 8 ? cursor_u64(c) : cursor_u32(c);
}

static bool set_layout(struct go_table *table, uint32_t magic)
{
    switch (magic) {
    case MAGIC_1_16:
        table->layout = GO_LAYOUT_1_16;
        return true;
    case MAGIC_1_18:
        table->layout = GO_LAYOUT_1_18;
        return true;
    case MAGIC_1_20:
        table->layout = GO_LAYOUT_1_20;
        return true;
    default:
        return false;
    }
}

/* Parses the header in `raw` for a table of at most `size` bytes. Returns false if the header is implausible. */
static bool read_header(struct go_table *table, const struct elf_file *file, const void *raw, size_t raw_size,
                        uint64_t size)
{
    struct cursor c = cursor_of(raw, raw_size);
    if (!set_layout(table, cursor_u32(&c)) || cursor_u16(&c) != 0)
        return false;
    table->quantum = cursor_u8(&c);
    table->pointer_size = cursor_u8(&c);
    if ((table->quantum != 1 && table->quantum != 2 && table->quantum != 4) ||
        table->pointer_size != (file->is_64 ? 8U : 4U))
        return false;
    table->function_count = read_word(&c, table->pointer_size);
    read_word(&c, table->pointer_size); /* number of files */
    table->text = table->layout == GO_LAYOUT_1_16 ? 0 : read_word(&c, table->pointer_size);
    uint64_t *parts[] = {&table->names, &table->units, &table->files, &table->steps, &table->functions};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        *parts[i] = read_word(&c, table->pointer_size);
        if (*parts[i] >= size)
            return false;
    }
    unsigned field = table->layout == GO_LAYOUT_1_16 ? table->pointer_size : 4;
    return !c.failed && table->function_count > 0 && table->function_count < (size - table->functions) / field / 2;
}

static bool is_header_at(struct go_table *table, const struct elf_file *file, const struct bytes *bytes, uint64_t at)
{
    unsigned char raw[HEADER_MAX];
    uint64_t left = bytes->size - at;
    size_t size = left < sizeof(raw) ? (size_t)left : sizeof(raw);
    return bytes_read(bytes, at, raw, size) && read_header(table, file, raw, size, left);
}

/* Searches bytes for the header of the Go function table. Returns the header's offset, or UINT64_MAX. */
static uint64_t search_header(struct go_table *table, const struct elf_file *file, const struct bytes *bytes)
{
    struct window window = {.bytes = bytes, .step = SCAN_STEP};
    uint64_t found = UINT64_MAX, end = bytes->size < SCAN_MAX ? bytes->size : SCAN_MAX;
    for (uint64_t at = 0; found == UINT64_MAX && at < end; at += 8) {
        struct cursor c = window_read_at(&window, at, 8);
        if (set_layout(table, cursor_u32(&c)) && is_header_at(table, file, bytes, at))
            found = at;
    }
    window_destroy(&window);
    return found;
}

/* Where a table begins. */
struct place {
    struct bytes bytes;
    uint64_t address;
};

static bool search_header_in_bytes(struct go_table *table, const struct elf_file *file, const struct bytes *bytes,
                                   uint64_t address, struct place *place)
{
    uint64_t at = search_header(table, file, bytes);
    if (at == UINT64_MAX)
        return false;
    *place = (struct place){bytes_get_part(bytes, at, bytes->size - at), address + at};
    return true;
}

static bool is_go_program(const struct elf_file *file)
{
    enum { GO_BUILD_ID = 4 };
    unsigned char id[512];
    return elf_file_find_section(file, ".go.buildinfo") || elf_file_find_section(file, ".note.go.buildid") ||
           elf_file_read_note(file, "Go\0", GO_BUILD_ID, id, sizeof(id));
}

static bool search_segments(struct go_table *table, const struct elf_file *file, struct place *place)
{
    for (size_t i = 0; i < file->segments.length; i++) {
        const struct elf_segment *segment = &file->segments.data[i];
        struct bytes bytes = bytes_get_part(&file->bytes, segment->offset, segment->file_size);
        if (segment->type == PT_LOAD && !(segment->flags & PF_X) &&
            search_header_in_bytes(table, file, &bytes, segment->address, place))
            return true;
    }
    return false;
}

static int find_table(struct go_table *table, const struct elf_file *file, struct place *place, struct error *err)
{
    const struct elf_section *section = elf_file_find_section(file, ".gopclntab");
    if (!section)
        section = elf_file_find_section(file, ".data.rel.ro.gopclntab");
    if (section && is_header_at(table, file, &section->bytes, 0)) {
        *place = (struct place){section->bytes, section->address};
        return 0;
    }
    if (section)
        return error_set(err, EINVAL, "its Go function table is damaged, or from a release before Go 1.16");
    bool is_go = is_go_program(file), has_sections = file->sections.length > 0;
    section = elf_file_find_section(file, ".data.rel.ro");
    if (is_go && section && search_header_in_bytes(table, file, &section->bytes, section->address, place))
        return 0;
    if (is_go && !has_sections && search_segments(table, file, place))
        return 0;
    return error_set(err, ENOENT, "it has no Go function table");
}

/* ---- the moduledata ---- */

struct module_search {
    const struct elf_file *file;
    const struct go_table *table;
    uint64_t candidates[8]; /* vaddrs of words that point to the Go function table */
    size_t count;
};

static bool add_candidate(void *context, const struct elf_relocation *relocation)
{
    struct module_search *search = context;
    if (relocation->addend == search->table->address)
        search->candidates[search->count++] = relocation->address;
    return search->count < sizeof(search->candidates) / sizeof(search->candidates[0]);
}

/* Without relocations, the data itself contains the addresses. */
static void scan_segment(struct module_search *search, const struct elf_segment *segment, uint64_t *work_left)
{
    unsigned word = search->table->pointer_size;
    struct bytes bytes = bytes_get_part(&search->file->bytes, segment->offset, segment->file_size);
    struct window window = {.bytes = &bytes, .step = SCAN_STEP};
    for (uint64_t at = 0; at + 2 * word <= bytes.size && *work_left >= word; at += word, *work_left -= word) {
        struct cursor c = window_read_at(&window, at, 2 * word);
        if (read_word(&c, word) != search->table->address ||
            read_word(&c, word) != search->table->address + search->table->names)
            continue;
        struct elf_relocation found = {.address = segment->address + at, .addend = search->table->address};
        if (!add_candidate(search, &found))
            break;
    }
    window_destroy(&window);
}

static bool read_module(const struct module_search *search, uint64_t address, uint64_t words[MODULE_WORDS])
{
    unsigned char raw[MODULE_WORDS * 8];
    unsigned word = search->table->pointer_size;
    if (!read_program(search->file, address, raw, (size_t)MODULE_WORDS * word))
        return false;
    struct cursor c = cursor_of(raw, (size_t)MODULE_WORDS * word);
    for (size_t i = 0; i < MODULE_WORDS; i++)
        words[i] = read_word(&c, word);
    return words[0] == search->table->address && words[1] == search->table->address + search->table->names;
}

void go_table_search_module(struct go_table *table, const struct elf_file *file)
{
    struct module_search search = {.file = file, .table = table};
    uint64_t words[MODULE_WORDS], work_left = SCAN_MAX;
    if (table->has_searched || table->layout == GO_LAYOUT_1_16)
        return;
    table->has_searched = true;
    visit_relocations(file, add_candidate, &search);
    for (size_t i = 0; search.count == 0 && i < file->segments.length; i++)
        if (file->segments.data[i].type == PT_LOAD && (file->segments.data[i].flags & PF_W))
            scan_segment(&search, &file->segments.data[i], &work_left);
    for (size_t i = 0; i < search.count; i++)
        if (read_module(&search, search.candidates[i], words)) {
            table->text = words[MODULE_TEXT];
            table->function_data =
                words[table->layout == GO_LAYOUT_1_18 ? MODULE_FUNCTION_DATA_1_18 : MODULE_FUNCTION_DATA_1_20];
            return;
        }
}

/* Tables of Go 1.16 and 1.17 have absolute function addresses. In a position-independent program, the loader fills them
 * in. */
static int open_part(struct go_table *table, const struct elf_file *file, const struct place *place, struct error *err)
{
    struct bytes bytes = place->bytes;
    if (table->layout == GO_LAYOUT_1_16 && file->type == ET_DYN) {
        table->relocated = bytes.size <= FILE_PART_MAX ? malloc(bytes.size) : NULL;
        if (!table->relocated)
            return error_no_memory(err);
        if (!read_program(file, place->address, table->relocated, (size_t)bytes.size))
            return error_set(err, EINVAL, "prof cannot read its Go function table");
        bytes = (struct bytes){.memory = table->relocated, .size = bytes.size};
    }
    return file_part_open(&table->part, &bytes) ? 0 : error_no_memory(err);
}

int go_table_open(struct go_table *table, const struct elf_file *file, struct error *err)
{
    *table = (struct go_table){0};
    struct place place;
    unsigned char header[HEADER_MAX];
    if (file->is_big_endian)
        return error_set(err, ENOTSUP, "its Go function table is big-endian");
    int code = find_table(table, file, &place, err);
    if (code)
        return code;
    table->address = place.address;
    code = open_part(table, file, &place, err);
    if (code) {
        go_table_close(table);
        return code;
    }
    size_t size = place.bytes.size < HEADER_MAX ? (size_t)place.bytes.size : HEADER_MAX;
    if (file->type == ET_DYN && read_program(file, place.address, header, size)) /* relocated start of text */
        read_header(table, file, header, size, place.bytes.size);
    if (table->text == 0)
        go_table_search_module(table, file);
    const struct elf_section *text = elf_file_find_section(file, ".text");
    if (table->text == 0 && text && table->layout != GO_LAYOUT_1_16)
        table->text = text->address;
    return 0;
}

void go_table_close(struct go_table *table)
{
    file_part_close(&table->part);
    free(table->relocated);
    *table = (struct go_table){0};
}
