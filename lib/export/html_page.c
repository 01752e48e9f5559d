#include "export/html_page.h"

#include "base/utf8.h"

static const char file_marker[] = "<!--file ", marker_end[] = "-->";
static const char profile_marker[] = "<!--profile-->";
static const char editor_begin[] = "<!--editor-->", editor_end[] = "<!--/editor-->";

/* ---- UTF-16 ---- */

enum { UNIT_BYTES = 2, MOST_UNITS = 2048, BYTE_ORDER_MARK = 0xfeff };

/* Sends code units to the sink. After an error, later units are dropped. */
struct unit_writer {
    const struct byte_sink *sink;
    struct error *err;
    size_t count;
    int code;
    unsigned char units[MOST_UNITS * UNIT_BYTES];
};

static void flush_units(struct unit_writer *writer)
{
    if (!writer->code && writer->count)
        writer->code =
            writer->sink->write(writer->sink->context, writer->units, writer->count * UNIT_BYTES, writer->err);
    writer->count = 0;
}

static void write_unit(struct unit_writer *writer, uint32_t unit)
{
    if (writer->count == MOST_UNITS)
        flush_units(writer);
    writer->units[writer->count * UNIT_BYTES] = (unsigned char)unit;
    writer->units[writer->count * UNIT_BYTES + 1] = (unsigned char)(unit >> 8);
    writer->count++;
}

static void write_character(struct unit_writer *writer, uint32_t character)
{
    if (character < 0x10000) {
        write_unit(writer, character);
    } else {
        write_unit(writer, 0xd800 + ((character - 0x10000) >> 10));
        write_unit(writer, 0xdc00 + (character & 0x3ff));
    }
}

static void write_ascii(struct unit_writer *writer, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        write_unit(writer, (unsigned char)text[i]);
}

static void write_ascii_z(struct unit_writer *writer, const char *text)
{
    write_ascii(writer, text, strlen(text));
}

/* ---- bytes as code units ---- */

enum {
    FIRST_UNIT = 0x40,
    FIRST_SURROGATE = 0xd800,
    AFTER_SURROGATES = 0xe000,
    AFTER_LAST_UNIT = 0xfffe,
    UNITS = FIRST_SURROGATE - FIRST_UNIT + AFTER_LAST_UNIT - AFTER_SURROGATES,
    /* Number of units that encode 16 bits each; each other unit encodes the upper 15 bits of two values. */
    LONG_UNITS = 2 * (UNITS - 0x8000),
    LINE_UNITS = 2000,
    END_BYTE = 0x80,
};

static uint32_t encode_value(uint32_t number)
{
    uint32_t unit = FIRST_UNIT + number;
    return unit < FIRST_SURROGATE ? unit : unit + AFTER_SURROGATES - FIRST_SURROGATE;
}

static void write_encoded(struct unit_writer *writer, const unsigned char *bytes, size_t size)
{
    uint32_t bits = 0; /* the lowest `count` bits are not written yet */
    unsigned count = 0, units = 0;
    for (size_t at = 0; at <= size || count;) {
        while (count < 16 && at <= size) {
            bits = bits << 8 | (at < size ? bytes[at] : END_BYTE);
            at++;
            count += 8;
        }
        uint32_t next = (count < 16 ? bits << (16 - count) : bits >> (count - 16)) & 0xffff;
        unsigned used = next < LONG_UNITS ? 16 : 15;
        write_unit(writer, encode_value(used == 16 ? next : LONG_UNITS / 2 + (next >> 1)));
        count = count > used ? count - used : 0;
        if (++units % LINE_UNITS == 0)
            write_unit(writer, '\n');
    }
}

/* ---- text with placeholders ---- */

/* Returns the first occurrence of `part` in ASCII text, or NULL. */
static const char *find_ascii(const char *text, size_t length, const char *part)
{
    size_t size = strlen(part);
    for (const char *end = text + length; (text = memchr(text, part[0], (size_t)(end - text))) != NULL; text++) {
        if ((size_t)(end - text) < size)
            return NULL;
        if (memcmp(text, part, size) == 0)
            return text;
    }
    return NULL;
}

/* Returns the first occurrence of the ASCII text `part` in code units, or NULL. */
static const char *find_ascii_text(const char *text, size_t length, const char *part)
{
    size_t size = strlen(part);
    for (; length / UNIT_BYTES >= size; text += UNIT_BYTES, length -= UNIT_BYTES) {
        size_t same = 0;
        while (same < size && text[same * UNIT_BYTES] == part[same] && text[same * UNIT_BYTES + 1] == 0)
            same++;
        if (same == size)
            return text;
    }
    return NULL;
}

static const struct html_file *find_file(const struct html_file *files, size_t count, const char *name, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(files[i].name) == length && memcmp(files[i].name, name, length) == 0)
            return &files[i];
    return NULL;
}

int html_write_template(const char *shell, size_t length, const struct html_file *files, size_t count,
                        const struct byte_sink *sink, struct error *err)
{
    struct unit_writer writer = {.sink = sink, .err = err};
    const char *end = shell + length, *marker;
    write_unit(&writer, BYTE_ORDER_MARK);
    while ((marker = find_ascii(shell, (size_t)(end - shell), file_marker)) != NULL) {
        const char *name = marker + strlen(file_marker), *after = find_ascii(name, (size_t)(end - name), marker_end);
        const struct html_file *file = after ? find_file(files, count, name, (size_t)(after - name)) : NULL;
        if (!file)
            return error_set(err, EINVAL, "the page in this prof binary lacks a file; rebuild prof");
        write_ascii(&writer, shell, (size_t)(marker - shell));
        write_encoded(&writer, file->gzip, file->size);
        shell = after + strlen(marker_end);
    }
    write_ascii(&writer, shell, (size_t)(end - shell));
    flush_units(&writer);
    return writer.code;
}

/* ---- the file ---- */

static void write_attribute(struct unit_writer *writer, const char *text)
{
    static const struct {
        char character;
        const char *entity;
    } entities[] = {{'&', "&amp;"}, {'"', "&quot;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'\r', "&#13;"}, {'\n', "&#10;"}};
    for (const char *end = text + strlen(text); text < end;) {
        const char *entity = NULL;
        size_t length = utf8_measure_character(text, end);
        for (size_t i = 0; i < sizeof(entities) / sizeof(*entities); i++)
            if (*text == entities[i].character)
                entity = entities[i].entity;
        if (entity)
            write_ascii_z(writer, entity);
        else
            write_character(writer, length ? utf8_decode(text, length) : 0xfffd);
        text += length ? length : 1;
    }
}

static void write_profile(struct unit_writer *writer, const struct html_page *page)
{
    write_ascii_z(writer, "<script type=\"text/plain\" id=\"profile\" data-view=\"");
    write_attribute(writer, page->view);
    write_ascii_z(writer, "\">\n");
    write_encoded(writer, page->gzip, page->gzip_size);
    write_ascii_z(writer, "</script>");
    flush_units(writer);
}

static int write_part(const struct byte_sink *sink, const char *text, const char *end, struct error *err)
{
    return end > text ? sink->write(sink->context, text, (size_t)(end - text), err) : 0;
}

int html_page_write(const struct html_page *page, const struct byte_sink *sink, struct error *err)
{
    const char *text = page->text, *end = text + page->length;
    const char *profile = find_ascii_text(text, page->length, profile_marker),
               *editor = find_ascii_text(text, page->length, editor_begin);
    const char *after = editor ? find_ascii_text(editor, (size_t)(end - editor), editor_end) : NULL;
    if (!profile || !!editor != !!after || (editor && editor > profile))
        return error_set(err, EINVAL, "the page in this prof binary is damaged; rebuild prof");
    int code = 0;
    if (editor && !page->has_editor) {
        code = write_part(sink, text, editor, err);
        text = after + strlen(editor_end) * UNIT_BYTES;
    }
    if (!code)
        code = write_part(sink, text, profile, err);
    if (code)
        return code;
    struct unit_writer writer = {.sink = sink, .err = err};
    write_profile(&writer, page);
    text = profile + strlen(profile_marker) * UNIT_BYTES;
    return writer.code ? writer.code : write_part(sink, text, end, err);
}

bool html_needs_editor(const struct profile *profile)
{
    for (size_t i = 0; i < profile->sources.length; i++)
        if (profile->sources.data[i].content != PROFILE_NONE)
            return true;
    return false;
}
