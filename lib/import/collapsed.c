/*
 * Collapsed ("folded") stacks, the input of flamegraph.pl (https://github.com/brendangregg/FlameGraph): a line for each
 * distinct stack, its frames from the outermost to the innermost with semicolons between them, a space, and a count.
 * stackcollapse-*.pl, py-spy --format raw, async-profiler and bpftrace scripts write this format. A suffix is the kind
 * of a frame: _[k] kernel, _[i] inlined, _[j] compiled by a JIT, _[w] waker; prof, like flamegraph.pl, hides these
 * suffixes.
 */
#include "import/importers.h"

struct line {
    struct builder_text stack;
    double count;
};

/* Parses a line without its newline. Returns false if the line has no stack with a count. The stack may be empty:
 * py-spy writes empty stacks. */
static bool parse_line(const char *text, size_t length, struct line *line)
{
    size_t digits = length;
    while (digits && strchr("0123456789.", text[digits - 1]) && text[digits - 1])
        digits--;
    char number[32];
    size_t count = length - digits;
    if (count == 0 || count >= sizeof(number) || digits < 1 || text[digits - 1] != ' ')
        return false;
    memcpy(number, text + digits, count);
    number[count] = '\0';
    char *end;
    line->count = strtod(number, &end);
    line->stack = (struct builder_text){text, digits - 1};
    return *end == '\0' && isfinite(line->count);
}

static size_t find_line_length(const char *text, size_t size)
{
    const char *end = size ? memchr(text, '\n', size) : NULL;
    return end ? (size_t)(end - text) : size;
}

static size_t trim_line(const char *text, size_t length)
{
    while (length && (text[length - 1] == '\r' || text[length - 1] == ' '))
        length--;
    return length;
}

static bool is_text(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 && text[i] != '\t')
            return false;
    return true;
}

bool collapsed_begins(const char *text, size_t size, bool is_whole)
{
    size_t stacks = 0;
    for (size_t at = 0; at < size;) {
        size_t length = find_line_length(text + at, size - at), shown = trim_line(text + at, length);
        bool is_cut = at + length == size && !is_whole;
        struct line line;
        if (!is_text(text + at, shown))
            return false;
        if (is_cut) /* the first line is incomplete */
            return stacks > 0 || memchr(text + at, ';', length);
        if (shown && text[at] != '#') {
            if (text[at] == '\t' || !parse_line(text + at, shown, &line))
                return false;
            if (text[at] == '@' && line.stack.length && line.stack.text[line.stack.length - 1] == ':')
                return false; /* a map of bpftrace: "@cpu[12]: 3" */
            stacks += line.stack.length > 0;
        }
        at += length + 1;
    }
    return stacks > 0;
}

static uint32_t add_frame(struct profile_builder *builder, const char *text, size_t length, uint32_t kernel)
{
    struct builder_frame frame = {.name = {text, length}};
    if (length > 4 && text[length - 4] == '_' && text[length - 3] == '[' && text[length - 1] == ']' &&
        strchr("kwij", text[length - 2])) {
        frame.name.length -= 4;
        if (text[length - 2] == 'k')
            frame.category = kernel + 1;
    }
    return builder_add_frame(builder, &frame);
}

static uint32_t add_stack(struct profile_builder *builder, struct builder_text text, uint32_t kernel)
{
    uint32_t stack = PROFILE_NONE;
    for (size_t at = 0; at <= text.length;) {
        const char *end = memchr(text.text + at, ';', text.length - at);
        size_t length = end ? (size_t)(end - text.text) - at : text.length - at;
        if (length)
            stack = builder_add_stack(builder, stack, add_frame(builder, text.text + at, length, kernel));
        at += length + 1;
    }
    return stack;
}

int collapsed_read(const char *text, size_t size, struct profile_builder *builder, struct error *err)
{
    builder->has_no_times = true;
    uint32_t kernel = builder_add_category(builder, "Kernel", "orange");
    uint32_t thread = builder_add_thread(builder, 0, 0, PROFILE_NONE);
    size_t number = 1;
    for (size_t at = 0; at < size; number++) {
        size_t length = find_line_length(text + at, size - at), shown = trim_line(text + at, length);
        if (shown && text[at] != '#') {
            struct line line;
            if (!parse_line(text + at, shown, &line))
                return error_set(err, EINVAL, "line %zu does not end with a count", number);
            builder_add_sample(builder, thread, 0, add_stack(builder, line.stack, kernel), 0, line.count);
        }
        at += length + 1;
    }
    return 0;
}
