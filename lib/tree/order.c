#include "tree/order.h"

enum { RUN = 16 }; /* length of the runs that insertion sort makes before merging */

static void sort_run(struct order_entry *entries, size_t length)
{
    for (size_t i = 1; i < length; i++) {
        struct order_entry entry = entries[i];
        size_t at = i;
        for (; at > 0 && entries[at - 1].magnitude < entry.magnitude; at--)
            entries[at] = entries[at - 1];
        entries[at] = entry;
    }
}

static void merge_runs(const struct order_entry *from, size_t middle, size_t length, struct order_entry *to)
{
    size_t left = 0, right = middle;
    for (size_t i = 0; i < length; i++) {
        bool take_right = left == middle || (right < length && from[right].magnitude > from[left].magnitude);
        to[i] = from[take_right ? right++ : left++];
    }
}

static bool is_sorted(const struct order_entry *entries, size_t length)
{
    for (size_t i = 1; i < length; i++)
        if (entries[i].magnitude > entries[i - 1].magnitude)
            return false;
    return true;
}

int order_sort_heaviest_first(struct order_entry *entries, size_t length, struct error *err)
{
    if (is_sorted(entries, length))
        return 0;
    for (size_t i = 0; i < length; i += RUN)
        sort_run(entries + i, length - i < RUN ? length - i : RUN);
    if (length <= RUN)
        return 0;
    struct order_entry *scratch = malloc(length * sizeof(*scratch));
    if (!scratch)
        return error_no_memory(err);
    struct order_entry *from = entries, *to = scratch;
    for (size_t width = RUN; width < length; width *= 2) {
        for (size_t i = 0; i < length; i += 2 * width) {
            size_t left = length - i;
            merge_runs(from + i, left < width ? left : width, left < 2 * width ? left : 2 * width, to + i);
        }
        struct order_entry *swap = from;
        from = to;
        to = swap;
    }
    if (from != entries)
        memcpy(entries, from, length * sizeof(*entries));
    free(scratch);
    return 0;
}

int order_apply_to_rows(void *rows, size_t size, const struct order_entry *entries, size_t length, struct error *err)
{
    char *moved = malloc(length * size + 1);
    if (!moved)
        return error_no_memory(err);
    for (size_t i = 0; i < length; i++)
        memcpy(moved + i * size, (const char *)rows + entries[i].index * size, size);
    if (length)
        memcpy(rows, moved, length * size);
    free(moved);
    return 0;
}

int order_sort_rows(void *rows, size_t size, size_t length, order_magnitude_of *magnitude_of, struct error *err)
{
    struct order_entry *entries = malloc((length + 1) * sizeof(*entries));
    if (!entries)
        return error_no_memory(err);
    for (size_t i = 0; i < length; i++)
        entries[i] = (struct order_entry){magnitude_of((const char *)rows + i * size), (uint32_t)i};
    int code = order_sort_heaviest_first(entries, length, err);
    if (!code)
        code = order_apply_to_rows(rows, size, entries, length, err);
    free(entries);
    return code;
}

int order_sort_numbers(uint32_t *numbers, size_t length, order_is_turned *is_turned, const void *context,
                       struct error *err)
{
    uint32_t *scratch = malloc((length + 1) * sizeof(*scratch)), *from = numbers, *to = scratch;
    if (!scratch)
        return error_no_memory(err);
    for (size_t width = 1; width < length; width *= 2) {
        for (size_t begin = 0; begin < length; begin += 2 * width) {
            size_t left = begin, middle = begin + width < length ? begin + width : length;
            size_t right = middle, end = begin + 2 * width < length ? begin + 2 * width : length;
            for (size_t i = begin; i < end; i++) {
                bool take_right = left == middle || (right < end && is_turned(context, from[left], from[right]));
                to[i] = from[take_right ? right++ : left++];
            }
        }
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != numbers)
        memcpy(numbers, from, length * sizeof(*numbers));
    free(scratch);
    return 0;
}
