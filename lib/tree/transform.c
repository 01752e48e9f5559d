#include "tree/transform.h"

bool transform_has_path(enum transform_kind kind)
{
    return kind == TRANSFORM_MERGE_CALL_NODE || kind == TRANSFORM_FOCUS_SUBTREE;
}

static bool has_text(enum transform_kind kind)
{
    return kind == TRANSFORM_FILTER_MARKERS || kind == TRANSFORM_MERGE_MATCHING;
}

static bool is_equal(const struct transform *a, const struct transform *b)
{
    if (a->kind != b->kind)
        return false;
    if (has_text(a->kind))
        return a->slowest == b->slowest && a->sides == b->sides && a->text_length == b->text_length &&
               (a->text_length == 0 || memcmp(a->text, b->text, a->text_length) == 0);
    if (!transform_has_path(a->kind))
        return a->index == b->index;
    return a->inverted == b->inverted && a->path_length == b->path_length &&
           (a->path_length == 0 || memcmp(a->path, b->path, a->path_length * sizeof(*a->path)) == 0);
}

/* Copies `size` bytes; *copy is NULL for size 0. False if memory ran out. */
static bool copy_bytes(const void *from, size_t size, void **copy)
{
    *copy = size ? malloc(size) : NULL;
    if (*copy)
        memcpy(*copy, from, size);
    return *copy || size == 0;
}

static void free_copy(struct transform *copy)
{
    free((void *)copy->path);
    free((void *)copy->text);
}

static bool append_copy(struct transform_list *list, const struct transform *item)
{
    struct transform copy = *item;
    void *path = NULL, *text = NULL;
    copy.path_length = transform_has_path(item->kind) ? item->path_length : 0;
    copy.text_length = has_text(item->kind) ? item->text_length : 0;
    bool enough = copy_bytes(item->path, copy.path_length * sizeof(*item->path), &path) &&
                  copy_bytes(item->text, copy.text_length, &text);
    copy.path = path;
    copy.text = text;
    if (enough && array_push(&list->items, copy))
        return true;
    free_copy(&copy);
    return false;
}

int transform_list_replace(struct transform_list *list, size_t kept, const struct transform *items, size_t count,
                           struct error *err)
{
    while (list->items.length > kept)
        free_copy(&list->items.data[--list->items.length]);
    for (size_t i = kept; i < count; i++)
        if (!append_copy(list, &items[i]))
            return error_no_memory(err);
    return 0;
}

size_t transform_list_measure_common(const struct transform_list *list, const struct transform *items, size_t count)
{
    size_t common = 0;
    while (common < count && common < list->items.length && is_equal(&list->items.data[common], &items[common]))
        common++;
    return common;
}

void transform_list_destroy(struct transform_list *list)
{
    while (list->items.length)
        free_copy(&list->items.data[--list->items.length]);
    array_free(&list->items);
}
