#include "tree/marker_text.h"

#include "base/json.h"
#include "tree/search_text.h"

/* ---- payloads ---- */

static bool has_key(const struct payload *payload, const char *key, size_t length)
{
    for (size_t i = 0; i < payload->values.length; i++)
        if (payload->values.data[i].key_length == length &&
            memcmp(payload->keys.data + payload->key_offsets.data[i], key, length) == 0)
            return true;
    return false;
}

/* Reads a member after its key, or false at the end of the text, or if memory runs out. */
static bool read_member(struct payload *payload, struct json *json, const char *text, bool *failed)
{
    uint32_t key = (uint32_t)payload->keys.length;
    bool is_new = !has_key(payload, json->text, json->length);
    size_t key_length = json->length;
    if (is_new && !text_append(&payload->keys, json->text, json->length)) {
        *failed = true;
        return false;
    }
    enum json_type type = json_next(json);
    uint64_t begin = json->offset;
    if (!json_skip(json, type))
        return false;
    uint64_t end = json_count_read_bytes(json);
    struct payload_value value = {.key_length = key_length, .json = text + begin, .length = (size_t)(end - begin)};
    if (is_new && (!array_push(&payload->key_offsets, key) || !array_push(&payload->values, value)))
        *failed = true;
    return !*failed;
}

static bool read_object(struct payload *payload, const struct string_entry *entry)
{
    struct json json;
    bool failed = false;
    json_init_whole(&json, entry->text, entry->length);
    if (json_next(&json) == JSON_OBJECT_OPEN)
        while (json_next(&json) == JSON_KEY && read_member(payload, &json, entry->text, &failed))
            continue;
    json_destroy(&json);
    return !failed;
}

int payload_read(struct payload *payload, const struct profile *profile, const struct marker *marker, struct error *err)
{
    const struct marker_table *markers = &profile->threads.data[marker->thread].markers;
    const uint32_t rows[] = {marker->end_row, marker->row};
    payload->values.length = payload->key_offsets.length = payload->keys.length = 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        uint32_t data = rows[i] == PROFILE_NONE ? PROFILE_NONE : markers->data[rows[i]];
        if (data != PROFILE_NONE && !read_object(payload, &profile->strings.entries.data[data]))
            return error_no_memory(err);
    }
    for (size_t i = 0; i < payload->values.length; i++)
        payload->values.data[i].key = payload->keys.data + payload->key_offsets.data[i];
    return 0;
}

const struct payload_value *payload_find(const struct payload *payload, const char *key)
{
    size_t length = strlen(key);
    for (size_t i = 0; i < payload->values.length; i++)
        if (payload->values.data[i].key_length == length && memcmp(payload->values.data[i].key, key, length) == 0)
            return &payload->values.data[i];
    return NULL;
}

void payload_destroy(struct payload *payload)
{
    array_free(&payload->values);
    array_free(&payload->key_offsets);
    array_free(&payload->keys);
}

/* ---- fields ---- */

static bool is_null(const struct payload_value *value)
{
    return value->length == 4 && memcmp(value->json, "null", 4) == 0;
}

static bool is_hidden_field(const struct payload_value *value)
{
    return (value->key_length == 4 && memcmp(value->key, "type", 4) == 0) ||
           (value->key_length == 5 && memcmp(value->key, "cause", 5) == 0);
}

int list_marker_fields(struct marker_field_list *fields, const struct marker_context *context,
                       const struct marker *marker, const struct payload *payload, struct error *err)
{
    fields->length = 0;
    bool done = true;
    if (marker->schema == SCHEMA_NONE) {
        for (size_t i = 0; done && i < payload->values.length; i++) {
            const struct payload_value *value = &payload->values.data[i];
            if (!is_null(value) && !is_hidden_field(value))
                done = array_push(fields, (struct marker_field_text){value, NULL});
        }
        return done ? 0 : error_no_memory(err);
    }
    const struct marker_schema *schema = &context->schemas->items.data[marker->schema];
    for (uint32_t i = 0; done && i < schema->field_count; i++) {
        const struct marker_field *field = &context->schemas->fields.data[schema->first_field + i];
        const struct payload_value *value = payload_find(payload, field->key);
        if (value && !is_null(value))
            done = array_push(fields, (struct marker_field_text){value, field});
    }
    return done ? 0 : error_no_memory(err);
}

bool marker_field_append(struct text_buffer *out, const struct marker_context *context,
                         const struct marker_field_text *field)
{
    return value_text_append(out, &context->values, field->field ? field->field->format : "string", field->value->json,
                             field->value->length);
}

/* ---- labels ---- */

struct label_writer {
    struct text_buffer *out;
    const struct marker_context *context;
    const struct marker *marker;
    const struct payload *payload;
};

static bool append_name(const struct label_writer *writer)
{
    const struct string_entry *name = &writer->context->values.profile->strings.entries.data[writer->marker->name];
    return text_append(writer->out, name->text, name->length);
}

static bool append_category(const struct label_writer *writer)
{
    const struct profile *profile = writer->context->values.profile;
    const struct string_entry *name =
        &profile->strings.entries.data[profile->categories.data[writer->marker->category].name];
    return text_append(writer->out, name->text, name->length);
}

static bool append_time(const struct label_writer *writer, double ms)
{
    char text[QUANTITY_TEXT_MAX];
    format_number(text, "duration", ms);
    return text_append_z(writer->out, text);
}

static bool span_equals(struct span span, const char *text)
{
    return (size_t)(span.end - span.at) == strlen(text) && memcmp(span.at, text, strlen(text)) == 0;
}

static const char *get_field_format(const struct label_writer *writer, struct span key)
{
    if (writer->marker->schema == SCHEMA_NONE)
        return "string";
    const struct marker_schema *schema = &writer->context->schemas->items.data[writer->marker->schema];
    for (uint32_t i = 0; i < schema->field_count; i++) {
        const struct marker_field *field = &writer->context->schemas->fields.data[schema->first_field + i];
        if (span_equals(key, field->key))
            return field->format;
    }
    return "string";
}

static const struct payload_value *find_value(const struct label_writer *writer, struct span key)
{
    for (size_t i = 0; i < writer->payload->values.length; i++) {
        const struct payload_value *value = &writer->payload->values.data[i];
        if (value->key_length == (size_t)(key.end - key.at) && memcmp(value->key, key.at, value->key_length) == 0)
            return value;
    }
    return NULL;
}

/* The values that JavaScript treats as true. */
static bool is_true(const struct payload_value *value)
{
    static const char *const false_values[] = {"false", "null", "0", "\"\""};
    for (size_t i = 0; value && i < sizeof(false_values) / sizeof(*false_values); i++)
        if (span_equals((struct span){value->json, value->json + value->length}, false_values[i]))
            return false;
    return value != NULL;
}

/* Appends one of two texts: "'yes' : 'no'". */
static bool append_choice(const struct label_writer *writer, struct span choices, bool is_first)
{
    struct span chosen = {NULL, NULL};
    const char *at = choices.at;
    for (int i = 0; i < (is_first ? 1 : 2); i++) {
        const char *open = at < choices.end ? memchr(at, '\'', (size_t)(choices.end - at)) : NULL;
        const char *close = open ? memchr(open + 1, '\'', (size_t)(choices.end - open - 1)) : NULL;
        if (!close)
            return true;
        chosen = (struct span){open + 1, close};
        at = close + 1;
    }
    return text_append(writer->out, chosen.at, (size_t)(chosen.end - chosen.at));
}

static bool append_data(const struct label_writer *writer, struct span key)
{
    const char *question = memchr(key.at, '?', (size_t)(key.end - key.at));
    if (question) {
        bool is_set = is_true(find_value(writer, trim_span((struct span){key.at, question})));
        return append_choice(writer, (struct span){question + 1, key.end}, is_set);
    }
    const struct payload_value *value = find_value(writer, key);
    return !value || value_text_append(writer->out, &writer->context->values, get_field_format(writer, key),
                                       value->json, value->length);
}

/* Appends the value of an expression between braces; nothing for an unknown expression. */
static bool append_expression(const struct label_writer *writer, struct span inside)
{
    static const char data[] = "marker.data.";
    const struct marker *marker = writer->marker;
    inside = trim_span(inside);
    if (span_equals(inside, "marker.name"))
        return append_name(writer);
    if (span_equals(inside, "marker.category"))
        return append_category(writer);
    if (span_equals(inside, "marker.start"))
        return append_time(writer, marker->start - writer->context->values.zero);
    if (span_equals(inside, "marker.end"))
        return append_time(writer, marker->end - writer->context->values.zero);
    if (span_equals(inside, "marker.duration"))
        return append_time(writer, marker->end - marker->start);
    if ((size_t)(inside.end - inside.at) > sizeof(data) - 1 && memcmp(inside.at, data, sizeof(data) - 1) == 0)
        return append_data(writer, (struct span){inside.at + sizeof(data) - 1, inside.end});
    return true;
}

static bool append_template(const struct label_writer *writer, const char *label)
{
    bool done = true;
    while (done && *label) {
        const char *open = strchr(label, '{'), *close = open ? strchr(open, '}') : NULL;
        if (!close)
            return text_append_z(writer->out, label);
        done = text_append(writer->out, label, (size_t)(open - label)) &&
               append_expression(writer, (struct span){open + 1, close});
        label = close + 1;
    }
    return done;
}

static bool is_shown(const struct marker_field_text *field)
{
    return !field->field || !field->field->hidden;
}

static bool append_field_label(struct text_buffer *out, const struct marker_field_text *field)
{
    return (field->field ? text_append_z(out, field->field->label)
                         : text_append(out, field->value->key, field->value->key_length)) &&
           text_append_z(out, ": ");
}

static bool append_fields(const struct label_writer *writer, const struct marker_field_list *fields, bool only_first)
{
    size_t shown = 0, written = 0;
    for (size_t i = 0; i < fields->length; i++)
        shown += is_shown(&fields->data[i]);
    bool done = true, with_labels = shown > 1 && !only_first;
    for (size_t i = 0; done && i < fields->length && !(only_first && written); i++) {
        const struct marker_field_text *field = &fields->data[i];
        if (!is_shown(field))
            continue;
        if (written++)
            done = text_append_z(writer->out, ", ");
        if (done && with_labels)
            done = append_field_label(writer->out, field);
        done = done && marker_field_append(writer->out, writer->context, field);
    }
    return done;
}

static const char *find_template(const struct marker_context *context, const struct marker *marker,
                                 enum marker_label label)
{
    if (marker->schema == SCHEMA_NONE)
        return NULL;
    const struct marker_schema *schema = &context->schemas->items.data[marker->schema];
    return label == MARKER_TABLE_LABEL   ? schema->table_label
           : label == MARKER_CHART_LABEL ? schema->chart_label
                                         : schema->tooltip_label;
}

int marker_label_append(struct text_buffer *out, const struct marker_context *context, const struct marker *marker,
                        enum marker_label label, struct payload *payload, struct error *err)
{
    const char *template = find_template(context, marker, label);
    struct label_writer writer = {out, context, marker, payload};
    struct marker_field_list fields = {0};
    if (!template && label == MARKER_TOOLTIP_LABEL)
        return append_name(&writer) ? 0 : error_no_memory(err);
    int code = payload_read(payload, context->values.profile, marker, err);
    if (!code && template)
        code = append_template(&writer, template) ? 0 : error_no_memory(err);
    else if (!code) {
        code = list_marker_fields(&fields, context, marker, payload, err);
        if (!code && !append_fields(&writer, &fields, label == MARKER_CHART_LABEL))
            code = error_no_memory(err);
    }
    array_free(&fields);
    return code;
}
