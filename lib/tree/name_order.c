/*
 * Sorts names by their first six letters as one number, names with equal letters by the next six, and so on. The sort
 * reads each letter once, even of long common prefixes, and does not recurse, because names are untrusted.
 */
#include "tree/name_order.h"

#include "tree/order.h"

enum { LETTERS = 6, LETTER_VALUES = 257 }; /* 256 byte values, and 0 for the end of a name */

struct name_group {
    size_t first, length; /* range of names with a common prefix */
    size_t letters;       /* length of the common prefix of the names, in letters */
};

ARRAY_TYPE(struct name_groups, struct name_group);

struct name_sort {
    const struct profile *profile;
    struct order_entry *entries; /* the funcs */
    struct name_groups groups;   /* unsorted groups */
};

static uint32_t get_func_name(const struct profile *profile, uint32_t func)
{
    size_t funcs = profile->funcs.length;
    return func < funcs ? profile->funcs.name[func] : profile->resources.data[func - funcs].name;
}

static uint64_t make_prefix_key(const struct profile *profile, uint32_t func, size_t from)
{
    uint32_t name = get_func_name(profile, func);
    const struct string_entry *entry = name == PROFILE_NONE ? NULL : &profile->strings.entries.data[name];
    uint64_t number = 0;
    for (size_t at = from; at < from + LETTERS; at++)
        number = number * LETTER_VALUES + (entry && at < entry->length ? (unsigned char)entry->text[at] + 1U : 0);
    return number;
}

static int sort_group(struct name_sort *sort, struct name_group group, struct error *err)
{
    const double most = (double)(UINT64_C(1) << 53); /* above every key, and exact as a double */
    struct order_entry *entries = sort->entries + group.first;
    for (size_t i = 0; i < group.length; i++)
        entries[i].magnitude = most - (double)make_prefix_key(sort->profile, entries[i].index, group.letters);
    int code = order_sort_heaviest_first(entries, group.length, err);
    for (size_t i = 0, last; !code && i < group.length; i = last) {
        for (last = i + 1; last < group.length && entries[last].magnitude == entries[i].magnitude;)
            last++;
        bool has_ended = (uint64_t)(most - entries[i].magnitude) % LETTER_VALUES == 0;
        struct name_group rest = {group.first + i, last - i, group.letters + LETTERS};
        if (last - i > 1 && !has_ended && !array_push(&sort->groups, rest))
            code = error_no_memory(err);
    }
    return code;
}

int rank_funcs_by_name(const struct profile *profile, uint32_t **ranks, struct error *err)
{
    size_t count = profile->funcs.length + profile->resources.length;
    struct name_sort sort = {.profile = profile, .entries = malloc((count + 1) * sizeof(*sort.entries))};
    *ranks = malloc((count + 1) * sizeof(**ranks));
    int code = 0;
    if (!sort.entries || !*ranks || !array_push(&sort.groups, (struct name_group){0, count, 0}))
        code = error_no_memory(err);
    for (uint32_t func = 0; !code && func < count; func++)
        sort.entries[func].index = func;
    while (!code && sort.groups.length)
        code = sort_group(&sort, sort.groups.data[--sort.groups.length], err);
    for (uint32_t rank = 0; !code && rank < count; rank++)
        (*ranks)[sort.entries[rank].index] = rank;
    free(sort.entries);
    array_free(&sort.groups);
    if (code) {
        free(*ranks);
        *ranks = NULL;
    }
    return code;
}
