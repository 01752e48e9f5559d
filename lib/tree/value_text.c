#include "tree/value_text.h"

#include "base/json.h"
#include "base/utf8.h"
#include "tree/quantity.h"

/* ---- numbers ---- */

void format_number(char out[QUANTITY_TEXT_MAX], const char *format, double value)
{
    static const struct {
        const char *format;
        double ms;
    } durations[] = {{"duration", 1},        {"time", 1},          {"milliseconds", 1}, {"seconds", 1e3},
                     {"microseconds", 1e-3}, {"nanoseconds", 1e-6}};
    for (size_t i = 0; i < sizeof(durations) / sizeof(*durations); i++)
        if (strcmp(format, durations[i].format) == 0) {
            format_duration(out, value * durations[i].ms);
            return;
        }
    if (strcmp(format, "bytes") == 0)
        format_bytes(out, value);
    else if (strcmp(format, "percentage") == 0)
        snprintf(out, QUANTITY_TEXT_MAX, "%.4g %%", value * 100);
    else if (strcmp(format, "hexadecimal") == 0 && value >= 0 && value < 18446744073709551616.0)
        snprintf(out, QUANTITY_TEXT_MAX, "0x%llx", (unsigned long long)value);
    else if (strcmp(format, "integer") == 0)
        format_count(out, value);
    else
        snprintf(out, QUANTITY_TEXT_MAX, "%.15g", value);
}

/* ---- JSON values ---- */

static bool is_string_format(const char *format)
{
    return strcmp(format, "unique-string") == 0 || strcmp(format, "flow-id") == 0 ||
           strcmp(format, "terminating-flow-id") == 0;
}

static bool append_string(struct text_buffer *out, const struct profile *profile, double index)
{
    if (!(index >= 0) || index >= (double)profile->strings.entries.length)
        return true;
    const struct string_entry *entry = &profile->strings.entries.data[(size_t)index];
    return text_append(out, entry->text, entry->length);
}

static bool append_number(struct text_buffer *out, const struct value_context *context, const char *format,
                          double value)
{
    char text[QUANTITY_TEXT_MAX];
    if (is_string_format(format))
        return append_string(out, context->profile, value);
    format_number(text, format, strcmp(format, "time") == 0 ? value - context->zero : value);
    return text_append_z(out, text);
}

/* Other code ends texts at a NUL; here NUL becomes the replacement character. */
static bool append_decoded(struct text_buffer *out, const char *text, size_t length)
{
    for (;;) {
        const char *nul = length ? memchr(text, 0, length) : NULL;
        if (!nul)
            return text_append(out, text, length);
        if (!text_append(out, text, (size_t)(nul - text)) || !text_append_z(out, UTF8_REPLACEMENT))
            return false;
        length -= (size_t)(nul - text) + 1;
        text = nul + 1;
    }
}

static bool append_scalar(struct text_buffer *out, const struct value_context *context, const char *format,
                          const struct json *json, enum json_type type)
{
    switch (type) {
    case JSON_NUMBER:
        return append_number(out, context, format, json->number);
    case JSON_NULL:
        return true;
    default: /* strings, true, false */
        return append_decoded(out, json->text, json->length);
    }
}

/* Appends elements with commas between; an inner array (a row of a table) begins a line. Objects: "key: value". */
static bool append_parts(struct text_buffer *out, const struct value_context *context, const char *format,
                         struct json *json)
{
    enum json_type type;
    bool done = true, separate = false;
    while (done && (type = json_next(json)) > JSON_END) {
        bool opens = type == JSON_OBJECT_OPEN || type == JSON_ARRAY_OPEN;
        if (type == JSON_OBJECT_CLOSE || type == JSON_ARRAY_CLOSE) {
            separate = true;
            continue;
        }
        if (separate)
            done = text_append_z(out, opens ? "\n" : ", ");
        separate = !opens && type != JSON_KEY;
        if (type == JSON_KEY)
            done = done && text_append(out, json->text, json->length) && text_append_z(out, ": ");
        else if (!opens)
            done = done && append_scalar(out, context, format, json, type);
    }
    return done;
}

bool value_text_append(struct text_buffer *out, const struct value_context *context, const char *format,
                       const char *text, size_t length)
{
    /* Nearly all values are plain strings: a fast path for them. */
    if (length >= 2 && text[0] == '"' && text[length - 1] == '"' && !memchr(text, '\\', length))
        return append_decoded(out, text + 1, length - 2);
    struct json json;
    json_init_whole(&json, text, length);
    enum json_type type = json_next(&json);
    bool done = true;
    if (type == JSON_OBJECT_OPEN || type == JSON_ARRAY_OPEN)
        done = append_parts(out, context, format, &json);
    else if (type > JSON_END)
        done = append_scalar(out, context, format, &json, type);
    else
        done = append_decoded(out, text, length);
    json_destroy(&json);
    return done;
}
