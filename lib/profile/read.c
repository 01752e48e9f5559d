/*
 * The reader follows the file's nesting with a stack of levels: an object whose fields are known (raw.c), an array of
 * such objects, or a column. The field list has the destination of each value. The reader skips unknown keys with all
 * of their values. The reader reads columns of numbers, which are nearly all bytes of a profile, in bulk into arrays of
 * their final type.
 *
 * Values stored as JSON text (marker payloads, schemas, values of the info panel) are rewritten compactly from their
 * tokens.
 *
 * The reader collects a whole JSLB container (jslb.h) and converts it to JSON at the end, because the container refers
 * to its parts by offset.
 */
#include "profile/read.h"

#include "base/json.h"
#include "base/json_write.h"
#include "profile/build.h"
#include "profile/jslb.h"
#include "profile/numbers.h"
#include "profile/raw.h"
#include "profile/raw_check.h"
#include "profile/sniff.h"

enum { MAX_LEVELS = 12 /* the field lists have 6 levels */, KEY_SHOWN = 40 };

enum level_kind { LEVEL_OBJECT, LEVEL_ARRAY, LEVEL_COLUMN };

struct level {
    enum level_kind kind;
    const struct schema *schema; /* schema of the object or of the array's objects */
    void *base;                  /* struct, owner of the array, or struct column of the level */
    enum column_type column;
    const struct field *field; /* field of the latest key, or NULL if unknown */
    char key[KEY_SHOWN];       /* text of the latest key, for error paths */
    size_t index;              /* number of elements so far */
};

/* Handling of a value that has no level of its own. */
enum diversion { DIVERT_NONE, DIVERT_SKIP, DIVERT_CAPTURE };

struct profile_reader {
    struct json json;
    struct raw_profile raw;
    struct level levels[MAX_LEVELS];
    size_t depth;
    bool sniffed, failed;
    struct error error;
    unsigned char start[SNIFF_SIZE];
    size_t start_size;

    enum diversion diversion;
    unsigned diverted_depth; /* json.depth outside of the diverted value */
    uint32_t *capture_to;    /* destination of the captured text, or NULL (the end of the column of the level) */
    struct json_writer capture;
    struct byte_sink capture_sink;
    ARRAY(char) captured;

    size_t sibling_length; /* length of the table's previous column, which predicts the next column's length */

    bool is_jslb; /* the file is a JSLB container: collected whole, converted at its end */
    ARRAY(unsigned char) container;

    size_t least_deferred; /* minimum bytes of a deferred run of numbers, or 0 for no deferring */
    ARRAY(struct deferred_column) deferred;
    size_t missing; /* number of deferred columns not parsed yet */
};

/* ---- failing ---- */

static size_t format_path(const struct profile_reader *reader, char *out, size_t room)
{
    size_t used = 0;
    for (size_t i = 0; i < reader->depth && used < room; i++) {
        const struct level *level = &reader->levels[i];
        int length = 0;
        if (level->kind != LEVEL_OBJECT)
            length = snprintf(out + used, room - used, "[%zu]", level->index ? level->index - 1 : 0);
        else if (level->key[0])
            length = snprintf(out + used, room - used, "%s%s", used ? "." : "", level->key);
        used += length > 0 ? (size_t)length : 0;
    }
    return used;
}

/* Fails with an error that has the JSON path of the value. Later calls of a failed reader return the same error. */
static int fail_value(struct profile_reader *reader, int code, const char *problem)
{
    char path[256] = "";
    format_path(reader, path, sizeof(path));
    reader->failed = true;
    if (reader->json.ended)
        return error_set(&reader->error, code, "the file is truncated after %llu bytes%s%s",
                         (unsigned long long)json_count_read_bytes(&reader->json), path[0] ? ", in " : "", path);
    error_set(&reader->error, code, "%s%sat byte %llu: %s", path, path[0] ? ", " : "",
              (unsigned long long)reader->json.offset, problem);
    return -code;
}

static int fail_no_memory(struct profile_reader *reader)
{
    reader->failed = true;
    return error_no_memory(&reader->error);
}

static int fail_foreign_file(struct profile_reader *reader, const char *reason)
{
    reader->failed = true;
    return error_set(&reader->error, EINVAL, "the file %s", reason);
}

static int report_error(const struct profile_reader *reader, int code, struct error *err)
{
    if (err)
        *err = reader->error;
    return code;
}

/* ---- levels ---- */

static struct level *get_innermost_level(struct profile_reader *reader)
{
    return &reader->levels[reader->depth - 1];
}

static int push_level(struct profile_reader *reader, struct level level)
{
    if (reader->depth == MAX_LEVELS)
        return fail_value(reader, EINVAL, "tables are nested too deeply");
    reader->levels[reader->depth++] = level;
    return 0;
}

static int begin_capture_or_skip(struct profile_reader *reader, enum diversion diversion, unsigned depth)
{
    reader->diversion = diversion;
    reader->diverted_depth = depth;
    return 0;
}

static bool is_open(enum json_type type)
{
    return type == JSON_OBJECT_OPEN || type == JSON_ARRAY_OPEN;
}

/* Skips a value whose first token was just read. */
static int skip_value(struct profile_reader *reader, enum json_type type)
{
    return is_open(type) ? begin_capture_or_skip(reader, DIVERT_SKIP, reader->json.depth - 1) : 0;
}

/* ---- storing a value as JSON text ---- */

static int append_captured(void *context, const void *bytes, size_t size, struct error *err)
{
    struct profile_reader *reader = context;
    return array_append(&reader->captured, bytes, size) ? 0 : error_no_memory(err);
}

/* Stores the captured text of a whole value. */
static int end_capture(struct profile_reader *reader)
{
    int code = json_writer_finish(&reader->capture);
    uint32_t text =
        code ? STRING_NONE : strings_add(&reader->raw.texts, reader->captured.data, reader->captured.length);
    if (text == STRING_NONE)
        return fail_no_memory(reader);
    reader->diversion = DIVERT_NONE;
    if (reader->capture_to) {
        *reader->capture_to = text;
        return 0;
    }
    struct column *column = get_innermost_level(reader)->base;
    ((uint32_t *)column->data)[column->length++] = text;
    return 0;
}

static int begin_capture(struct profile_reader *reader, enum json_type type, uint32_t *to)
{
    reader->captured.length = 0;
    reader->capture_to = to;
    reader->capture_sink = (struct byte_sink){.write = append_captured, .context = reader};
    json_writer_init(&reader->capture, &reader->capture_sink, &reader->error);
    json_token(&reader->capture, &reader->json, type);
    if (is_open(type))
        return begin_capture_or_skip(reader, DIVERT_CAPTURE, reader->json.depth - 1);
    return end_capture(reader);
}

static int continue_capture_or_skip(struct profile_reader *reader, enum json_type type)
{
    bool ended = reader->json.depth == reader->diverted_depth;
    if (reader->diversion == DIVERT_CAPTURE) {
        json_token(&reader->capture, &reader->json, type);
        return ended ? end_capture(reader) : 0;
    }
    if (ended)
        reader->diversion = DIVERT_NONE;
    return 0;
}

/* ---- columns ---- */

static int append_number(struct profile_reader *reader, struct level *level, double value)
{
    if (column_append(level->base, level->column, &value, 1))
        return 0;
    return fail_value(reader, EINVAL,
                      level->column == COLUMN_ADDRESS ? "no whole number" : "not an index (an integer of at least 0)");
}

/* Appends a text to a column of texts, or in place of a number (then `mark` is RAW_TEXT); the same text often
 * repeats. */
static int append_text(struct profile_reader *reader, struct column *column, const char *bytes, size_t length,
                       uint32_t mark)
{
    struct strings *texts = &reader->raw.texts;
    uint32_t text = mark ? strings_add(texts, bytes, length) : strings_append(texts, bytes, length);
    if (text >= RAW_TEXT)
        return fail_no_memory(reader);
    ((uint32_t *)column->data)[column->length++] = text | mark;
    return 0;
}

static int append_element(struct profile_reader *reader, enum json_type type)
{
    struct level *level = get_innermost_level(reader);
    struct column *column = level->base;
    level->index++;
    if (!column_reserve(column, level->column, 1))
        return fail_no_memory(reader);
    if (level->column == COLUMN_JSON && type != JSON_NULL)
        return begin_capture(reader, type, NULL);
    if (level->column == COLUMN_TEXT) {
        if (type == JSON_STRING)
            return append_text(reader, column, reader->json.text, reader->json.length, 0);
        return is_open(type) ? fail_value(reader, EINVAL, "a string was expected")
                             : append_text(reader, column, "", 0, 0);
    }
    if (level->column == COLUMN_REF && type == JSON_STRING)
        return append_text(reader, column, reader->json.text, reader->json.length, RAW_TEXT);
    switch (type) {
    case JSON_NUMBER:
        return append_number(reader, level, reader->json.number);
    case JSON_NULL:
        return append_number(reader, level, NAN);
    case JSON_TRUE:
    case JSON_FALSE:
        if (level->column == COLUMN_FLAG)
            return append_number(reader, level, type == JSON_TRUE);
        return fail_value(reader, EINVAL, "a number was expected");
    default:
        return fail_value(reader, EINVAL, "a number was expected");
    }
}

/* Defers a long run of numbers; returns its length, 0 if no run was deferred. */
static size_t defer_numbers(struct profile_reader *reader, struct level *level, int *code)
{
    struct column *column = level->base;
    struct deferred_column run = {.column = column, .type = level->column, .first = column->length};
    run.count = json_defer_numbers(&reader->json, reader->least_deferred, &run.text, &run.size);
    if (run.count == 0)
        return 0;
    if (!column_reserve(column, level->column, run.count) || !array_push(&reader->deferred, run)) {
        *code = fail_no_memory(reader);
        return 0;
    }
    column->length += run.count;
    reader->missing++;
    return run.count;
}

static bool is_of_numbers(const struct level *level)
{
    return level->kind == LEVEL_COLUMN && level->column != COLUMN_TEXT && level->column != COLUMN_JSON;
}

/* Returns whether a valid file has only numbers and null in the column. */
static bool may_defer(const struct level *level)
{
    return level->column != COLUMN_REF && level->column != COLUMN_FLAG;
}

/* Reads the complete numbers of this piece. Returns true if it read any. */
static bool read_numbers(struct profile_reader *reader, int *code)
{
    struct level *level = get_innermost_level(reader);
    if (reader->diversion == DIVERT_SKIP)
        return numbers_skip(&reader->json) > 0;
    if (reader->diversion != DIVERT_NONE || !is_of_numbers(level))
        return false;
    size_t count = 0;
    if (reader->least_deferred && may_defer(level))
        count = defer_numbers(reader, level, code);
    if (*code)
        return false;
    if (!column_reserve(level->base, level->column, NUMBERS_BATCH)) {
        *code = fail_no_memory(reader);
        return false;
    }
    if (count == 0)
        count = numbers_take(&reader->json, level->base, level->column);
    level->index += count;
    return count > 0;
}

static int begin_column(struct profile_reader *reader, const struct field *field, struct column *column)
{
    if (column->present && reader->missing)
        return fail_value(reader, EINVAL, "the table has this column twice, and the first one lacks numbers");
    column->present = true;
    column->length = 0; /* the last of duplicate keys counts, as in JavaScript */
    if (reader->sibling_length && !column_reserve(column, field->column, reader->sibling_length + NUMBERS_BATCH))
        return fail_no_memory(reader);
    return push_level(reader, (struct level){.kind = LEVEL_COLUMN, .column = field->column, .base = column});
}

/* Ends the innermost level, whose object, array or column is complete. */
static int pop_level(struct profile_reader *reader)
{
    const struct level *level = get_innermost_level(reader);
    reader->sibling_length = level->kind == LEVEL_COLUMN ? ((const struct column *)level->base)->length : 0;
    reader->depth--;
    return 0;
}

/* ---- fields ---- */

static int store_value(struct profile_reader *reader, struct level *level, enum json_type type)
{
    const struct field *field = level->field;
    if (!field)
        return skip_value(reader, type);
    void *place = (char *)level->base + field->offset;
    if (field->seen && type != JSON_NULL)
        *(bool *)((char *)level->base + field->seen - 1) = true;
    switch (field->kind) {
    case FIELD_OBJECT:
        if (type == JSON_OBJECT_OPEN)
            return push_level(reader, (struct level){.kind = LEVEL_OBJECT, .schema = field->schema, .base = place});
        return skip_value(reader, type);
    case FIELD_ARRAY:
        if (type == JSON_ARRAY_OPEN)
            return push_level(reader, (struct level){.kind = LEVEL_ARRAY, .schema = field->schema, .base = place});
        return skip_value(reader, type);
    case FIELD_COLUMN:
        if (type == JSON_OBJECT_OPEN && field->schema)
            return push_level(reader, (struct level){.kind = LEVEL_OBJECT, .schema = field->schema, .base = place});
        if (type != JSON_ARRAY_OPEN)
            return skip_value(reader, type);
        return begin_column(reader, field, place);
    case FIELD_JSON:
        return begin_capture(reader, type, place);
    case FIELD_SEEN:
        *(bool *)place = true;
        return skip_value(reader, type);
    default:
        return is_open(type)
                   ? skip_value(reader, type)
                   : (raw_store(&reader->raw, field, place, &reader->json, type) ? 0 : fail_no_memory(reader));
    }
}

static void set_key(struct level *level, const char *text, size_t length)
{
    size_t shown = length < KEY_SHOWN - 1 ? length : KEY_SHOWN - 1;
    for (size_t i = 0; i < shown; i++)
        level->key[i] = (unsigned char)text[i] < 0x20 || text[i] == 0x7f ? '?' : text[i];
    level->key[shown] = '\0';
    level->field = NULL;
    for (size_t i = 0; i < level->schema->count; i++) {
        const char *key = level->schema->fields[i].key;
        if (strlen(key) == length && memcmp(key, text, length) == 0)
            level->field = &level->schema->fields[i];
    }
}

static int add_object(struct profile_reader *reader, struct level *level, enum json_type type)
{
    level->index++;
    if (type != JSON_OBJECT_OPEN)
        return skip_value(reader, type);
    void *object = raw_add_element(level->schema, level->base);
    if (!object)
        return fail_no_memory(reader);
    return push_level(reader, (struct level){.kind = LEVEL_OBJECT, .schema = level->schema, .base = object});
}

static int handle_token(struct profile_reader *reader, enum json_type type)
{
    if (reader->diversion != DIVERT_NONE)
        return continue_capture_or_skip(reader, type);
    if (reader->depth == 0) {
        if (type != JSON_OBJECT_OPEN)
            return fail_foreign_file(reader, "is JSON, but not a profile");
        return push_level(reader,
                          (struct level){.kind = LEVEL_OBJECT, .schema = &RAW_PROFILE_SCHEMA, .base = &reader->raw});
    }
    struct level *level = get_innermost_level(reader);
    if (type == JSON_OBJECT_CLOSE || type == JSON_ARRAY_CLOSE)
        return pop_level(reader);
    if (type == JSON_KEY) {
        set_key(level, reader->json.text, reader->json.length);
        return 0;
    }
    if (level->kind == LEVEL_OBJECT)
        return store_value(reader, level, type);
    return level->kind == LEVEL_ARRAY ? add_object(reader, level, type) : append_element(reader, type);
}

/* ---- the outside ---- */

struct profile_reader *profile_reader_new(void)
{
    struct profile_reader *reader = malloc(sizeof(*reader));
    if (!reader)
        return NULL;
    memset(reader, 0, sizeof(*reader));
    json_init(&reader->json);
    raw_profile_init(&reader->raw);
    return reader;
}

void profile_reader_set_stop_flag(struct profile_reader *reader, const atomic_bool *stop)
{
    reader->raw.stop = stop;
}

void profile_reader_free(struct profile_reader *reader)
{
    if (!reader)
        return;
    json_destroy(&reader->json);
    raw_profile_destroy(&reader->raw);
    array_free(&reader->captured);
    array_free(&reader->container);
    array_free(&reader->deferred);
    free(reader);
}

/* Handles tokens to the end of the piece. */
static int handle_tokens(struct profile_reader *reader)
{
    for (;;) {
        int code = 0;
        while (reader->depth && read_numbers(reader, &code)) {
        }
        if (code)
            return code;
        enum json_type type = json_next(&reader->json);
        if (type == JSON_MORE || type == JSON_END)
            return 0;
        if (type == JSON_FAILED)
            return fail_value(reader, EINVAL, reader->json.problem);
        code = handle_token(reader, type);
        if (code)
            return code;
    }
}

static int feed_json(struct profile_reader *reader, const void *bytes, size_t size)
{
    json_feed(&reader->json, bytes, size);
    return handle_tokens(reader);
}

static int collect_container(struct profile_reader *reader, const unsigned char *bytes, size_t size)
{
    return array_append(&reader->container, bytes, size) ? 0 : fail_no_memory(reader);
}

/* Detects the format from the bytes that feed_bytes() stored, and reads the bytes. */
static int begin_reading(struct profile_reader *reader)
{
    reader->sniffed = true;
    reader->is_jslb = jslb_begins(reader->start, reader->start_size);
    if (reader->is_jslb)
        return collect_container(reader, reader->start, reader->start_size);
    const char *foreign = describe_foreign_file(reader->start, reader->start_size);
    return foreign ? fail_foreign_file(reader, foreign) : feed_json(reader, reader->start, reader->start_size);
}

/* Stores the first bytes of a file that does not begin as JSON, so that the detected format does not depend on the size
 * of the pieces. */
static int feed_bytes(struct profile_reader *reader, const unsigned char *bytes, size_t size)
{
    if (reader->start_size == 0 && size && *bytes == '{')
        reader->sniffed = true;
    if (!reader->sniffed && size) {
        size_t room = SNIFF_SIZE - reader->start_size;
        size_t part = size < room ? size : room;
        memcpy(reader->start + reader->start_size, bytes, part);
        reader->start_size += part;
        int code = reader->start_size < SNIFF_SIZE ? 0 : begin_reading(reader);
        if (code)
            return code;
        bytes += part;
        size -= part;
    }
    if (size == 0)
        return 0;
    return reader->is_jslb ? collect_container(reader, bytes, size) : feed_json(reader, bytes, size);
}

int profile_reader_feed(struct profile_reader *reader, const void *bytes, size_t size, struct error *err)
{
    int code = reader->failed ? -EINVAL : feed_bytes(reader, bytes, size);
    return code ? report_error(reader, code, err) : 0;
}

void profile_reader_defer_numbers(struct profile_reader *reader, size_t least)
{
    reader->least_deferred = least;
}

const struct deferred_column *profile_reader_get_deferred_columns(const struct profile_reader *reader, size_t *count)
{
    *count = reader->deferred.length;
    return reader->deferred.data;
}

void *profile_reader_get_deferred_elements(struct profile_reader *reader, size_t number)
{
    struct deferred_column *run = number < reader->deferred.length ? &reader->deferred.data[number] : NULL;
    if (!run || run->is_read)
        return NULL;
    run->is_read = true;
    reader->missing--;
    return (char *)run->column->data + run->first * column_get_element_size(run->type);
}

static int feed_converted(void *context, const void *bytes, size_t size, struct error *err)
{
    (void)err; /* the caller's `err` is the reader's error */
    return feed_json(context, bytes, size);
}

static int convert_container(struct profile_reader *reader)
{
    struct byte_sink sink = {.write = feed_converted, .context = reader};
    int code = jslb_to_json(reader->container.data, reader->container.length, &sink, &reader->error);
    reader->failed = code != 0;
    array_free(&reader->container);
    return code;
}

static int finish_reading(struct profile_reader *reader, struct profile *out)
{
    int code = reader->sniffed ? 0 : begin_reading(reader);
    if (!code && reader->is_jslb)
        code = convert_container(reader);
    if (code)
        return code;
    if (json_count_read_bytes(&reader->json) == 0)
        return fail_foreign_file(reader, "is empty");
    json_end_input(&reader->json);
    code = handle_tokens(reader);
    if (!code && reader->missing)
        code = fail_foreign_file(reader, "lacks some numbers of its columns");
    if (!code)
        code = raw_profile_check(&reader->raw, &reader->error);
    if (!code)
        code = profile_build(&reader->raw, out, &reader->error);
    reader->failed = true; /* the profile has the columns */
    return code;
}

int profile_reader_finish(struct profile_reader *reader, struct profile *out, struct error *err)
{
    int code = reader->failed ? -EINVAL : finish_reading(reader, out);
    return code ? report_error(reader, code, err) : 0;
}
