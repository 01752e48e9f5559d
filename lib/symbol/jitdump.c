/*
 * process/jit_records.h documents the format. This reader stores the offset of the machine code, and skips the code.
 * This reader also skips the unwind info, which only the recorder needs (process/jitdump_unwind.h).
 *
 * V8's line entries have addresses that are 64 bytes too high, because perf used to put the code at this offset in the
 * ELF files of a dump (kElfHeaderSize in src/diagnostics/perf-jit.cc). Other writers give a line for the first bytes of
 * a function. So prof treats a file without such a line as V8's. Before version 12, V8 also reads file names from freed
 * memory, whose first 16 bytes the allocator has overwritten, partly with zeros.
 */
#include "symbol/jitdump.h"

#include "base/hash.h"
#include "base/search.h"
#include "elf/bytes.h"
#include "process/jit_records.h"

#include <sys/stat.h>

enum { DEBUG_ENTRY = 17, /* bytes at least */ V8_LINE_BIAS = 64 };

/* Far more than any program compiles: limits for damaged and hostile files. */
enum {
    CODES_MAX = 1 << 20,
    LINES_MAX = 1 << 22,
    TEXTS_MAX = 64 << 20, /* limit of function and file names, in bytes */
    RECORDS_MAX = 1 << 25,
    BODY_MAX = 16 << 20,
    CODE_MAX = 64 << 20
};

/* The year 2001. No machine runs for 31 years, so a later time counts from the Unix epoch. */
static const uint64_t first_realtime = UINT64_C(1000000000) * 1000000000;

struct reader {
    struct jitdump *dump;
    struct window window;
    uint64_t size, at;
    struct hash by_index; /* code index in the file -> index in dump->codes */
    uint64_t lines_of;    /* address of the code that the last DEBUG record describes */
    uint32_t first_line, line_count;
    size_t texts_size;    /* bytes of dump->texts */
    bool has_first_lines; /* some code has a line entry for its first bytes */
    bool no_memory;
};

struct record {
    uint32_t kind;
    uint64_t time, body, size; /* offset of its body, after the header */
};

/* ---- records ---- */

static uint32_t add_text(struct reader *reader, const char *text, size_t length)
{
    struct strings *texts = &reader->dump->texts;
    size_t before = texts->entries.length;
    uint32_t index = strings_add(texts, text, length);
    if (index != STRING_NONE && texts->entries.length > before)
        reader->texts_size += length + sizeof(struct string_entry);
    reader->dump->is_full |= reader->texts_size > TEXTS_MAX;
    reader->no_memory |= index == STRING_NONE;
    return index;
}

static bool add_code(struct reader *reader, const struct jit_code *code, uint64_t index, uint64_t time)
{
    struct jitdump *dump = reader->dump;
    dump->is_full |= dump->codes.length >= CODES_MAX;
    if (!code->size || code->start > UINT64_MAX - code->size || dump->is_full)
        return true;
    struct jit_change change = {
        .start = code->start, .end = code->start + code->size, .time = time, .code = (uint32_t)dump->codes.length};
    return array_push(&dump->codes, *code) && jit_history_add(&dump->history, &change) &&
           hash_set(&reader->by_index, index, change.code);
}

static bool add_loaded_code(struct reader *reader, const struct record *record)
{
    uint64_t wanted = record->size < JIT_LOAD_SIZE + JITDUMP_NAME_MAX ? record->size : JIT_LOAD_SIZE + JITDUMP_NAME_MAX;
    struct cursor c = window_read_at(&reader->window, record->body, (size_t)wanted);
    if (cursor_left(&c) > wanted)
        c.end = c.at + wanted;
    struct jit_load load;
    if (!jit_load_read(&c, &load) || load.size > record->size || load.size > UINT32_MAX)
        return false;
    struct jit_code code = {.start = load.start, .size = load.size};
    size_t left = cursor_left(&c), length = strnlen((const char *)c.at, left);
    code.name = add_text(reader, (const char *)c.at, length);
    if (length < left && load.size <= record->size - JIT_LOAD_SIZE - length - 1)
        code.bytes_at = record->body + JIT_LOAD_SIZE + length + 1;
    if (reader->line_count && reader->lines_of == code.start) {
        code.first_line = reader->first_line;
        code.line_count = reader->line_count;
        reader->line_count = 0;
    }
    reader->no_memory |= code.name == STRING_NONE || !add_code(reader, &code, load.index, record->time);
    return true;
}

static bool add_moved_code(struct reader *reader, const struct record *record)
{
    struct cursor c = window_read_at(&reader->window, record->body, JIT_MOVE_SIZE);
    struct jit_move move;
    if (!jit_move_read(&c, &move) || record->size < JIT_MOVE_SIZE || move.size > UINT32_MAX)
        return false;
    uint32_t moved = hash_get(&reader->by_index, move.index);
    if (moved == HASH_MISSING || !move.size || move.from > UINT64_MAX - move.size)
        return true;
    struct jit_code code = reader->dump->codes.data[moved];
    code.start = move.to;
    code.size = move.size;
    struct jit_change gone = {
        .start = move.from, .end = move.from + move.size, .time = record->time, .code = JIT_HISTORY_NONE};
    reader->no_memory |=
        !jit_history_add(&reader->dump->history, &gone) || !add_code(reader, &code, move.index, record->time);
    return true;
}

DEFINE_COMPARE(compare_lines, struct jit_line, ORDER(a->offset, b->offset))

/* Whether a line entry can begin at the cursor: its address must lie in the code of the next LOAD record. */
static bool can_begin_entry(struct cursor c, uint64_t code)
{
    uint64_t offset = cursor_u64(&c) - code;
    cursor_bytes(&c, DEBUG_ENTRY - sizeof(uint64_t));
    return !c.failed && offset < CODE_MAX;
}

/* Reads a name up to the first NUL after which an entry can begin, or returns NULL without such a NUL. */
static const char *read_name(struct cursor *c, uint64_t code, bool is_last, size_t *length)
{
    const char *name = cursor_string(c);
    while (!is_last && !c->failed && !can_begin_entry(*c, code))
        cursor_string(c);
    *length = c->failed ? 0 : (size_t)((const char *)c->at - name) - 1;
    if (*length > JITDUMP_NAME_MAX)
        *length = JITDUMP_NAME_MAX;
    return c->failed ? NULL : name;
}

static bool add_lines(struct reader *reader, struct cursor *c, uint64_t count)
{
    struct jitdump *dump = reader->dump;
    uint32_t file = STRING_NONE;
    dump->is_full |= dump->lines.length >= LINES_MAX;
    for (uint64_t i = 0; i < count && !dump->is_full; i++) {
        uint64_t offset = cursor_u64(c) - reader->lines_of;
        struct jit_line line = {.offset = (uint32_t)offset, .line = cursor_u32(c), .column = cursor_u32(c)};
        size_t length;
        const char *name = read_name(c, reader->lines_of, i + 1 == count, &length);
        if (!name)
            return false;
        bool is_same = length == 1 && *name == '\xff' && file != STRING_NONE;
        if (!is_same)
            file = add_text(reader, name, length);
        line.file = file;
        if (offset < CODE_MAX && file != STRING_NONE && !array_push(&dump->lines, line))
            reader->no_memory = true;
    }
    return true;
}

/* Reads the lines of the code loaded next, as offsets from its start. */
static bool read_debug_record(struct reader *reader, const struct record *record)
{
    struct jitdump *dump = reader->dump;
    if (record->size > BODY_MAX)
        return true;
    struct cursor c = window_read_at(&reader->window, record->body, (size_t)record->size);
    if (cursor_left(&c) > record->size)
        c.end = c.at + record->size;
    reader->lines_of = cursor_u64(&c);
    uint64_t count = cursor_u64(&c);
    reader->first_line = (uint32_t)dump->lines.length;
    reader->line_count = 0;
    if (c.failed || count > cursor_left(&c) / DEBUG_ENTRY)
        return false;
    if (!add_lines(reader, &c, count)) {
        dump->lines.length = reader->first_line;
        return false;
    }
    reader->line_count = (uint32_t)dump->lines.length - reader->first_line;
    if (!reader->line_count)
        return true;
    qsort(&dump->lines.data[reader->first_line], reader->line_count, sizeof(struct jit_line), compare_lines);
    reader->has_first_lines |= dump->lines.data[reader->first_line].offset < V8_LINE_BIAS;
    return true;
}

static bool read_record(struct reader *reader, const struct record *record)
{
    switch (record->kind) {
    case JIT_LOAD:
        return add_loaded_code(reader, record);
    case JIT_MOVE:
        return add_moved_code(reader, record);
    case JIT_DEBUG:
        return read_debug_record(reader, record);
    default:
        return true;
    }
}

/* ---- the file ---- */

static int read_header(struct reader *reader, struct error *err)
{
    struct cursor c = window_read_at(&reader->window, 0, JIT_HEADER_SIZE);
    struct jit_header header;
    int code = jit_read_header(&c, &header, err);
    if (code)
        return code;
    reader->at = header.size;
    reader->dump->clock = header.has_own_clock ? JITDUMP_ORDER : JITDUMP_MONOTONIC;
    reader->dump->machine = header.machine;
    return 0;
}

/* Returns false at the end of the readable records. */
static bool find_next_record(struct reader *reader, struct record *record)
{
    if (reader->at >= reader->size)
        return false;
    struct cursor c = window_read_at(&reader->window, reader->at, JIT_RECORD_HEAD);
    struct jit_record head;
    if (!jit_record_read(&c, &head) || head.size > reader->size - reader->at) {
        reader->dump->is_cut = true;
        return false;
    }
    *record = (struct record){.kind = head.kind,
                              .time = head.time,
                              .body = reader->at + JIT_RECORD_HEAD,
                              .size = head.size - JIT_RECORD_HEAD};
    reader->at += head.size;
    return true;
}

static void read_records(struct reader *reader)
{
    struct jitdump *dump = reader->dump;
    struct record record;
    for (size_t i = 0; i < RECORDS_MAX && !reader->no_memory && !dump->is_full && find_next_record(reader, &record);
         i++) {
        if (dump->clock == JITDUMP_ORDER)
            record.time = 0;
        else if (record.kind == JIT_LOAD && !dump->codes.length && record.time >= first_realtime)
            dump->clock = JITDUMP_REALTIME;
        dump->is_cut |= !read_record(reader, &record);
    }
}

static void remove_bias(struct jitdump *dump)
{
    for (size_t i = 0; i < dump->lines.length; i++)
        dump->lines.data[i].offset -= V8_LINE_BIAS;
}

int jitdump_read(struct jitdump *dump, int fd, struct error *err)
{
    struct stat info;
    *dump = (struct jitdump){.is_cut = false};
    if (fstat(fd, &info))
        return error_set(err, errno, "cannot read a jitdump file: %s", strerror(errno));
    dump->device = info.st_dev;
    dump->inode = info.st_ino;
    struct file_source file = {.fd = fd};
    struct bytes bytes = {.source = &file, .size = info.st_size > 0 ? (uint64_t)info.st_size : 0};
    struct reader reader = {.dump = dump, .window = {.bytes = &bytes, .step = 1 << 16}, .size = bytes.size};
    int code = read_header(&reader, err);
    if (!code) {
        read_records(&reader);
        if (!reader.has_first_lines)
            remove_bias(dump);
        code = jit_history_finish(&dump->history, err);
    }
    if (reader.no_memory || bytes_ran_out_of_memory(&bytes))
        code = error_no_memory(err);
    window_destroy(&reader.window);
    hash_destroy(&reader.by_index);
    if (code)
        jitdump_destroy(dump);
    return code;
}

void jitdump_destroy(struct jitdump *dump)
{
    array_free(&dump->codes);
    array_free(&dump->lines);
    strings_destroy(&dump->texts);
    jit_history_destroy(&dump->history);
    *dump = (struct jitdump){.is_cut = false};
}

const struct jit_line *jitdump_find_line(const struct jitdump *dump, uint32_t code, uint64_t address)
{
    const struct jit_code *of = &dump->codes.data[code];
    if (!of->line_count)
        return NULL;
    const struct jit_line *lines = &dump->lines.data[of->first_line];
    uint64_t offset = address - of->start;
    size_t next = search_count(lines, of->line_count, element->offset <= offset);
    return next ? &lines[next - 1] : NULL;
}

bool jitdump_line_is_in_file(const struct jitdump *dump, const struct jit_line *line, const char *file)
{
    enum { OVERWRITTEN = 16 };
    const struct string_entry *name = &dump->texts.entries.data[line->file];
    if (strlen(file) != name->length)
        return false;
    bool is_overwritten = memchr(name->text, 0, name->length) != NULL;
    size_t skip = !is_overwritten ? 0 : name->length < OVERWRITTEN ? name->length : OVERWRITTEN;
    return memcmp(file + skip, name->text + skip, name->length - skip) == 0;
}
