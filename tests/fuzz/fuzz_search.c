/*
 * Any bytes as a search for any name: the first line is the search, the other lines the name. A name matches itself in
 * quotes, whatever its bytes.
 */
#include "tree/search_filter.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static bool finds(const struct profile *profile, const char *text, size_t length)
{
    struct search search;
    struct error err;
    char *copy = malloc(length ? length : 1); /* alone, so that a sanitizer sees reads beyond it */
    if (!copy)
        abort();
    if (length)
        memcpy(copy, text, length);
    if (search_init(&search, profile, copy, length, &err))
        abort();
    bool found = search.func_mask[0] != 0;
    search_destroy(&search);
    free(copy);
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *text = (const char *)bytes;
    const char *line = size ? memchr(bytes, '\n', size) : NULL;
    if (!line)
        return 0;
    const char *name = line + 1;
    size_t length = size - (size_t)(name - text);
    struct profile profile;
    profile_init(&profile);
    profile_add_func(&profile, strings_add(&profile.strings, name, length), PROFILE_NONE);
    finds(&profile, text, (size_t)(line - text));
    if (length && !memchr(name, '"', length)) {
        char *quoted = malloc(length + 2);
        if (!quoted)
            abort();
        quoted[0] = quoted[length + 1] = '"';
        memcpy(quoted + 1, name, length);
        if (!finds(&profile, quoted, length + 2))
            abort();
        free(quoted);
    }
    profile_destroy(&profile);
    return 0;
}
