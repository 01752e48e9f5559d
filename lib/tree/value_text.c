#include "tree/value_text.h"

#include "base/json.h"
#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers ---- */

/* "1234567" -> "1,234,567"; `text` has room for the commas. */
static void group_thousands(char *text)
{
    size_t digits = strspn(text, "-") + strspn(text + strspn(text, "-"), "0123456789");
    for (size_t at = digits; at > strspn(text, "-") + 3;) {
        at -= 3;
        memmove(text + at + 1, text + at, strlen(text + at) + 1);
        text[at] = ',';
    }
}

static void count_text(char *out, double value)
{
    snprintf(out, NUMBER_TEXT_MAX, fabs(value) < 1e15 ? "%.0f" : "%g", value);
    if (fabs(value) < 1e15)
        group_thousands(out);
}

/* Three digits, without zeros at the end: "12.5", "340", "1.2". */
static void put_short(char *out, double value, const char *unit)
{
    double size = fabs(value);
    char number[NUMBER_TEXT_MAX / 2];
    if (size >= 1e15)
        snprintf(number, sizeof(number), "%g", value);
    else
        snprintf(number, sizeof(number), "%.*f", size >= 100 ? 0 : size >= 10 ? 1 : 2, value);
    if (strchr(number, '.')) {
        size_t end = strlen(number);
        while (number[end - 1] == '0')
            end--;
        number[number[end - 1] == '.' ? end - 1 : end] = '\0';
    }
    snprintf(out, NUMBER_TEXT_MAX, "%s %s", number, unit);
}

static void bytes_text(char *out, double value)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t unit = 0;
    while (fabs(value) >= 1024 && unit < sizeof(units) / sizeof(*units) - 1) {
        value /= 1024;
        unit++;
    }
    snprintf(out, NUMBER_TEXT_MAX, unit == 0 || fabs(value) >= 100 ? "%.0f %s" : "%.1f %s", value, units[unit]);
}

static void duration_text(char *out, double ms)
{
    double size = fabs(ms);
    if (size >= 1000 || size == 0)
        put_short(out, size == 0 ? 0 : ms / 1000, size == 0 ? "ms" : "s");
    else if (size >= 1)
        put_short(out, ms, "ms");
    else if (size >= 1e-3)
        put_short(out, ms * 1e3, "µs");
    else
        put_short(out, ms * 1e6, "ns");
}

void number_text(char out[NUMBER_TEXT_MAX], const char *format, double value)
{
    static const struct {
        const char *format;
        double ms;
    } durations[] = {{"duration", 1},        {"time", 1},          {"milliseconds", 1}, {"seconds", 1e3},
                     {"microseconds", 1e-3}, {"nanoseconds", 1e-6}};
    for (size_t i = 0; i < sizeof(durations) / sizeof(*durations); i++)
        if (strcmp(format, durations[i].format) == 0) {
            duration_text(out, value * durations[i].ms);
            return;
        }
    if (strcmp(format, "bytes") == 0)
        bytes_text(out, value);
    else if (strcmp(format, "percentage") == 0)
        snprintf(out, NUMBER_TEXT_MAX, "%.4g %%", value * 100);
    else if (strcmp(format, "hexadecimal") == 0 && value >= 0 && value < 18446744073709551616.0)
        snprintf(out, NUMBER_TEXT_MAX, "0x%llx", (unsigned long long)value);
    else if (strcmp(format, "integer") == 0)
        count_text(out, value);
    else
        snprintf(out, NUMBER_TEXT_MAX, "%.15g", value);
}

/* ---- JSON values ---- */

static bool means_string(const char *format)
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
    char text[NUMBER_TEXT_MAX];
    if (means_string(format))
        return append_string(out, context->profile, value);
    number_text(text, format, strcmp(format, "time") == 0 ? value - context->zero : value);
    return text_append_z(out, text);
}

/* Texts end at a NUL elsewhere: here it is the character for what cannot be shown. */
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

/* Elements with commas between; an inner array, a row of a table, begins a line. Objects: "key: value". */
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
    /* Nearly all values are plain strings, and there may be many. */
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
