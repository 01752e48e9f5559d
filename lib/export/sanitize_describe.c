#include "export/sanitize.h"

#include "base/text_buffer.h"

#include <stdarg.h>

enum { LINE_SIZE = 256, EXAMPLE_SIZE = 200 };

static void append_line(struct text_buffer *out, bool *failed, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void append_line(struct text_buffer *out, bool *failed, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    *failed = *failed || !text_append_z(out, line) || !text_append(out, "\n", 1);
}

/* Writes a text on one line, without the middle of a long text. */
static void append_example(struct text_buffer *out, bool *failed, char mark, const char *text)
{
    char line[EXAMPLE_SIZE + 8];
    size_t length = strlen(text), used = 0;
    line[used++] = mark;
    for (size_t i = 0; i < length; i++) {
        if (length > EXAMPLE_SIZE && i == EXAMPLE_SIZE / 2) {
            memcpy(line + used, "...", 3);
            used += 3;
            i = length - EXAMPLE_SIZE / 2;
        }
        line[used++] = (unsigned char)text[i] < ' ' ? ' ' : text[i];
    }
    line[used++] = '\n';
    *failed = *failed || !text_append(out, line, used);
}

enum { COUNT_SIZE = 32 };

/* Formats a count with commas: "1,234". */
static const char *format_count(char out[COUNT_SIZE], uint64_t count)
{
    char digits[24];
    size_t used = 0, length = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, count);
    for (size_t i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            out[used++] = ',';
        out[used++] = digits[i];
    }
    out[used] = '\0';
    return out;
}

#define COUNT(count) format_count((char[COUNT_SIZE]){0}, (count))

static const char *get_plural_suffix(uint64_t count)
{
    return count == 1 ? "" : "s";
}

bool sanitize_describe(const struct sanitize_summary *summary, const struct sanitize_options *options,
                       struct text_buffer *out)
{
    static const char *const what[SANITIZE_PARTS] = {"home directories",
                                                     "user and host names, IP addresses",
                                                     "URLs except for their schemes",
                                                     "arguments of commands",
                                                     "texts of source files",
                                                     "notes about ranges and functions"};
    static const char *const where[SANITIZE_PARTS] = {"text", "text", "text", "command", "file", "note"};
    const struct sanitize_summary *sum = summary;
    bool failed = false;
    append_line(out, &failed, "+%s sample%s and %s marker%s of %s thread%s", COUNT(sum->samples),
                get_plural_suffix(sum->samples), COUNT(sum->markers), get_plural_suffix(sum->markers),
                COUNT(sum->threads), get_plural_suffix(sum->threads));
    if (sum->samples)
        append_line(out, &failed, "+times, from %.3f to %.3f s, and the start time of the recording", sum->from / 1000,
                    sum->to / 1000);
    append_line(out, &failed, "+names of %s function%s, %s librar%s and %s source file%s", COUNT(sum->functions),
                get_plural_suffix(sum->functions), COUNT(sum->libraries), sum->libraries == 1 ? "y" : "ies",
                COUNT(sum->sources), get_plural_suffix(sum->sources));
    append_line(out, &failed, "+names and numbers of processes and threads, the processor and the system");
    for (unsigned part = 0; part < SANITIZE_PARTS; part++) {
        uint64_t count = sum->changed[part];
        if (!(options->parts >> part & 1)) {
            append_line(out, &failed, "+%s", what[part]);
            continue;
        }
        if (!count) {
            append_line(out, &failed, "-%s (none found)", what[part]);
            continue;
        }
        append_line(out, &failed, "-%s, in %s %s%s", what[part], COUNT(count), where[part], get_plural_suffix(count));
        for (size_t i = 0; i < SANITIZE_EXAMPLES && sum->examples[part][i].before && sum->examples[part][i].after;
             i++) {
            append_example(out, &failed, '~', sum->examples[part][i].before);
            append_example(out, &failed, '=', sum->examples[part][i].after);
        }
    }
    if (sum->entries)
        append_line(out, &failed, "-%s entr%s of the metadata about machine and recording", COUNT(sum->entries),
                    sum->entries == 1 ? "y" : "ies");
    if (options->library_count)
        append_line(out, &failed, "-names of %s function%s in other libraries", COUNT(sum->hidden),
                    get_plural_suffix(sum->hidden));
    return !failed;
}
