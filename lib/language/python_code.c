#include "language/python_code.h"

#include "base/cursor.h"
#include "base/utf8.h"
#include "os/target_memory.h"

enum {
    AT_ONCE = 64,            /* code objects per system call that compares them */
    NAME_MAX_LENGTH = 1024,  /* limit of code points in a name */
    FILE_MAX_LENGTH = 4096,  /* limit of bytes of a path */
    TABLE_MAX = 1 << 20,     /* bytes of a line table; longer tables give no lines */
    CODES_MAX = 1 << 16,     /* limit of cached code objects of a process; above it, the cache is cleared */
    BYTES_MAX = 64 << 20,    /* limit of names and tables of a sample, in bytes; a larger sample has no Python frames */
    FUNCTIONS_MAX = 1 << 20, /* limit of Python functions in a recording; all later functions share one entry */
    SUSPECT_NS = 1000000000,
    IDENTITY_SKIP = 16, /* bytes at the start of an object: reference count, type */
    BYTES_SIZE = 16,
    BYTES_START = 32, /* in PyBytesObject: ob_size, ob_sval */
    OBJECT_TYPE = 8,
    OBJECT_SIZE = 16,
};

/* ---- identity ---- */

/* The memory that is read to compare a code object: the object, its name and its line table. */
struct probe {
    unsigned char code[PYTHON_CODE_HEAD], name[PYTHON_NAME_HEAD], table[PYTHON_TABLE_HEAD];
};

static uint64_t read_u64(const unsigned char *bytes, uint32_t offset)
{
    struct cursor at = cursor_of(bytes, PYTHON_CODE_HEAD);
    cursor_bytes(&at, offset);
    return cursor_u64(&at);
}

static uint32_t read_u32(const unsigned char *bytes, uint32_t offset)
{
    struct cursor at = cursor_of(bytes, PYTHON_CODE_HEAD);
    cursor_bytes(&at, offset);
    return cursor_u32(&at);
}

static void fill_identity(const struct python_layout *layout, const struct probe *probe,
                          struct python_identity *identity)
{
    *identity = (struct python_identity){
        .type = read_u64(probe->code, OBJECT_TYPE),
        .size = read_u64(probe->code, OBJECT_SIZE),
        .filename = read_u64(probe->code, layout->filename),
        .qualname = read_u64(probe->code, layout->qualname),
        .line_table = read_u64(probe->code, layout->line_table),
        .first_line = read_u32(probe->code, layout->first_line),
        .version = layout->version ? read_u32(probe->code, layout->version) : 0,
    };
    memcpy(identity->name_head, probe->name, sizeof(probe->name));
    memcpy(identity->table_head, probe->table, sizeof(probe->table));
}

/* The initializer also zeroed the padding, so memcmp() works. */
static bool is_same_code(const struct python_identity *a, const struct python_identity *b)
{
    return a->type == b->type && a->size == b->size && a->filename == b->filename && a->qualname == b->qualname &&
           a->line_table == b->line_table && a->first_line == b->first_line && a->version == b->version &&
           memcmp(a->name_head, b->name_head, sizeof(a->name_head)) == 0 &&
           memcmp(a->table_head, b->table_head, sizeof(a->table_head)) == 0;
}

/* ---- texts ---- */

static size_t write_utf8(char *out, uint32_t point)
{
    bool is_scalar = point < 0xd800 || (point >= 0xe000 && point <= 0x10ffff);
    return utf8_put(out, is_scalar ? point : 0xfffd); /* a lone surrogate stands for a path byte that is not UTF-8 */
}

static uint32_t read_code_point(const unsigned char *bytes, size_t i, unsigned kind)
{
    uint32_t point = 0;
    memcpy(&point, bytes + i * kind, kind);
    return point;
}

/* Reads a str object: ASCII text, or code points of 1, 2 or 4 bytes. Returns NULL for another object.
 * (Include/cpython/unicodeobject.h) */
static char *read_text(const struct python_source *source, uint64_t address, size_t max_length)
{
    const struct python_layout *layout = source->layout;
    unsigned char head[64] = {0};
    if (layout->text_length > sizeof(head) - 8 || layout->text_state > sizeof(head) - 4 ||
        python_memory_copy(source->memory, address, head, sizeof(head)) < layout->text_state + sizeof(uint32_t))
        return NULL;
    uint32_t state;
    uint64_t length;
    memcpy(&state, head + layout->text_state, sizeof(state));
    memcpy(&length, head + layout->text_length, sizeof(length));
    unsigned kind = state >> 2 & 7;
    bool is_compact = state >> 5 & 1, is_ascii = state >> 6 & 1;
    if (!is_compact || (kind != 1 && kind != 2 && kind != 4))
        return NULL;
    if (length > max_length)
        length = max_length;
    unsigned char *bytes = malloc(length * kind + 1);
    char *text = malloc(length * 4 + 1);
    uint64_t start = address + (is_ascii ? layout->text_ascii : layout->text_compact);
    size_t used = 0;
    bool is_read =
        bytes && text && (!length || python_memory_copy(source->memory, start, bytes, length * kind) == length * kind);
    for (size_t i = 0; is_read && i < length; i++) {
        uint32_t point = read_code_point(bytes, i, kind);
        is_read = point >= ' ' || point == '\t';
        used += write_utf8(text + used, point);
    }
    free(bytes);
    if (!is_read) {
        free(text);
        return NULL;
    }
    text[used] = '\0';
    return text;
}

/* ---- code objects ---- */

static void clear_code(struct python_code *code)
{
    free(code->name);
    free(code->file);
    free(code->table);
    code->name = code->file = NULL;
    code->table = NULL;
    code->table_size = 0;
    memset(code->lines, 0, sizeof(code->lines));
}

void python_codes_destroy(struct python_codes *codes)
{
    for (size_t i = 0; i < codes->codes.length; i++) {
        clear_code(codes->codes.data[i]);
        free(codes->codes.data[i]);
    }
    array_free(&codes->codes);
    hash_destroy(&codes->by_address);
    codes->bytes = 0;
}

void python_codes_start(struct python_codes *codes, uint64_t time)
{
    uint64_t sample = codes->sample + 1;
    if (codes->codes.length > CODES_MAX || codes->bytes > BYTES_MAX)
        python_codes_destroy(codes);
    codes->sample = sample;
    codes->time = time;
}

void python_codes_forget(struct python_codes *codes)
{
    for (size_t i = 0; i < codes->codes.length; i++)
        if (codes->codes.data[i]->made == codes->sample)
            codes->codes.data[i]->identity.type = 0; /* equals no code object */
}

static bool read_table(const struct python_source *source, struct python_code *code)
{
    uint64_t size;
    memcpy(&size, code->identity.table_head, sizeof(size));
    code->table_size = 0;
    if (!size || size > TABLE_MAX)
        return true;
    code->table = malloc(size);
    if (!code->table ||
        python_memory_copy(source->memory, code->identity.line_table + BYTES_START, code->table, size) != size)
        return false;
    code->table_size = (size_t)size;
    return true;
}

static bool read_code(struct python_codes *codes, const struct python_source *source, struct python_code *code)
{
    struct probe probe = {0};
    uint64_t address = code->address;
    const struct python_layout *layout = source->layout;
    clear_code(code);
    code->function = SPOOL_NO_NUMBER;
    code->made = codes->sample;
    code->identity = (struct python_identity){0};
    if (python_memory_copy(source->memory, address, probe.code, sizeof(probe.code)) < layout->bytecode)
        return false;
    uint64_t name = read_u64(probe.code, layout->qualname), table = read_u64(probe.code, layout->line_table);
    if (read_u64(probe.code, OBJECT_TYPE) != source->code_type ||
        python_memory_copy(source->memory, name + IDENTITY_SKIP, probe.name, sizeof(probe.name)) !=
            sizeof(probe.name) ||
        python_memory_copy(source->memory, table + BYTES_SIZE, probe.table, sizeof(probe.table)) != sizeof(probe.table))
        return false;
    struct python_identity identity;
    fill_identity(layout, &probe, &identity);
    code->identity = identity;
    code->is_trampoline = identity.filename == identity.qualname;
    code->name = read_text(source, identity.qualname, NAME_MAX_LENGTH);
    code->file = read_text(source, identity.filename, FILE_MAX_LENGTH);
    if (!code->name || !code->file || !read_table(source, code)) {
        code->identity.type = 0;
        return false;
    }
    codes->bytes += strlen(code->name) + strlen(code->file) + code->table_size;
    code->is_made = (code->file[0] == '<' && strncmp(code->file, "<frozen ", 8) != 0) || !code->file[0];
    code->sample = codes->sample;
    code->compared = codes->time;
    return true;
}

static struct python_code *add_code(struct python_codes *codes, uint64_t address)
{
    uint32_t *place = hash_at(&codes->by_address, address);
    if (!place)
        return NULL;
    if (*place != HASH_MISSING)
        return codes->codes.data[*place];
    struct python_code *code = calloc(1, sizeof(*code));
    if (!code || !array_push(&codes->codes, code)) {
        free(code);
        hash_remove(&codes->by_address, address);
        return NULL;
    }
    code->address = address;
    code->function = SPOOL_NO_NUMBER;
    *place = (uint32_t)codes->codes.length - 1;
    return code;
}

struct comparison {
    const struct python_source *source;
    struct python_code *codes[AT_ONCE];
    size_t count;
};

/* Returns the number of memory parts per comparison: the code object, and for Pythons without code versions also its
 * name and line table. */
static size_t count_parts(const struct python_source *source)
{
    return source->layout->version ? 1 : 3;
}

/* Marks the code objects that have not changed. */
static void compare_with_memory(struct python_codes *codes, struct comparison *comparison)
{
    const struct python_layout *layout = comparison->source->layout;
    struct python_memory *memory = comparison->source->memory;
    struct probe probes[AT_ONCE];
    struct iovec local[3 * AT_ONCE], remote[3 * AT_ONCE];
    size_t parts = count_parts(comparison->source), used = 0, each = 0;
    if (!comparison->count)
        return;
    for (size_t i = 0; i < comparison->count; i++) {
        const struct python_code *code = comparison->codes[i];
        const uint64_t addresses[] = {code->address, code->identity.qualname + IDENTITY_SKIP,
                                      code->identity.line_table + BYTES_SIZE};
        void *const into[] = {probes[i].code, probes[i].name, probes[i].table};
        const size_t sizes[] = {layout->bytecode, PYTHON_NAME_HEAD, PYTHON_TABLE_HEAD};
        memcpy(probes[i].name, code->identity.name_head, PYTHON_NAME_HEAD);
        memcpy(probes[i].table, code->identity.table_head, PYTHON_TABLE_HEAD);
        each = 0;
        for (size_t j = 0; j < parts; j++, used++) {
            local[used] = (struct iovec){.iov_base = into[j], .iov_len = sizes[j]};
            remote[used] = (struct iovec){.iov_base = (void *)(uintptr_t)addresses[j], .iov_len = sizes[j]};
            each += sizes[j];
        }
    }
    memory->reads++;
    ssize_t got = target_memory_readv(memory->thread, local, used, remote, used);
    size_t whole = got > 0 ? (size_t)got / each : 0;
    for (size_t i = 0; i < comparison->count; i++) {
        struct python_code *code = comparison->codes[i];
        struct python_identity now = {0};
        code->sample = 0;
        if (i < whole)
            fill_identity(layout, &probes[i], &now);
        if (i < whole && is_same_code(&now, &code->identity)) {
            code->sample = codes->sample;
            code->compared = codes->time;
        } else {
            codes->suspect = codes->time + SUSPECT_NS;
        }
    }
    comparison->count = 0;
}

uint64_t python_code_get_valid_until(const struct python_code *code)
{
    return code->is_made ? 0 : code->compared + PYTHON_CODE_CHECK;
}

static bool is_known_unchanged(const struct python_codes *codes, const struct python_code *code)
{
    return codes->time < python_code_get_valid_until(code) && codes->time >= codes->suspect;
}

bool python_codes_find(struct python_codes *codes, const struct python_source *source, const uint64_t *addresses,
                       size_t count, struct python_code **found)
{
    struct comparison comparison = {.source = source};
    if (source->layout->bytecode > PYTHON_CODE_HEAD || source->layout->bytecode < OBJECT_SIZE)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct python_code *code = found[i] = add_code(codes, addresses[i]);
        if (!code)
            return false;
        if (!code->identity.type || code->sample == codes->sample)
            continue;
        code->sample = codes->sample; /* compared once per sample */
        if (is_known_unchanged(codes, code))
            continue;
        comparison.codes[comparison.count++] = code;
        if (comparison.count == AT_ONCE)
            compare_with_memory(codes, &comparison);
    }
    compare_with_memory(codes, &comparison);
    for (size_t i = 0; i < count; i++) {
        bool is_right = found[i]->identity.type && found[i]->sample == codes->sample;
        if (!is_right && (codes->bytes > BYTES_MAX || !read_code(codes, source, found[i])))
            return false;
    }
    return true;
}

/* ---- numbers and lines ---- */

void python_functions_destroy(struct python_functions *functions)
{
    strings_destroy(&functions->keys);
}

int python_code_get_number(struct python_functions *functions, struct python_code *code, uint32_t *number,
                           struct error *err)
{
    if (code->function == SPOOL_NO_NUMBER) {
        char line[16];
        size_t name = strlen(code->name) + 1, file = strlen(code->file) + 1;
        size_t line_size = (size_t)snprintf(line, sizeof(line), "%u", code->identity.first_line);
        char *key = malloc(name + file + line_size);
        if (!key)
            return error_no_memory(err);
        memcpy(key, code->name, name);
        memcpy(key + name, code->file, file);
        memcpy(key + name + file, line, line_size);
        uint32_t known = (uint32_t)functions->keys.entries.length;
        bool is_full = known >= FUNCTIONS_MAX;
        code->function = is_full ? strings_find(&functions->keys, key, name + file + line_size)
                                 : strings_add(&functions->keys, key, name + file + line_size);
        free(key);
        if (code->function == STRING_NONE)
            return is_full ? (*number = 0, 0) : error_no_memory(err);
        const struct spool_python_function function = {
            .function = code->function, .name = code->name, .file = code->file, .line = code->identity.first_line};
        int failed = code->function == known ? spool_write_python_function(functions->spool, &function, err) : 0;
        if (failed)
            return failed;
    }
    *number = code->function;
    return 0;
}

/* Reads a number of the line table: 6 bits per byte, the lowest first; bit 0x40 is set in all bytes but the last. */
static uint64_t read_varint(struct cursor *at)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 42; shift += 6) {
        uint8_t byte = cursor_u8(at);
        value |= (uint64_t)(byte & 0x3f) << shift;
        if (!(byte & 0x40))
            return value;
    }
    at->failed = true;
    return 0;
}

static int64_t read_signed_varint(struct cursor *at)
{
    uint64_t value = read_varint(at);
    return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/* Objects/locations.md of CPython, "The location table". */
static uint32_t find_line(const struct python_code *code, int64_t offset)
{
    enum { CODE_UNIT = 2, ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NONE = 15 };
    struct cursor at = cursor_of(code->table, code->table_size);
    int64_t line = (int64_t)code->identity.first_line, end = 0;
    while (cursor_left(&at) && !at.failed) {
        uint8_t head = cursor_u8(&at);
        unsigned kind = head >> 3 & 15;
        end += ((head & 7) + 1) * CODE_UNIT;
        if (kind >= NO_COLUMNS && kind != NONE)
            line += read_signed_varint(&at);
        else if (kind >= ONE_LINE && kind != NONE)
            line += kind - ONE_LINE;
        if (kind < ONE_LINE) {
            cursor_u8(&at);
        } else if (kind < NO_COLUMNS) {
            cursor_bytes(&at, 2);
        } else if (kind == LONG) {
            read_varint(&at);
            read_varint(&at);
            read_varint(&at);
        }
        if (offset < end)
            return kind == NONE || line <= 0 || line > UINT32_MAX || at.failed ? 0 : (uint32_t)line;
    }
    return 0;
}

uint32_t python_code_find_line(struct python_code *code, int64_t offset)
{
    if (offset < 0)
        return code->identity.first_line;
    struct python_line *kept = &code->lines[offset / 2 % PYTHON_LINES_KEPT];
    if (kept->offset != (uint32_t)offset + 1)
        *kept = (struct python_line){.offset = (uint32_t)offset + 1, .line = find_line(code, offset)};
    return kept->line;
}
