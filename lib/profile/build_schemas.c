/*
 * The profile stores marker schemas as JSON text and writes it unchanged, so the text must have the form of the version
 * that prof writes. Readers rely on the form: they expect a list as `fields` of a schema. Changes by version:
 *
 *     55  "data" becomes "fields". An entry of it with a fixed text, {"label": "Description", "value": "..."}, becomes
 *         the "description" of the schema; other fixed entries are dropped
 *     57  fields have no "searchable" any more
 *     69  markers of the network name their track, "timeline-network", in "display"
 *
 * prof detects all changes except the last in the text, whatever the file's version is.
 *
 * Version 52 gives a schema to "tracing" markers of old Firefox versions. prof adds no schema: readers list such
 * markers in the table and chart, but not in the overview of the track.
 */
#include "profile/build_schemas.h"

#include "base/json.h"
#include "base/json_write.h"

enum { NETWORK_TRACK_VERSION = 69 };
static const char network_track[] = "timeline-network";

/* A slice of JSON text: one value. */
struct slice {
    const char *text;
    size_t length;
};

struct upgrade {
    struct build *build;
    struct json_writer *writer;
    struct text_buffer description; /* description from the fixed entries of the current schema */
    bool has_description;
};

/* Members of a schema that must be known before writing its first member. */
struct schema_members {
    bool has_fields, has_display, has_description, is_network;
};

/* Skips the value whose first token is `type`, and returns its text; `within` is the text of the tokens. */
static struct slice read_slice(struct json *json, enum json_type type, const char *within)
{
    size_t begin = (size_t)json->offset;
    json_skip(json, type);
    return (struct slice){within + begin, (size_t)json_count_read_bytes(json) - begin};
}

/* Reads the opening bracket of a list after a key. If the value is no list, skips the value and returns false. */
static bool open_list(struct json *json)
{
    enum json_type type = json_next(json);
    if (type != JSON_ARRAY_OPEN)
        json_skip(json, type);
    return type == JSON_ARRAY_OPEN;
}

/* Reads the first token of the next list element, or false at the end of the list. */
static bool next_element(struct json *json, enum json_type *type)
{
    *type = json_next(json);
    return *type > JSON_END && *type != JSON_ARRAY_CLOSE;
}

/* Copies the value that follows a key. */
static void copy_value(struct json_writer *writer, struct json *json)
{
    enum json_type type = json_next(json);
    unsigned depth = json->depth;
    json_token(writer, json, type);
    if (type != JSON_OBJECT_OPEN && type != JSON_ARRAY_OPEN)
        return;
    while (json->depth >= depth && (type = json_next(json)) > JSON_END)
        json_token(writer, json, type);
}

/* ---- fields ---- */

struct entry {
    bool has_key, has_format, is_description;
};

static struct entry scan_entry(struct slice slice, struct text_buffer *value, bool *no_memory)
{
    struct entry entry = {0};
    struct json json;
    json_init_whole(&json, slice.text, slice.length);
    json_next(&json);
    value->length = 0;
    while (json_next(&json) == JSON_KEY) {
        bool is_key = json_is(&json, "key"), is_label = json_is(&json, "label"), is_value = json_is(&json, "value");
        entry.has_format |= json_is(&json, "format");
        enum json_type type = json_next(&json);
        entry.has_key |= is_key;
        if (is_label)
            entry.is_description = type == JSON_STRING && json_is(&json, "Description");
        if (is_value && type == JSON_STRING)
            *no_memory |= !text_append(value, json.text, json.length);
        json_skip(&json, type);
    }
    json_destroy(&json);
    return entry;
}

static void write_entry(struct json_writer *writer, struct slice slice, bool has_format)
{
    struct json json;
    json_init_whole(&json, slice.text, slice.length);
    json_next(&json);
    json_open(writer, '{');
    while (json_next(&json) == JSON_KEY) {
        if (json_is(&json, "searchable")) {
            json_skip(&json, json_next(&json));
            continue;
        }
        json_token(writer, &json, JSON_KEY);
        copy_value(writer, &json);
    }
    if (!has_format)
        json_member_text(writer, "format", "string");
    json_close(writer, '}');
    json_destroy(&json);
}

/* Stores the text of a fixed entry as the description: of the entry with the label "Description", else of the first
 * entry. */
static void keep_description(struct upgrade *upgrade, const struct entry *entry, struct text_buffer *value)
{
    if (value->length == 0 || (upgrade->has_description && !entry->is_description))
        return;
    upgrade->has_description = true;
    struct text_buffer swap = upgrade->description;
    upgrade->description = *value;
    *value = swap;
}

static bool write_fields(struct upgrade *upgrade, struct json *json, const char *within)
{
    struct text_buffer value = {0};
    bool no_memory = false;
    json_open(upgrade->writer, '[');
    enum json_type type;
    for (bool is_list = open_list(json); is_list && next_element(json, &type);) {
        struct slice slice = read_slice(json, type, within);
        if (type != JSON_OBJECT_OPEN)
            continue;
        struct entry entry = scan_entry(slice, &value, &no_memory);
        if (entry.has_key)
            write_entry(upgrade->writer, slice, entry.has_format);
        else
            keep_description(upgrade, &entry, &value);
    }
    json_close(upgrade->writer, ']');
    array_free(&value);
    return !no_memory;
}

/* ---- schemas ---- */

static struct schema_members scan_schema(struct slice slice)
{
    struct schema_members members = {0};
    struct json json;
    json_init_whole(&json, slice.text, slice.length);
    json_next(&json);
    while (json_next(&json) == JSON_KEY) {
        bool is_name = json_is(&json, "name");
        members.has_fields |= json_is(&json, "fields");
        members.has_display |= json_is(&json, "display");
        members.has_description |= json_is(&json, "description");
        enum json_type type = json_next(&json);
        if (is_name)
            members.is_network = type == JSON_STRING && json_is(&json, "Network");
        json_skip(&json, type);
    }
    json_destroy(&json);
    return members;
}

static void write_display(struct json_writer *writer, struct json *json, bool needs_track)
{
    json_open(writer, '[');
    enum json_type type;
    for (bool is_list = open_list(json); is_list && next_element(json, &type);) {
        if (type == JSON_STRING) {
            needs_track &= !json_is(json, network_track);
            json_token(writer, json, type);
        }
        json_skip(json, type);
    }
    if (needs_track)
        json_text_z(writer, network_track);
    json_close(writer, ']');
}

static bool write_schema(struct upgrade *upgrade, struct slice slice)
{
    struct schema_members members = scan_schema(slice);
    bool done = true, has_fields = false;
    bool needs_track = members.is_network && upgrade->build->raw->meta.meta.version < NETWORK_TRACK_VERSION;
    struct json_writer *writer = upgrade->writer;
    struct json json;
    json_init_whole(&json, slice.text, slice.length);
    json_next(&json);
    upgrade->has_description = false;
    json_open(writer, '{');
    while (done && json_next(&json) == JSON_KEY) {
        if (json_is(&json, "fields") || (json_is(&json, "data") && !members.has_fields && !has_fields)) {
            has_fields = true;
            json_key(writer, "fields");
            done = write_fields(upgrade, &json, slice.text);
        } else if (json_is(&json, "data")) {
            json_skip(&json, json_next(&json));
        } else if (json_is(&json, "display")) {
            json_key(writer, "display");
            write_display(writer, &json, needs_track);
        } else {
            json_token(writer, &json, JSON_KEY);
            copy_value(writer, &json);
        }
    }
    json_destroy(&json);
    if (!has_fields) {
        json_member_open(writer, "fields", '[');
        json_close(writer, ']');
    }
    if (!members.has_display) {
        json_member_open(writer, "display", '[');
        json_close(writer, ']');
    }
    if (upgrade->has_description && !members.has_description) {
        json_key(writer, "description");
        json_text(writer, upgrade->description.data, upgrade->description.length);
    }
    json_close(writer, '}');
    return done;
}

/* Returns the number of schemas. Sets `*done` to false if memory ran out. */
static size_t write_schemas(struct upgrade *upgrade, struct slice slice, bool *done)
{
    size_t count = 0;
    struct json json;
    enum json_type type;
    json_init_whole(&json, slice.text, slice.length);
    json_open(upgrade->writer, '[');
    for (bool is_list = open_list(&json); is_list && *done && next_element(&json, &type);) {
        struct slice schema = read_slice(&json, type, slice.text);
        if (type != JSON_OBJECT_OPEN)
            continue;
        *done = write_schema(upgrade, schema);
        count++;
    }
    json_close(upgrade->writer, ']');
    json_destroy(&json);
    return count;
}

int build_schemas(struct build *build)
{
    uint32_t *schemas = &build->raw->meta.meta.marker_schema;
    if (*schemas == PROFILE_NONE)
        return 0;
    const struct string_entry *entry = &build->raw->texts.entries.data[*schemas];
    struct text_buffer text = {0};
    struct byte_sink sink = text_sink(&text);
    struct json_writer *writer = malloc(sizeof(*writer));
    if (!writer)
        return error_no_memory(build->err);
    struct upgrade upgrade = {.build = build, .writer = writer};
    bool done = true;
    json_writer_init(writer, &sink, build->err);
    size_t count = write_schemas(&upgrade, (struct slice){entry->text, entry->length}, &done);
    int code = json_writer_finish(writer);
    *schemas = PROFILE_NONE;
    if (done && !code && count)
        done = (*schemas = strings_add(&build->raw->texts, text.data, text.length)) != STRING_NONE;
    array_free(&upgrade.description);
    array_free(&text);
    free(writer);
    return done ? code : error_no_memory(build->err);
}
