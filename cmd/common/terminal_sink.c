#include "cmd/common/terminal_sink.h"

#include "cmd/common/ui.h"

/* Returns the size of the text without an incomplete UTF-8 character at its end. */
static size_t measure_complete_characters(const char *text, size_t size)
{
    for (size_t back = 1; back <= 3 && back <= size; back++) {
        unsigned char c = (unsigned char)text[size - back];
        size_t length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
        if (c < 0x80)
            break;
        if (c >= 0xc0)
            return length > back ? size - back : size;
    }
    return size;
}

static int write_to_terminal(struct terminal_sink *terminal, size_t size, struct error *err)
{
    char rest[4];
    size_t left = terminal->used - size;
    memcpy(rest, terminal->text + size, left); /* at most 3 bytes */
    size_t masked = ui_replace_invisible(terminal->text, size);
    int code = masked ? terminal->out.write(terminal->out.context, terminal->text, masked, err) : 0;
    memcpy(terminal->text, rest, left);
    terminal->used = left;
    return code;
}

static int write_masked(void *context, const void *bytes, size_t size, struct error *err)
{
    struct terminal_sink *terminal = context;
    int code = 0;
    for (const char *at = bytes; size && !code;) {
        size_t room = sizeof(terminal->text) - terminal->used, part = size < room ? size : room;
        memcpy(terminal->text + terminal->used, at, part);
        terminal->used += part;
        at += part;
        size -= part;
        code = write_to_terminal(terminal, measure_complete_characters(terminal->text, terminal->used), err);
    }
    return code;
}

struct byte_sink terminal_sink(struct terminal_sink *terminal)
{
    return (struct byte_sink){.write = write_masked, .context = terminal};
}

int terminal_sink_finish(struct terminal_sink *terminal, struct error *err)
{
    return write_to_terminal(terminal, terminal->used, err);
}
