#include "base/shell_quote.h"

bool shell_quote(struct text_buffer *out, const char *text)
{
    bool ok = text_append_z(out, "'");
    for (const char *quote; ok && (quote = strchr(text, '\'')); text = quote + 1)
        ok = text_append(out, text, (size_t)(quote - text)) && text_append_z(out, "'\\''");
    return ok && text_append_all(out, text, "'");
}
