#include "cmd/common/ui.h"

#include "base/json_write.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <unistd.h>

static void mask_invisible(char *text)
{
    text[ui_replace_invisible(text, strlen(text))] = '\0';
}

static bool shows_line; /* ui_show_progress() has printed a progress line that is still visible */

static void clear_line(void)
{
    if (shows_line)
        fputs("\r\033[K", stderr);
    shows_line = false;
}

/* Composes a line and writes it in one call, so that output of the target cannot appear inside the line. */
static void print_message(const char *prefix, const char *format, va_list args)
{
    char text[2048];
    int used = vsnprintf(text, sizeof(text), format, args);
    if (used < 0)
        return;
    mask_invisible(text);
    clear_line();
    fprintf(stderr, "%s: %s\n", prefix, text);
    fflush(stderr);
}

size_t ui_replace_invisible(char *text, size_t size)
{
    const char *at = text, *end = text + size;
    char *out = text;
    for (size_t length; at < end; at += length) {
        length = utf8_measure_character(at, end);
        bool visible = *at == '\n' || *at == '\t' || (length && utf8_is_visible(utf8_decode(at, length)));
        length = length ? length : 1;
        memmove(out, visible ? at : "?", visible ? length : 1);
        out += visible ? length : 1;
    }
    return (size_t)(out - text);
}

bool ui_write(const char *bytes, size_t size)
{
    return fwrite(bytes, 1, size, stdout) == size;
}

static int write_to_stdout(void *context, const void *bytes, size_t size, struct error *err)
{
    (void)context;
    if (!ui_write(bytes, size))
        return error_set(err, errno ? errno : EIO, "cannot write to standard output: %s", strerror(errno));
    return 0;
}

const struct byte_sink ui_sink = {.write = write_to_stdout};

void ui_init_json(struct json_writer *json, const struct byte_sink *sink, struct error *err)
{
    json_writer_init(json, sink, err);
    json->rounds = true;
}

int ui_print_json(void (*write)(struct json_writer *json, const void *context), const void *context)
{
    static struct json_writer json;
    struct error err = {0};
    ui_init_json(&json, &ui_sink, &err);
    json_open(&json, '{');
    json_member_unsigned(&json, "version", JSON_VERSION);
    write(&json, context);
    json_close(&json, '}');
    if (!json_writer_finish(&json) && (putchar('\n') == EOF || fflush(stdout)))
        error_set(&err, errno, "cannot write to standard output: %s", strerror(errno));
    return err.text[0] ? ui_fail_with_error(&err) : EXIT_SUCCESS;
}

void ui_append_format(char *text, size_t size, const char *format, ...)
{
    va_list args;
    size_t used = strlen(text);
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

static void print_masked(FILE *file, const char *format, va_list args)
{
    char *text;
    int size = vasprintf(&text, format, args);
    if (size < 0)
        return;
    fwrite(text, 1, ui_replace_invisible(text, (size_t)size), file);
    free(text);
}

void ui_print(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_masked(stdout, format, args);
    va_end(args);
}

void ui_print_wrapped(const char *text, int indent, int width)
{
    int column = indent, spaces = 0; /* before the next word */
    while (*text) {
        int length = (int)strcspn(text, " \n");
        bool is_full = column > indent && column + spaces + length > width;
        if (is_full)
            ui_print("\n%*s", indent, "");
        column = is_full ? indent : column + spaces;
        ui_print("%*s%.*s", is_full ? 0 : spaces, "", length, text);
        column += length;
        text += length;
        spaces = (int)strspn(text, " ");
        text += spaces;
        if (*text == '\n') {
            ui_print("\n%*s", indent, "");
            column = indent;
            spaces = 0;
            text++;
        }
    }
    ui_print("\n");
}

void ui_print_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_masked(stderr, format, args);
    va_end(args);
}

void ui_show_progress(const char *format, ...)
{
    char text[200];
    va_list args;
    if (!isatty(STDERR_FILENO))
        return;
    va_start(args, format);
    int used = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    mask_invisible(text);
    clear_line();
    if (used > 0)
        fprintf(stderr, "prof: %s", text);
    shows_line = used > 0;
    fflush(stderr);
}

void ui_print_message(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_message("prof", format, args);
    va_end(args);
}

int ui_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_message("prof", format, args);
    va_end(args);
    return EXIT_FAILURE;
}

int ui_fail_with_error(const struct error *err)
{
    return ui_fail("%s", err->text);
}

int ui_usage(const char *command, const char *format, ...)
{
    char prefix[64];
    snprintf(prefix, sizeof(prefix), "prof %s", command);
    va_list args;
    va_start(args, format);
    print_message(prefix, format, args);
    va_end(args);
    fprintf(stderr, "See 'prof help %s'.\n", command);
    return EXIT_USAGE;
}
