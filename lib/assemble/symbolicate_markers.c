#include "assemble/symbolicate_markers.h"

#include "base/json.h"
#include "base/json_write.h"
#include "base/text_buffer.h"

/* The position in a payload; the number to replace is in {"cause": {"stack": number}}. */
struct payload_position {
    bool is_cause; /* the last key in the outermost object is "cause" */
    bool is_stack; /* the next value is the stack number */
};

static void follow_token(struct payload_position *position, const struct json *json, enum json_type type)
{
    bool is_key = type == JSON_KEY;
    if (is_key && json->depth == 1)
        position->is_cause = json_is(json, "cause");
    position->is_stack = is_key && json->depth == 2 && position->is_cause && json_is(json, "stack");
}

static bool is_stack_number(const struct json *json, enum json_type type, size_t count)
{
    return type == JSON_NUMBER && json->number >= 0 && json->number < (double)count &&
           (double)(uint32_t)json->number == json->number;
}

/* Copies the payload with its stack replaced. The copy is invalid JSON if the payload is invalid JSON. */
static bool rewrite_payload(struct json *json, struct json_writer *writer, const uint32_t *stacks, size_t count)
{
    struct payload_position position = {0};
    enum json_type type;
    while ((type = json_next(json)) > JSON_END) {
        if (position.is_stack && is_stack_number(json, type, count))
            json_unsigned(writer, stacks[(uint32_t)json->number]);
        else
            json_token(writer, json, type);
        follow_token(&position, json, type);
    }
    return type == JSON_END;
}

static int remap_payload(struct profile *profile, uint32_t *data, const uint32_t *stacks, size_t count,
                         struct json_writer *writer, struct text_buffer *payload, struct error *err)
{
    const struct string_entry *entry = &profile->strings.entries.data[*data];
    struct byte_sink sink = text_sink(payload);
    struct json json;
    payload->length = 0;
    json_writer_init(writer, &sink, err);
    json_init_whole(&json, entry->text, entry->length);
    bool is_good = rewrite_payload(&json, writer, stacks, count);
    json_destroy(&json);
    int code = json_writer_finish(writer);
    if (code || !is_good)
        return code;
    uint32_t text = strings_add(&profile->strings, payload->data, payload->length);
    if (text == STRING_NONE)
        return error_no_memory(err);
    *data = text;
    return 0;
}

int symbolicate_markers(struct profile *profile, const uint32_t *stacks, size_t count, struct error *err)
{
    struct text_buffer payload = {0};
    struct json_writer *writer = NULL;
    int code = 0;
    for (size_t t = 0; !code && t < profile->threads.length; t++) {
        struct marker_table *markers = &profile->threads.data[t].markers;
        for (size_t i = 0; !code && i < markers->length; i++) {
            uint32_t data = markers->data[i];
            if (data == PROFILE_NONE || !strstr(strings_text(&profile->strings, data), "\"cause\""))
                continue;
            if (!writer && !(writer = malloc(sizeof(*writer))))
                code = error_no_memory(err);
            else
                code = remap_payload(profile, &markers->data[i], stacks, count, writer, &payload, err);
        }
    }
    array_free(&payload);
    free(writer);
    return code;
}
