#include "base/error.h"

#include <stdarg.h>

#undef error_set /* the macro is for clang's analyzer only */
#undef error_no_memory

int error_set(struct error *err, int code, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof(err->text), format, args);
        va_end(args);
    }
    return -code;
}

int error_no_memory(struct error *err)
{
    return error_set(err, ENOMEM, "out of memory");
}

int error_prefix(struct error *err, int code, const char *format, ...)
{
    if (err) {
        char old[sizeof(err->text)];
        memcpy(old, err->text, sizeof(old));
        va_list args;
        va_start(args, format);
        int used = vsnprintf(err->text, sizeof(err->text), format, args);
        va_end(args);
        if (used >= 0 && (size_t)used + 2 < sizeof(err->text)) {
            size_t room = sizeof(err->text) - (size_t)used - 3;
            const char *end = memchr(old, '\0', room);
            size_t length = end ? (size_t)(end - old) : room;
            memcpy(err->text + used, ": ", 2);
            memcpy(err->text + used + 2, old, length);
            err->text[(size_t)used + 2 + length] = '\0';
        }
    }
    return code;
}
