#include "serve/source_map.h"

static size_t measure_without_slashes(const char *text)
{
    size_t length = strlen(text);
    while (length && text[length - 1] == '/')
        length--;
    return length;
}

/* Returns the rest of the path after the directory `from`, with its slash, or NULL if the path is not below `from`. */
static const char *skip_directory(const char *path, const char *from)
{
    size_t length = measure_without_slashes(from);
    if (strncmp(path, from, length) != 0 || (path[length] != '/' && path[length] != '\0'))
        return NULL;
    return path + length;
}

char *source_map_apply(const struct source_map *maps, size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++) {
        const char *tail = skip_directory(path, maps[i].from);
        char *out;
        if (tail)
            return asprintf(&out, "%.*s%s", (int)measure_without_slashes(maps[i].to), maps[i].to, tail) < 0 ? NULL
                                                                                                            : out;
    }
    return strdup(path);
}
