#include "tree/info.h"

#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_TEXT = 64 };

struct fact_writer {
    struct fact_list *facts;
    struct arena *arena;
    const struct profile *profile;
    bool failed;
};

static void add_fact(struct fact_writer *writer, const char *label, const char *value)
{
    const char *copy = arena_copy(writer->arena, value, strlen(value));
    if (!copy || !array_push(writer->facts, (struct fact){label, copy}))
        writer->failed = true;
}

static void add_string(struct fact_writer *writer, const char *label, uint32_t string)
{
    if (string < writer->profile->strings.entries.length && strings_text(&writer->profile->strings, string)[0])
        add_fact(writer, label, strings_text(&writer->profile->strings, string));
}

/* ---- numbers for people ---- */

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

static void format_count(char *out, double value)
{
    snprintf(out, NUMBER_TEXT, fabs(value) < 1e15 ? "%.0f" : "%g", value);
    if (fabs(value) < 1e15)
        group_thousands(out);
}

static void format_bytes(char *out, double value)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t unit = 0;
    while (fabs(value) >= 1024 && unit < sizeof(units) / sizeof(*units) - 1) {
        value /= 1024;
        unit++;
    }
    snprintf(out, NUMBER_TEXT, unit == 0 || fabs(value) >= 100 ? "%.0f %s" : "%.1f %s", value, units[unit]);
}

static void format_duration(char *out, double ms)
{
    if (fabs(ms) < 1)
        snprintf(out, NUMBER_TEXT, "%.3g µs", ms * 1000);
    else if (fabs(ms) < 1000)
        snprintf(out, NUMBER_TEXT, "%.3g ms", ms);
    else
        snprintf(out, NUMBER_TEXT, fabs(ms) < 1e15 ? "%.3f s" : "%g s", ms / 1000);
}

static void format_number(char *out, const char *format, double value)
{
    if (strcmp(format, "bytes") == 0)
        format_bytes(out, value);
    else if (strcmp(format, "percentage") == 0)
        snprintf(out, NUMBER_TEXT, "%.4g %%", value * 100);
    else if (strcmp(format, "duration") == 0 || strcmp(format, "milliseconds") == 0 || strcmp(format, "time") == 0)
        format_duration(out, value);
    else if (strcmp(format, "seconds") == 0)
        format_duration(out, value * 1e3);
    else if (strcmp(format, "microseconds") == 0)
        format_duration(out, value / 1e3);
    else if (strcmp(format, "nanoseconds") == 0)
        format_duration(out, value / 1e6);
    else if (strcmp(format, "hexadecimal") == 0 && value >= 0 && value < 18446744073709551616.0)
        snprintf(out, NUMBER_TEXT, "0x%llx", (unsigned long long)value);
    else if (strcmp(format, "integer") == 0)
        format_count(out, value);
    else
        snprintf(out, NUMBER_TEXT, "%.15g", value);
}

/* ---- values of meta.extra: JSON text ---- */

static bool read_hex4(const char *at, unsigned *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : 16;
        if (digit == 16)
            return false;
        *code = *code * 16 + digit;
    }
    return true;
}

/* The character of \uXXXX at `at` (after the u), with a second half if it is the first of a pair; U+FFFD if it is
 * broken. */
static const char *read_unicode_escape(const char *at, unsigned *code)
{
    unsigned low;
    if (!read_hex4(at, code)) {
        *code = 0xfffd;
        return at;
    }
    at += 4;
    if (*code >= 0xd800 && *code < 0xdc00 && at[0] == '\\' && at[1] == 'u' && read_hex4(at + 2, &low) &&
        low >= 0xdc00 && low < 0xe000) {
        *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
        return at + 6;
    }
    if (*code == 0 || (*code >= 0xd800 && *code < 0xe000))
        *code = 0xfffd;
    return at;
}

/* The text of a JSON string (`json` begins at its quote). At worst, a broken escape of two bytes becomes U+FFFD, three.
 */
static char *decode_json_string(struct arena *arena, const char *json)
{
    char *text = arena_alloc(arena, strlen(json) * 2 + 4), *out = text;
    if (!text)
        return NULL;
    for (const char *at = json + 1; *at && *at != '"';) {
        if (*at != '\\' || !at[1]) {
            *out++ = *at++;
            continue;
        }
        char escape = at[1];
        at += 2;
        unsigned code;
        switch (escape) {
        case 'b':
            *out++ = '\b';
            break;
        case 'f':
            *out++ = '\f';
            break;
        case 'n':
            *out++ = '\n';
            break;
        case 'r':
            *out++ = '\r';
            break;
        case 't':
            *out++ = '\t';
            break;
        case 'u':
            at = read_unicode_escape(at, &code);
            out += utf8_put(out, code);
            break;
        default:
            *out++ = escape;
        }
    }
    *out = '\0';
    return text;
}

static const char *text_of_value(struct arena *arena, const char *format, const char *json)
{
    if (json[0] == '"')
        return decode_json_string(arena, json);
    char *end;
    double value = strtod(json, &end);
    if (end == json || *end || !isfinite(value))
        return json;
    char number[NUMBER_TEXT + NUMBER_TEXT / 3];
    format_number(number, format, value);
    return arena_copy(arena, number, strlen(number));
}

int facts_of_section(struct fact_list *facts, struct arena *arena, const struct profile *profile,
                     const struct extra_section *section, struct error *err)
{
    for (size_t i = 0; i < section->entries.length; i++) {
        const struct extra_entry *entry = &section->entries.data[i];
        const char *value = text_of_value(arena, strings_text(&profile->strings, entry->format),
                                          strings_text(&profile->strings, entry->value));
        if (!value || !array_push(facts, (struct fact){strings_text(&profile->strings, entry->label), value}))
            return error_no_memory(err);
    }
    return 0;
}

/* ---- what the profile's meta block says ---- */

static void add_cores(struct fact_writer *writer, const struct profile_meta *meta)
{
    char text[NUMBER_TEXT];
    if (meta->physical_cpus && meta->logical_cpus)
        snprintf(text, sizeof(text), "%u physical, %u logical", meta->physical_cpus, meta->logical_cpus);
    else if (meta->physical_cpus || meta->logical_cpus)
        snprintf(text, sizeof(text), "%u", meta->physical_cpus ? meta->physical_cpus : meta->logical_cpus);
    else
        return;
    add_fact(writer, "Cores", text);
}

int facts_of_profile(struct fact_list *facts, struct arena *arena, const struct profile *profile, struct error *err)
{
    struct fact_writer writer = {facts, arena, profile, false};
    const struct profile_meta *meta = &profile->meta;
    char number[NUMBER_TEXT];
    add_string(&writer, "Command", meta->arguments);
    add_string(&writer, "Imported from", meta->imported_from);
    add_string(&writer, "System", meta->os);
    add_string(&writer, "Platform", meta->platform);
    add_string(&writer, "ABI", meta->abi);
    add_string(&writer, "CPU", meta->cpu_name);
    add_cores(&writer, meta);
    if (meta->main_memory) {
        format_bytes(number, (double)meta->main_memory);
        add_fact(&writer, "Memory", number);
    }
    add_string(&writer, "Versions", meta->misc);
    snprintf(number, sizeof(number), "%u", meta->version);
    add_fact(&writer, "File format", number);
    add_string(&writer, "Warning", meta->warning);
    return writer.failed ? error_no_memory(err) : 0;
}
