/*
 * Source text for `prof report`: embedded in the profile, or from the file.
 */
#include "cmd/report/report_source.h"

#include "os/file_io.h"

enum { TEXT_MAX = 16 << 20 };

/* Returns the text of a source file, which the caller frees, or NULL if the file is not readable. */
static char *read_file(const char *name)
{
    int fd = file_open_in(-1, name);
    char *text;
    size_t size;
    return fd >= 0 && file_load_text(fd, name, TEXT_MAX, &text, &size, NULL) == 0 ? text : NULL;
}

static char *copy_embedded_source(const struct report *report, const char *file)
{
    const struct profile *profile = report->profile;
    for (size_t i = 0; i < profile->sources.length; i++) {
        uint32_t name = profile->sources.data[i].filename, content = profile->sources.data[i].content;
        if (name < profile->strings.entries.length && content < profile->strings.entries.length &&
            strcmp(strings_text(&profile->strings, name), file) == 0)
            return strdup(strings_text(&profile->strings, content));
    }
    return read_file(file);
}

/* Splits the text into NUL-terminated lines. Each leading tab becomes one space. */
static bool cut_into_lines(struct source_text *text)
{
    for (char *at = text->bytes; at;) {
        char *line = at;
        at = strchr(line, '\n');
        if (at)
            *at++ = '\0';
        for (size_t i = 0; line[i] == '\t'; i++)
            line[i] = ' ';
        if (!array_push(&text->lines, line))
            return false;
    }
    return true;
}

void source_text_read(struct source_text *text, const struct report *report, const char *file)
{
    *text = (struct source_text){.bytes = copy_embedded_source(report, file)};
    if (!cut_into_lines(text))
        text->lines.length = 0;
}

const char *source_text_get_line(const struct source_text *text, uint32_t line)
{
    return line > 0 && line <= text->lines.length ? text->lines.data[line - 1] : NULL;
}

void source_text_destroy(struct source_text *text)
{
    array_free(&text->lines);
    free(text->bytes);
}
