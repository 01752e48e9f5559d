/*
 * Line tables.
 *
 * A line table is a program for a small state machine. The program emits rows (address, file, line, column) in
 * sequences of ascending addresses. prof does not store the rows. The requested addresses are sorted, so prof matches
 * each emitted row at once with the requested addresses up to the next row. If several rows have the same address, the
 * last row counts. Sequences at address 0 belong to functions that the linker dropped.
 */
#include "base/search.h"
#include "symbol/dwarf_lines.h"

#include <dwarf.h>

enum { PATH_LENGTH_MAX = 4096 };

/* clang -gembed-source: LLVM's BinaryFormat/Dwarf.def; <dwarf.h> of elfutils 0.188 lacks it. */
enum { LNCT_LLVM_SOURCE = 0x2001 };

static uint64_t find_raw_offset(const struct dwarf_lines *lines, const unsigned char *at)
{
    return (uint64_t)(at - lines->raw);
}

/* Reads one field of a directory or file entry (DWARF 5, 6.2.4.1). */
static struct dwarf_value read_field(struct dwarf_lines *lines, struct cursor *c, uint64_t form)
{
    struct dwarf_value value = {.form = (uint16_t)form};
    switch (form) {
    case DW_FORM_string:
        value.number = find_raw_offset(lines, c->at);
        cursor_string(c);
        break;
    case DW_FORM_line_strp:
    case DW_FORM_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_sec_offset:
        value.number = dwarf_read_sized(c, lines->offset_size);
        break;
    case DW_FORM_udata:
    case DW_FORM_strx:
        value.number = cursor_uleb(c);
        break;
    case DW_FORM_data1:
    case DW_FORM_strx1:
        value.number = cursor_u8(c);
        break;
    case DW_FORM_data2:
    case DW_FORM_strx2:
        value.number = cursor_u16(c);
        break;
    case DW_FORM_strx3:
        value.number = dwarf_read_sized(c, 3);
        break;
    case DW_FORM_data4:
    case DW_FORM_strx4:
        value.number = cursor_u32(c);
        break;
    case DW_FORM_data8:
        value.number = cursor_u64(c);
        break;
    case DW_FORM_data16:
        cursor_bytes(c, 16);
        break;
    case DW_FORM_block:
        cursor_bytes(c, cursor_uleb(c));
        break;
    default:
        lines->verdict = DWARF_DECLINED;
        c->failed = true;
    }
    return value;
}

static bool add_name(struct dwarf_lines *lines, bool is_file, struct dwarf_line_name name)
{
    bool done = is_file ? array_push(&lines->files, name) : array_push(&lines->directories, name);
    if (!done)
        lines->verdict = DWARF_NO_MEMORY;
    return done;
}

/* Reads directories or files of version 5: a description of their fields, then the entries. */
static bool read_described_names(struct dwarf_lines *lines, struct cursor *c, bool is_file)
{
    struct {
        uint64_t content, form;
    } fields[16];
    uint8_t field_count = cursor_u8(c);
    if (field_count > sizeof(fields) / sizeof(fields[0]))
        return false;
    for (uint8_t i = 0; i < field_count; i++) {
        fields[i].content = cursor_uleb(c);
        fields[i].form = cursor_uleb(c);
    }
    uint64_t count = cursor_uleb(c);
    if (c->failed || count > cursor_left(c) || (field_count == 0 && count > 0))
        return false;
    for (uint64_t entry = 0; entry < count; entry++) {
        struct dwarf_line_name name = {0};
        for (uint8_t i = 0; i < field_count; i++) {
            struct dwarf_value value = read_field(lines, c, fields[i].form);
            if (fields[i].content == DW_LNCT_path)
                name.text = value;
            else if (fields[i].content == DW_LNCT_directory_index)
                name.directory = value.number;
            else if (fields[i].content == LNCT_LLVM_SOURCE)
                name.source = value;
        }
        if (c->failed || !add_name(lines, is_file, name))
            return false;
    }
    return true;
}

/* Reads directories or files before version 5: texts up to an empty one. */
static bool read_plain_names(struct dwarf_lines *lines, struct cursor *c, bool is_file)
{
    for (;;) {
        struct dwarf_line_name name = {.text = {.form = DW_FORM_string, .number = find_raw_offset(lines, c->at)}};
        const char *text = cursor_string(c);
        if (!text)
            return false;
        if (!*text)
            return true;
        if (is_file) {
            name.directory = cursor_uleb(c);
            cursor_uleb(c); /* time */
            cursor_uleb(c); /* size */
        }
        if (c->failed || !add_name(lines, is_file, name))
            return false;
    }
}

static bool read_line_header(struct dwarf_lines *lines, struct cursor *c)
{
    bool is_known = true;
    lines->version = cursor_u16(c);
    if (lines->version >= 5) {
        lines->address_size = cursor_u8(c);
        is_known = cursor_u8(c) == 0; /* segment_selector_size */
    }
    uint64_t header_length = dwarf_read_sized(c, lines->offset_size);
    uint64_t program = find_raw_offset(lines, c->at) + header_length;
    lines->min_instruction_length = cursor_u8(c);
    if (lines->version >= 4)
        is_known &= cursor_u8(c) <= 1; /* maximum operations per instruction: more on VLIW machines */
    if (!c->failed && (!is_known || lines->version < 2 || lines->version > 5)) {
        lines->verdict = DWARF_DECLINED;
        return false;
    }
    cursor_u8(c); /* default_is_stmt */
    lines->line_base = (int8_t)cursor_u8(c);
    lines->line_range = cursor_u8(c);
    lines->opcode_base = cursor_u8(c);
    lines->opcode_lengths = lines->opcode_base ? cursor_bytes(c, lines->opcode_base - 1u) : NULL;
    if (c->failed || header_length > lines->size || program > lines->size || !lines->opcode_lengths ||
        lines->line_range == 0)
        return false;
    lines->program = (size_t)program;
    if (lines->version >= 5)
        return read_described_names(lines, c, false) && read_described_names(lines, c, true);
    return read_plain_names(lines, c, false) && read_plain_names(lines, c, true);
}

/* Loads the bytes of one table, without its length, into lines->raw. */
static bool load_table(struct dwarf_lines *lines)
{
    const struct bytes *section = &lines->reader->file->sections[DWARF_LINE];
    uint64_t offset = lines->reader->lines.number, length;
    unsigned char head[12] = {0};
    bytes_read(section, offset, head, offset < section->size && section->size - offset >= 12 ? 12 : 0);
    struct cursor c = cursor_of(head, sizeof(head));
    lines->offset_size = 4;
    length = cursor_u32(&c);
    if (length == 0xffffffff) {
        lines->offset_size = 8;
        length = cursor_u64(&c);
    }
    struct bytes table = bytes_get_part(section, offset + (lines->offset_size == 8 ? 12 : 4), length);
    if (section->size && table.size != length)
        dwarf_stop_reading(lines->reader, DWARF_DAMAGED);
    lines->raw = bytes_load(&table);
    lines->size = (size_t)table.size;
    return lines->raw != NULL;
}

void dwarf_lines_open(struct dwarf_lines *lines, struct dwarf_unit_reader *reader, struct arena *arena)
{
    *lines = (struct dwarf_lines){.reader = reader, .arena = arena, .address_size = reader->unit->address_size};
    if (!reader->lines.form || !load_table(lines) || !dwarf_count_work(reader, lines->size))
        return;
    struct cursor c = cursor_of(lines->raw, lines->size);
    if (read_line_header(lines, &c))
        return;
    lines->program = 0;
    if (lines->verdict == DWARF_READ)
        lines->verdict = DWARF_DAMAGED;
    dwarf_stop_reading(reader, lines->verdict);
}

void dwarf_lines_close(struct dwarf_lines *lines)
{
    free(lines->raw);
    array_free(&lines->directories);
    array_free(&lines->files);
    array_free(&lines->paths);
}

/* ---- the program ---- */

struct machine {
    uint64_t address, file;
    uint32_t line, column;
};

/* State of matching rows of a sequence with the requested addresses. */
struct matching {
    const uint64_t *vaddrs;
    size_t count;
    struct dwarf_line_row *rows;
    bool in_sequence, is_dropped;
    bool takes_first; /* use the first row at a requested address, not the last row */
    struct machine last;
    size_t next;        /* index of the first requested address at or after `last` */
    uint64_t work_left; /* remaining steps, which bounds the work on a damaged table with unsorted addresses */
};

static void assign_row(struct matching *match, uint64_t end)
{
    for (; match->next < match->count && match->vaddrs[match->next] < end && match->work_left; match->next++) {
        match->work_left--;
        struct dwarf_line_row *row = &match->rows[match->next];
        if (!row->found)
            *row = (struct dwarf_line_row){match->last.file, match->last.line, match->last.column, true};
    }
}

static void emit_row(struct matching *match, const struct machine *machine)
{
    if (!match->in_sequence) {
        match->in_sequence = true;
        match->is_dropped = machine->address == 0;
        match->next = search_first_at_or_after(match->vaddrs, match->count, machine->address);
    } else if (machine->address < match->last.address) {
        match->next = search_first_at_or_after(match->vaddrs, match->count, machine->address);
    } else if (!match->is_dropped) {
        assign_row(match, machine->address);
    }
    match->last = *machine;
    if (match->takes_first && !match->is_dropped)
        assign_row(match, machine->address + 1);
}

static void end_sequence(struct matching *match, const struct machine *machine)
{
    if (match->in_sequence && !match->is_dropped)
        assign_row(match, machine->address);
    match->in_sequence = false;
}

static struct machine init_machine(void)
{
    return (struct machine){.file = 1, .line = 1};
}

static void run_extended_opcode(struct dwarf_lines *lines, struct cursor *c, struct machine *machine,
                                struct matching *match)
{
    uint64_t length = cursor_uleb(c);
    const unsigned char *bytes = cursor_bytes(c, length);
    if (!bytes || length == 0)
        return;
    struct cursor inside = cursor_of(bytes, (size_t)length);
    switch (cursor_u8(&inside)) {
    case DW_LNE_end_sequence:
        end_sequence(match, machine);
        *machine = init_machine();
        break;
    case DW_LNE_set_address:
        machine->address = dwarf_read_sized(&inside, (uint8_t)(length - 1 == 4 ? 4 : 8));
        break;
    case DW_LNE_define_file: {
        struct dwarf_line_name name = {.text = {.form = DW_FORM_string, .number = find_raw_offset(lines, inside.at)}};
        cursor_string(&inside);
        name.directory = cursor_uleb(&inside);
        if (!inside.failed)
            add_name(lines, true, name);
        break;
    }
    default:
        break;
    }
}

static void skip_unknown_opcode(const struct dwarf_lines *lines, struct cursor *c, uint8_t opcode)
{
    for (uint8_t i = 0; i < lines->opcode_lengths[opcode - 1]; i++)
        cursor_uleb(c);
}

static void run_standard_opcode(struct dwarf_lines *lines, struct cursor *c, uint8_t opcode, struct machine *machine,
                                struct matching *match)
{
    switch (opcode) {
    case DW_LNS_copy:
        emit_row(match, machine);
        break;
    case DW_LNS_advance_pc:
        machine->address += cursor_uleb(c) * lines->min_instruction_length;
        break;
    case DW_LNS_advance_line:
        machine->line += (uint32_t)cursor_sleb(c);
        break;
    case DW_LNS_set_file:
        machine->file = cursor_uleb(c);
        break;
    case DW_LNS_set_column:
        machine->column = (uint32_t)cursor_uleb(c);
        break;
    case DW_LNS_negate_stmt:
    case DW_LNS_set_basic_block:
    case DW_LNS_set_prologue_end:
    case DW_LNS_set_epilogue_begin:
        break;
    case DW_LNS_const_add_pc:
        machine->address += (uint64_t)((255 - lines->opcode_base) / lines->line_range) * lines->min_instruction_length;
        break;
    case DW_LNS_fixed_advance_pc:
        machine->address += cursor_u16(c);
        break;
    case DW_LNS_set_isa:
        cursor_uleb(c);
        break;
    default:
        skip_unknown_opcode(lines, c, opcode);
    }
}

static void run_line_program(struct dwarf_lines *lines, struct matching *match)
{
    struct machine machine = init_machine();
    struct cursor c = cursor_of(lines->raw + lines->program, lines->size - lines->program);
    while (cursor_left(&c) > 0 && !c.failed) {
        uint8_t opcode = cursor_u8(&c);
        if (opcode >= lines->opcode_base) {
            uint8_t special = (uint8_t)(opcode - lines->opcode_base);
            machine.address += (uint64_t)(special / lines->line_range) * lines->min_instruction_length;
            machine.line += (uint32_t)(lines->line_base + special % lines->line_range);
            emit_row(match, &machine);
        } else if (opcode == 0) {
            run_extended_opcode(lines, &c, &machine, match);
        } else {
            run_standard_opcode(lines, &c, opcode, &machine, match);
        }
    }
    if (c.failed)
        dwarf_stop_reading(lines->reader, DWARF_DAMAGED);
}

static void match_rows(struct dwarf_lines *lines, struct matching *match)
{
    match->work_left = lines->reader->work_left;
    if (!lines->program || match->count == 0)
        return;
    run_line_program(lines, match);
    lines->reader->work_left = match->work_left;
}

void dwarf_lines_match(struct dwarf_lines *lines, const uint64_t *vaddrs, size_t count, struct dwarf_line_row *rows)
{
    struct matching match = {.vaddrs = vaddrs, .count = count, .rows = rows};
    match_rows(lines, &match);
}

void dwarf_lines_match_starts(struct dwarf_lines *lines, const uint64_t *vaddrs, size_t count,
                              struct dwarf_line_row *rows)
{
    struct matching match = {.vaddrs = vaddrs, .count = count, .rows = rows, .takes_first = true};
    match_rows(lines, &match);
}

/* ---- paths ---- */

static const char *find_name_text(struct dwarf_lines *lines, const struct dwarf_line_name *name)
{
    if (name->text.form == DW_FORM_string)
        return (const char *)lines->raw + name->text.number; /* read_field() has checked for a NUL */
    return dwarf_value_get_text(lines->reader, name->text);
}

struct path {
    char text[PATH_LENGTH_MAX];
    size_t length;
};

/* Puts `directory` before the path unless the path is absolute. */
static void prepend_to_path(struct path *path, const char *directory)
{
    size_t size = directory ? strlen(directory) : 0;
    if (size == 0 || path->text[0] == '/')
        return;
    size_t slash = directory[size - 1] == '/' ? 0 : 1;
    if (size + slash + path->length >= sizeof(path->text))
        return;
    memmove(path->text + size + slash, path->text, path->length + 1);
    memcpy(path->text, directory, size);
    if (slash)
        path->text[size] = '/';
    path->length += size + slash;
}

static const char *make_path(struct dwarf_lines *lines, const struct dwarf_line_name *file)
{
    struct path path = {.length = 0};
    const char *name = find_name_text(lines, file);
    if (!name || !*name || strlen(name) >= sizeof(path.text))
        return NULL;
    path.length = strlen(name);
    memcpy(path.text, name, path.length + 1);
    bool is_new = lines->version >= 5;
    uint64_t directory =
        is_new ? file->directory : file->directory - 1; /* before version 5, 0 is the unit's directory */
    if (directory < lines->directories.length)
        prepend_to_path(&path, find_name_text(lines, &lines->directories.data[directory]));
    if (!is_new || directory != 0) /* since version 5, 0 is the unit's directory, which may be relative ("./csu") */
        prepend_to_path(&path, dwarf_value_get_text(lines->reader, lines->reader->directory));
    return arena_copy(lines->arena, path.text, path.length);
}

const char *dwarf_lines_get_path(struct dwarf_lines *lines, uint64_t file)
{
    uint64_t index = lines->version >= 5 ? file : file - 1;
    if (index >= lines->files.length)
        return NULL;
    while (lines->paths.length < lines->files.length)
        if (!array_push(&lines->paths, NULL))
            return NULL;
    if (!lines->paths.data[index])
        lines->paths.data[index] = make_path(lines, &lines->files.data[index]);
    return lines->paths.data[index];
}

static char *load_source(const struct dwarf_lines *lines, struct dwarf_value source, size_t *length)
{
    const struct bytes *sections = lines->reader->file->sections;
    struct bytes table = {.memory = lines->raw, .size = lines->size};
    switch (source.form) {
    case DW_FORM_string:
        return bytes_load_text(&table, source.number, DWARF_SOURCE_MAX, length);
    case DW_FORM_line_strp:
        return bytes_load_text(&sections[DWARF_LINE_STR], source.number, DWARF_SOURCE_MAX, length);
    case DW_FORM_strp:
        return bytes_load_text(&sections[DWARF_STR], source.number, DWARF_SOURCE_MAX, length);
    default:
        return NULL;
    }
}

char *dwarf_lines_load_source(struct dwarf_lines *lines, const char *path, size_t *length)
{
    for (size_t i = 0; i < lines->files.length; i++) {
        const char *own = lines->files.data[i].source.form ? dwarf_lines_get_path(lines, i) : NULL;
        if (!own || strcmp(own, path) != 0)
            continue;
        char *text = load_source(lines, lines->files.data[i].source, length);
        if (text && *length > 0) /* the compiler writes "" if it could not read the file */
            return text;
        free(text);
    }
    return NULL;
}
