/*
 * Reads the Go function table.
 *
 * A sorted array maps addresses to function records. A function record has the name, and offsets of step
 * tables (the pc-value tables of Go). A step has a value change and the number of code bytes for which the value
 * applies, both as variable-length numbers. Separate step tables encode the frame size, the file index, the line, and
 * the innermost inlined call. An inlined call has its function's name, and its call site as a pc of the outer function.
 * At the pc of the call site, the same step tables have the file and line of the call, and the next outer call.
 *
 * For hostile files, reads go through cursors that end with the table, and the number of steps and the call depth are
 * bounded.
 */
#include "elf/go_functions.h"

enum { STEPS_MAX = 1 << 26, INLINES_MAX = 256, INLINED_CALL_TABLE = 2, INLINED_CALL_DATA = 3 };

/* Limits of a function name and of a step table, in bytes. */
enum { TEXT_MAX = 1 << 16, STEPS_SIZE_MAX = 1 << 20 };

/* Offsets of the fields of a function record, in bytes after the function's address. The address has the size of a
 * pointer in Go 1.16, and 4 bytes in later releases. */
enum {
    FIELD_NAME = 0,
    FIELD_FRAME_SIZES = 12,
    FIELD_FILES = 16,
    FIELD_LINES = 20,
    FIELD_TABLE_COUNT = 24,
    FIELD_UNIT = 28
};

int go_functions_open(struct go_functions *functions, const struct elf_file *file, struct error *err)
{
    *functions = (struct go_functions){.file = file, .work_left = STEPS_MAX};
    return go_table_open(&functions->table, file, err);
}

void go_functions_close(struct go_functions *functions)
{
    window_destroy(&functions->calls);
    go_table_close(&functions->table);
}

/* ---- the table's parts ---- */

static uint32_t read_u32(struct go_table *table, uint64_t part, uint64_t offset)
{
    struct cursor c = go_table_read_at(table, part, offset, 4);
    return cursor_u32(&c);
}

static const char *read_text(struct go_table *table, uint64_t part, uint64_t offset)
{
    struct cursor c = go_table_read_at(table, part, offset, TEXT_MAX);
    const char *text = cursor_string(&c);
    return text && *text ? text : NULL;
}

struct entry {
    uint64_t start;  /* vaddr */
    uint64_t record; /* offset of the record from table->functions */
};

static struct entry read_entry(struct go_table *table, uint64_t index)
{
    struct entry entry;
    bool has_words = table->layout == GO_LAYOUT_1_16 && table->pointer_size == 8;
    struct cursor c = go_table_read_at(table, table->functions, index * (has_words ? 16 : 8), 16);
    entry.start = table->text + (has_words ? cursor_u64(&c) : cursor_u32(&c));
    entry.record = has_words ? cursor_u64(&c) : cursor_u32(&c);
    return entry;
}

/* ---- records ---- */

static uint64_t find_fields(struct go_table *table, const struct go_function *function)
{
    return function->record + (table->layout == GO_LAYOUT_1_16 ? table->pointer_size : 4);
}

static uint32_t read_field(struct go_table *table, const struct go_function *function, uint64_t at)
{
    return read_u32(table, find_fields(table, function), at);
}

/* Returns the offset of the step table offsets, which follow the last fixed field of the function record. */
static uint64_t find_step_tables(struct go_table *table, const struct go_function *function)
{
    return find_fields(table, function) + FIELD_UNIT + (table->layout == GO_LAYOUT_1_20 ? 12 : 8);
}

/* Fills in all members except the name. */
static bool find_record(struct go_functions *functions, uint64_t vaddr, struct go_function *function)
{
    struct go_table *table = &functions->table;
    uint64_t first = 0, count = table->function_count; /* the last entry that starts at or before vaddr */
    if (vaddr < read_entry(table, 0).start || vaddr >= read_entry(table, count).start)
        return false;
    while (count > 1) {
        uint64_t half = count / 2;
        if (read_entry(table, first + half).start <= vaddr) {
            first += half;
            count -= half;
        } else {
            count = half;
        }
    }
    struct entry entry = read_entry(table, first);
    if (entry.record > table->part.size)
        return false;
    *function = (struct go_function){
        .start = entry.start, .end = read_entry(table, first + 1).start, .record = table->functions + entry.record};
    return vaddr >= function->start && vaddr < function->end;
}

bool go_functions_find(struct go_functions *functions, uint64_t vaddr, struct go_function *function)
{
    struct go_table *table = &functions->table;
    if (!find_record(functions, vaddr, function))
        return false;
    function->name = read_text(table, table->names, read_field(table, function, FIELD_NAME));
    return function->name != NULL;
}

/* ---- steps ---- */

/* Returns the value of a step table at a pc, or -1. */
static int32_t get_step_value(struct go_functions *functions, const struct go_function *function, uint32_t steps,
                              uint64_t vaddr)
{
    struct go_table *table = &functions->table;
    struct cursor c = go_table_read_at(table, table->steps, steps, STEPS_SIZE_MAX);
    uint64_t at = function->start;
    uint32_t value = UINT32_MAX;
    for (bool is_first = true; steps && functions->work_left; is_first = false, functions->work_left--) {
        uint32_t change = (uint32_t)cursor_uleb(&c);
        uint64_t length = cursor_uleb(&c);
        if (c.failed || (change == 0 && !is_first) || length > UINT32_MAX)
            return -1;
        value += (change >> 1) ^ (0U - (change & 1)); /* zigzag */
        at += length * table->quantum;
        if (vaddr < at)
            return (int32_t)value;
    }
    return -1;
}

int32_t go_functions_find_frame_size(struct go_functions *functions, uint64_t vaddr)
{
    struct go_function function;
    if (!find_record(functions, vaddr, &function))
        return -1;
    functions->work_left = STEPS_SIZE_MAX;
    int32_t size =
        get_step_value(functions, &function, read_field(&functions->table, &function, FIELD_FRAME_SIZES), vaddr);
    return size < 0 ? -1 : size; /* a damaged table may have a bad index */
}

static void find_line(struct go_functions *functions, const struct go_function *function, uint64_t vaddr,
                      struct go_frame *frame)
{
    struct go_table *table = &functions->table;
    int32_t file = get_step_value(functions, function, read_field(table, function, FIELD_FILES), vaddr);
    int32_t line = get_step_value(functions, function, read_field(table, function, FIELD_LINES), vaddr);
    if (file < 0 || line < 0)
        return;
    uint64_t entry = (uint64_t)read_field(table, function, FIELD_UNIT) + (uint32_t)file;
    struct cursor c = go_table_read_at(table, table->units, entry * 4, 4);
    uint32_t text = cursor_u32(&c);
    frame->file = c.failed || text == UINT32_MAX ? NULL : read_text(table, table->files, text);
    frame->line = frame->file ? (uint32_t)line : 0;
}

/* ---- inlined calls ---- */

static uint32_t count_step_tables(struct go_table *table, const struct go_function *function)
{
    return read_field(table, function, FIELD_TABLE_COUNT);
}

/* Returns the index of the innermost call inlined at a pc, or -1. */
static int32_t find_inlined_call(struct go_functions *functions, const struct go_function *function, uint64_t vaddr)
{
    struct go_table *table = &functions->table;
    if (count_step_tables(table, function) <= INLINED_CALL_TABLE)
        return -1;
    uint64_t at = find_step_tables(table, function) + 4 * INLINED_CALL_TABLE;
    return get_step_value(functions, function, read_u32(table, at, 0), vaddr);
}

/* Returns the vaddr of the function's inlined calls, or 0. */
static uint64_t find_inlined_calls(struct go_functions *functions, const struct go_function *function)
{
    struct go_table *table = &functions->table;
    uint64_t tables = find_step_tables(table, function),
             after = tables + (uint64_t)count_step_tables(table, function) * 4;
    struct cursor c = go_table_read_at(table, tables - 1, 0, 1);
    if (cursor_u8(&c) <= INLINED_CALL_DATA)
        return 0;
    if (table->layout == GO_LAYOUT_1_16) {
        after += (0 - (table->address + after)) % table->pointer_size;
        c = go_table_read_at(table, after, (uint64_t)table->pointer_size * INLINED_CALL_DATA, 8);
        return table->pointer_size == 8 ? cursor_u64(&c) : cursor_u32(&c);
    }
    c = go_table_read_at(table, after, 4 * INLINED_CALL_DATA, 4);
    go_table_search_module(table, functions->file);
    uint32_t offset = cursor_u32(&c);
    return c.failed || offset == UINT32_MAX || !table->function_data ? 0 : table->function_data + offset;
}

struct inlined_call {
    const char *name;
    uint64_t caller; /* vaddr of an instruction at the call site */
};

static bool read_inlined_call(struct go_functions *functions, const struct go_function *function, uint64_t calls,
                              uint32_t number, struct inlined_call *call)
{
    struct go_table *table = &functions->table;
    bool is_long = table->layout != GO_LAYOUT_1_20; /* records have outer call, file and line */
    uint64_t address = calls + (uint64_t)number * (is_long ? 20 : 16);
    const struct elf_segment *segment = functions->calls_segment;
    if (!segment || address < segment->address || address - segment->address >= functions->calls_bytes.size) {
        window_destroy(&functions->calls);
        functions->calls_segment = segment = elf_file_find_segment(functions->file, address);
        functions->calls_bytes = segment ? elf_file_get_bytes_at(functions->file, segment->address) : (struct bytes){0};
        functions->calls.bytes = &functions->calls_bytes;
    }
    if (!segment)
        return false;
    struct cursor c = window_read_at(&functions->calls, address - segment->address, 20);
    cursor_bytes(&c, is_long ? 12 : 4);
    call->name = read_text(table, table->names, cursor_u32(&c));
    uint32_t caller = cursor_u32(&c);
    call->caller = function->start + caller;
    return !c.failed && call->name && caller < function->end - function->start;
}

size_t go_functions_list_frames(struct go_functions *functions, const struct go_function *function, uint64_t vaddr,
                                struct go_frame *frames, size_t max)
{
    uint64_t calls = find_inlined_calls(functions, function);
    int32_t number = calls ? find_inlined_call(functions, function, vaddr) : -1;
    size_t count = 0;
    struct inlined_call call;
    while (number >= 0 && count + 1 < max && count < INLINES_MAX &&
           read_inlined_call(functions, function, calls, (uint32_t)number, &call)) {
        frames[count] = (struct go_frame){.name = call.name};
        find_line(functions, function, vaddr, &frames[count++]);
        vaddr = call.caller;
        number = find_inlined_call(functions, function, vaddr);
    }
    frames[count] = (struct go_frame){.name = function->name};
    find_line(functions, function, vaddr, &frames[count++]);
    return count;
}
