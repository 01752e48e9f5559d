#include "profile/merge_payloads.h"

#include "base/json.h"
#include "base/json_write.h"
#include "base/text_buffer.h"
#include "profile/payloads.h"

/* Reads one payload, and writes it with renumbered strings and stacks. */
struct rewriter {
    const struct hash *string_fields;
    const struct payload_numbers *numbers;
    struct json_writer *writer;
    uint64_t type;
    bool is_string, in_cause, is_stack; /* the kind of the last key */
};

static void make_track_key(struct rewriter *rewriter, const struct json *json, enum json_type type)
{
    bool is_key = type == JSON_KEY;
    rewriter->is_string = is_key && json->depth == 1 &&
                          hash_get(rewriter->string_fields,
                                   hash_mix(rewriter->type, hash_bytes(json->text, json->length))) != HASH_MISSING;
    if (is_key && json->depth == 1)
        rewriter->in_cause = json_is(json, "cause");
    rewriter->is_stack = is_key && json->depth == 2 && rewriter->in_cause && json_is(json, "stack");
}

static void write_number(struct rewriter *rewriter, double number)
{
    uint32_t index = PROFILE_NONE;
    if (number >= 0 && number < (double)PROFILE_NONE)
        index = rewriter->is_string ? rewriter->numbers->string(rewriter->numbers->context, (uint32_t)number)
                                    : (uint32_t)number + rewriter->numbers->first_stack;
    if (index == PROFILE_NONE)
        json_null(rewriter->writer);
    else
        json_unsigned(rewriter->writer, index);
}

static void rewrite_payload(struct rewriter *rewriter, const struct string_entry *payload)
{
    struct json json;
    json_init_whole(&json, payload->text, payload->length);
    for (enum json_type type; (type = json_next(&json)) > JSON_END;) {
        if (type == JSON_NUMBER && (rewriter->is_string || rewriter->is_stack))
            write_number(rewriter, json.number);
        else
            json_token(rewriter->writer, &json, type);
        make_track_key(rewriter, &json, type);
    }
    json_destroy(&json);
}

static int append_payload(struct profile *into, const struct string_entry *payload, struct rewriter *rewriter,
                          struct text_buffer *text, uint32_t *data, struct error *err)
{
    struct byte_sink sink = text_sink(text);
    text->length = 0;
    json_writer_init(rewriter->writer, &sink, err);
    rewriter->type = hash_payload_type(payload->text, payload->length);
    rewriter->is_string = rewriter->in_cause = rewriter->is_stack = false;
    rewrite_payload(rewriter, payload);
    int code = json_writer_finish(rewriter->writer);
    if (code)
        return code;
    *data = strings_add(&into->strings, text->data, text->length);
    return *data == STRING_NONE ? error_no_memory(err) : 0;
}

static int append_payloads(struct profile *into, struct profile *from, struct rewriter *rewriter, struct error *err)
{
    struct text_buffer text = {0};
    int code = 0;
    for (size_t t = 0; t < from->threads.length; t++) {
        struct marker_table *markers = &from->threads.data[t].markers;
        for (size_t i = 0; !code && i < markers->length; i++)
            if (markers->data[i] != PROFILE_NONE)
                code = append_payload(into, &from->strings.entries.data[markers->data[i]], rewriter, &text,
                                      &markers->data[i], err);
    }
    array_free(&text);
    return code;
}

/* Concatenates the schemas of both profiles; of two schemas with the same name, the first counts. */
static int append_schemas(struct profile *into, const struct profile *from, struct error *err)
{
    uint32_t own = into->meta.marker_schema, other = from->meta.marker_schema;
    struct text_buffer text = {0};
    if (other == PROFILE_NONE)
        return 0;
    const struct string_entry *more = &from->strings.entries.data[other];
    const struct string_entry *first = own == PROFILE_NONE ? NULL : &into->strings.entries.data[own];
    if (first && first->length == more->length && memcmp(first->text, more->text, more->length) == 0)
        return 0;
    bool enough = !first || (text_append(&text, first->text, first->length - 1) && text_append_z(&text, ","));
    enough = enough && text_append(&text, more->text + (first ? 1 : 0), more->length - (first ? 1 : 0));
    if (enough)
        into->meta.marker_schema = strings_add(&into->strings, text.data, text.length);
    array_free(&text);
    return enough && into->meta.marker_schema != STRING_NONE ? 0 : error_no_memory(err);
}

int payloads_merge(struct profile *into, struct profile *from, const struct payload_numbers *numbers, struct error *err)
{
    struct hash string_fields = {0};
    struct rewriter rewriter = {&string_fields, numbers, malloc(sizeof(*rewriter.writer)), 0, false, false, false};
    int code = rewriter.writer ? list_string_fields(&string_fields, from, err) : error_no_memory(err);
    if (!code)
        code = append_payloads(into, from, &rewriter, err);
    if (!code)
        code = append_schemas(into, from, err);
    into->meta.kept_strings = (uint32_t)into->strings.entries.length;
    free(rewriter.writer);
    hash_destroy(&string_fields);
    return code;
}
