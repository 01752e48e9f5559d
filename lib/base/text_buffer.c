#include "base/text_buffer.h"

bool text_append(struct text_buffer *out, const char *text, size_t length)
{
    if (!array_reserve(out, length + 1))
        return false;
    if (length)
        memcpy(out->data + out->length, text, length);
    out->length += length;
    return true;
}

bool text_append_z(struct text_buffer *out, const char *text)
{
    return text_append(out, text, strlen(text));
}

bool text_append_list(struct text_buffer *out, const char *const *texts)
{
    for (; *texts; texts++)
        if (!text_append_z(out, *texts))
            return false;
    return true;
}

static int write_text(void *context, const void *bytes, size_t size, struct error *err)
{
    return text_append(context, bytes, size) ? 0 : error_no_memory(err);
}

struct byte_sink text_sink(struct text_buffer *text)
{
    return (struct byte_sink){.write = write_text, .context = text};
}
