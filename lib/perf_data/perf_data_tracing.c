/*
 * The section (tools/perf/util/trace-event-info.c, read_tracing_data()):
 *
 *     0x17 0x08 0x44 "tracing" version NUL, byte order, size of a long, u32 page size
 *     "header_page" NUL, u64 size, text;  "header_event" NUL, u64 size, text
 *     u32 count of formats of ftrace's own, each u64 size, text
 *     u32 count of systems, each: name NUL, u32 count, each u64 size, text
 *
 * A text has lines such as
 *
 *     ID: 316
 *     	field:char prev_comm[16];	offset:8;	size:16;	signed:0;
 *     	field:__data_loc char[] filename;	offset:8;	size:4;	signed:0;
 *
 * where __data_loc is a word with the offset of the text in its lower half, and its length in the upper.
 */
#include "perf_data/perf_data_tracing.h"

#include "base/cursor.h"

enum { FORMATS_MAX = 65536, FIELDS_MAX = 1 << 20, LINE_MAX_SIZE = 512 };

void perf_data_tracing_destroy(struct perf_data_tracing *tracing)
{
    strings_destroy(&tracing->names);
    array_free(&tracing->fields);
    array_free(&tracing->formats);
    hash_destroy(&tracing->by_id);
}

/* ---- reading ---- */

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static enum tracing_field_kind find_field_kind(const char *declaration, bool is_array, bool is_signed)
{
    bool is_char = strstr(declaration, "char") != NULL;
    if (strstr(declaration, "__data_loc") && is_char)
        return TRACING_LOCATED_TEXT;
    if (is_array && is_char)
        return TRACING_TEXT;
    return strchr(declaration, '*') ? TRACING_HEX : is_signed ? TRACING_SIGNED : TRACING_UNSIGNED;
}

/* Reads the number after `key` in a line. Returns false if the key is missing. */
static bool read_number(const char *line, const char *key, uint32_t *number)
{
    const char *at = strstr(line, key);
    if (!at)
        return false;
    *number = (uint32_t)strtoul(at + strlen(key), NULL, 10);
    return true;
}

/* Returns 1 for a field that prof can show, 0 for other fields, -1 if memory ran out. */
static int read_field(struct perf_data_tracing *tracing, char *line)
{
    struct tracing_field field;
    uint32_t is_signed = 0;
    char *declaration = strstr(line, "field:"), *end = declaration ? strchr(declaration, ';') : NULL;
    if (!end || !read_number(end, "offset:", &field.offset) || !read_number(end, "size:", &field.size))
        return 0;
    read_number(end, "signed:", &is_signed);
    *end = '\0';
    declaration += strlen("field:");
    char *bracket = end > declaration && end[-1] == ']' ? strrchr(declaration, '[') : NULL;
    if (bracket)
        end = bracket;
    char *name = end;
    while (name > declaration && is_name(name[-1]))
        name--;
    if (name == end || !strncmp(name, "common_", 7))
        return 0;
    field.kind = find_field_kind(declaration, bracket != NULL, is_signed);
    bool is_word = field.size == 1 || field.size == 2 || field.size == 4 || field.size == 8;
    if (field.kind != TRACING_TEXT && (!is_word || bracket || (field.kind == TRACING_LOCATED_TEXT && field.size != 4)))
        return 0;
    field.name = strings_add(&tracing->names, name, (size_t)(end - name));
    return field.name != STRING_NONE && array_push(&tracing->fields, field) ? 1 : -1;
}

static bool read_format(struct perf_data_tracing *tracing, const char *text, size_t size)
{
    struct tracing_format format = {.first = (uint32_t)tracing->fields.length};
    uint32_t id = UINT32_MAX;
    for (const char *at = text, *end = text + size; at < end && tracing->fields.length < FIELDS_MAX;) {
        char line[LINE_MAX_SIZE];
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((newline ? newline : end) - at);
        size_t taken = length < sizeof(line) ? length : sizeof(line) - 1;
        memcpy(line, at, taken);
        line[taken] = '\0';
        at += length + 1;
        if (!strncmp(line, "ID:", 3))
            id = (uint32_t)strtoul(line + 3, NULL, 10);
        else if (!strncmp(line, "print fmt", 9))
            break;
        else if (read_field(tracing, line) < 0)
            return false;
    }
    format.count = (uint32_t)tracing->fields.length - format.first;
    if (id == UINT32_MAX || tracing->formats.length >= FORMATS_MAX)
        return true;
    return hash_set(&tracing->by_id, id, (uint32_t)tracing->formats.length) && array_push(&tracing->formats, format);
}

static bool read_formats(struct perf_data_tracing *tracing, struct cursor *c)
{
    uint32_t count = cursor_u32(c);
    for (uint32_t i = 0; i < count && !c->failed; i++) {
        uint64_t size = cursor_u64(c);
        const unsigned char *text = cursor_bytes(c, size);
        if (text && !read_format(tracing, (const char *)text, (size_t)size))
            return false;
    }
    return true;
}

static void skip_header(struct cursor *c)
{
    cursor_string(c);
    cursor_bytes(c, cursor_u64(c));
}

bool perf_data_tracing_read(struct perf_data_tracing *tracing, const void *bytes, size_t size)
{
    struct cursor c = cursor_of(bytes, size);
    const unsigned char *magic = cursor_bytes(&c, 10);
    if (!magic || memcmp(magic, "\x17\x08\x44tracing", 10) != 0)
        return true;
    cursor_string(&c);   /* version */
    cursor_bytes(&c, 6); /* byte order, size of a long, page size */
    skip_header(&c);
    skip_header(&c);
    if (!read_formats(tracing, &c))
        return false;
    uint32_t systems = cursor_u32(&c);
    for (uint32_t i = 0; i < systems && !c.failed; i++) {
        cursor_string(&c);
        if (!read_formats(tracing, &c))
            return false;
    }
    return true;
}

/* ---- text ---- */

static uint64_t read_word(const unsigned char *at, uint32_t size, bool is_signed)
{
    uint64_t value = 0;
    memcpy(&value, at, size);
    unsigned unused = 64 - 8 * size;
    return is_signed ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
}

static int print_field(const struct tracing_field *field, const unsigned char *raw, size_t raw_size, char *text,
                       size_t size)
{
    const unsigned char *at = raw + field->offset;
    uint64_t value = field->kind == TRACING_TEXT ? 0 : read_word(at, field->size, field->kind == TRACING_SIGNED);
    size_t offset = value & 0xffff, length = value >> 16 & 0xffff;
    switch (field->kind) {
    case TRACING_TEXT:
        return snprintf(text, size, "%.*s", (int)strnlen((const char *)at, field->size), (const char *)at);
    case TRACING_LOCATED_TEXT:
        if (offset > raw_size || length > raw_size - offset)
            return 0;
        return snprintf(text, size, "%.*s", (int)strnlen((const char *)raw + offset, length),
                        (const char *)raw + offset);
    case TRACING_HEX:
        return snprintf(text, size, "0x%" PRIx64, value);
    case TRACING_SIGNED:
        return snprintf(text, size, "%" PRId64, (int64_t)value);
    default:
        return snprintf(text, size, "%" PRIu64, value);
    }
}

void perf_data_tracing_write_text(const struct perf_data_tracing *tracing, uint64_t id, const void *raw,
                                  size_t raw_size, char *text, size_t size)
{
    uint32_t index = hash_get(&tracing->by_id, id);
    size_t used = 0;
    text[0] = '\0';
    if (index == HASH_MISSING || !raw)
        return;
    const struct tracing_format *format = &tracing->formats.data[index];
    for (uint32_t i = 0; i < format->count; i++) {
        const struct tracing_field *field = &tracing->fields.data[format->first + i];
        if (field->offset > raw_size || field->size > raw_size - field->offset)
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s=", used ? " " : "",
                                 strings_text(&tracing->names, field->name));
        if (used >= size)
            return;
        used += (size_t)print_field(field, raw, raw_size, text + used, size - used);
        if (used >= size)
            return;
    }
}

bool perf_data_tracing_read_number(const struct perf_data_tracing *tracing, uint64_t id, const void *raw,
                                   size_t raw_size, const char *name, uint64_t *value)
{
    uint32_t index = hash_get(&tracing->by_id, id);
    if (index == HASH_MISSING || !raw)
        return false;
    const struct tracing_format *format = &tracing->formats.data[index];
    for (uint32_t i = 0; i < format->count; i++) {
        const struct tracing_field *field = &tracing->fields.data[format->first + i];
        bool is_number = field->kind != TRACING_TEXT && field->kind != TRACING_LOCATED_TEXT;
        if (!is_number || field->offset > raw_size || field->size > raw_size - field->offset ||
            strcmp(strings_text(&tracing->names, field->name), name) != 0)
            continue;
        *value = read_word((const unsigned char *)raw + field->offset, field->size, field->kind == TRACING_SIGNED);
        return true;
    }
    return false;
}
