#include "elf/bytes.h"

struct bytes bytes_get_part(const struct bytes *bytes, uint64_t at, uint64_t size)
{
    if (at >= bytes->size)
        return (struct bytes){0};
    struct bytes part = *bytes;
    part.size = size < bytes->size - at ? size : bytes->size - at;
    if (part.memory)
        part.memory += at;
    else
        part.offset += at;
    return part;
}

bool bytes_read(const struct bytes *bytes, uint64_t at, void *out, size_t size)
{
    if (at > bytes->size || size > bytes->size - at)
        return false;
    if (size == 0)
        return true;
    if (bytes->memory) {
        memcpy(out, bytes->memory + at, size);
        return true;
    }
    return file_source_read_at(bytes->source, out, size, bytes->offset + at) == (ssize_t)size;
}

static void set_no_memory(const struct bytes *bytes)
{
    if (bytes->source)
        bytes->source->no_memory = true;
}

bool bytes_ran_out_of_memory(const struct bytes *bytes)
{
    return bytes->source && bytes->source->no_memory;
}

unsigned char *bytes_load(const struct bytes *bytes)
{
    if (bytes->size == 0 || bytes->size > BYTES_LOAD_MAX)
        return NULL;
    unsigned char *copy = malloc(bytes->size + 1);
    if (!copy)
        set_no_memory(bytes);
    if (copy && !bytes_read(bytes, 0, copy, bytes->size)) {
        free(copy);
        return NULL;
    }
    if (copy)
        copy[bytes->size] = 0;
    return copy;
}

char *bytes_load_text(const struct bytes *bytes, uint64_t at, size_t max, size_t *length)
{
    for (size_t want = 1 << 16; want / 4 <= max; want *= 4) {
        struct bytes part = bytes_get_part(bytes, at, want < max ? want : max + 1);
        char *text = (char *)bytes_load(&part);
        const char *end = text ? memchr(text, '\0', (size_t)part.size) : NULL;
        if (end) {
            *length = (size_t)(end - text);
            return text;
        }
        free(text);
        if (!text || part.size < want)
            break;
    }
    return NULL;
}

static bool window_move(struct window *window, uint64_t at, size_t want)
{
    uint64_t left = window->bytes->size - at;
    size_t step = window->step ? window->step : 4096;
    size_t length = want > step ? want : step;
    if (length > left)
        length = (size_t)left;
    if (length > window->capacity) {
        unsigned char *grown = realloc(window->buffer, length);
        if (!grown) {
            set_no_memory(window->bytes);
            return false;
        }
        window->buffer = grown;
        window->capacity = length;
    }
    window->start = at;
    ssize_t got = file_source_read_at(window->bytes->source, window->buffer, length, window->bytes->offset + at);
    window->length = got > 0 ? (size_t)got : 0;
    return true;
}

struct cursor window_read_at(struct window *window, uint64_t at, size_t want)
{
    const struct bytes *bytes = window->bytes;
    if (!bytes || at >= bytes->size)
        return (struct cursor){0};
    if (bytes->memory)
        return cursor_of(bytes->memory + at, (size_t)(bytes->size - at));
    uint64_t left = bytes->size - at;
    if (want > left)
        want = (size_t)left;
    bool inside = at >= window->start && at - window->start < window->length;
    if (!inside || window->length - (at - window->start) < want)
        if (!window_move(window, at, want))
            return (struct cursor){0};
    if (window->length == 0)
        return (struct cursor){0};
    size_t skip = (size_t)(at - window->start);
    return cursor_of(window->buffer + skip, window->length - skip);
}

const char *window_read_string(struct window *window, uint64_t at)
{
    for (size_t want = 256; want <= WINDOW_STRING_MAX; want *= 4) {
        struct cursor c = window_read_at(window, at, want);
        if (cursor_left(&c) > want)
            c.end = c.at + want;
        size_t held = cursor_left(&c);
        const char *text = held ? cursor_string(&c) : NULL;
        if (text || held < want)
            return text;
    }
    return NULL;
}

void window_destroy(struct window *window)
{
    free(window->buffer);
    *window = (struct window){0};
}
