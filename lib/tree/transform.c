#include "tree/transform.h"

#include <stdlib.h>
#include <string.h>

bool transform_has_path(enum transform_kind kind)
{
    return kind == TRANSFORM_MERGE_CALL_NODE || kind == TRANSFORM_FOCUS_SUBTREE;
}

bool transform_equal(const struct transform *a, const struct transform *b)
{
    if (a->kind != b->kind)
        return false;
    if (!transform_has_path(a->kind))
        return a->index == b->index;
    return a->inverted == b->inverted && a->path_length == b->path_length &&
           (a->path_length == 0 || memcmp(a->path, b->path, a->path_length * sizeof(*a->path)) == 0);
}

static bool list_append(struct transform_list *list, const struct transform *item)
{
    struct transform copy = *item;
    copy.path = NULL;
    copy.path_length = transform_has_path(item->kind) ? item->path_length : 0;
    if (copy.path_length) {
        uint32_t *path = malloc(copy.path_length * sizeof(*path));
        if (!path)
            return false;
        memcpy(path, item->path, copy.path_length * sizeof(*path));
        copy.path = path;
    }
    if (array_push(&list->items, copy))
        return true;
    free((void *)copy.path);
    return false;
}

int transform_list_replace(struct transform_list *list, size_t kept, const struct transform *items, size_t count,
                           struct error *err)
{
    while (list->items.length > kept)
        free((void *)list->items.data[--list->items.length].path);
    for (size_t i = kept; i < count; i++)
        if (!list_append(list, &items[i]))
            return error_no_memory(err);
    return 0;
}

size_t transform_list_common(const struct transform_list *list, const struct transform *items, size_t count)
{
    size_t common = 0;
    while (common < count && common < list->items.length && transform_equal(&list->items.data[common], &items[common]))
        common++;
    return common;
}

void transform_list_destroy(struct transform_list *list)
{
    while (list->items.length)
        free((void *)list->items.data[--list->items.length].path);
    array_free(&list->items);
}
