#include "base/strings.h"

static uint32_t find_in_chain(const struct strings *table, uint32_t first, const char *text, size_t length)
{
    for (uint32_t i = first; i != STRING_NONE; i = table->entries.data[i].next)
        if (table->entries.data[i].length == length && memcmp(table->entries.data[i].text, text, length) == 0)
            return i;
    return STRING_NONE;
}

uint32_t strings_find(const struct strings *table, const char *text, size_t length)
{
    return find_in_chain(table, hash_get(&table->index, hash_bytes(text, length)), text, length);
}

/* Appends a text, but does not add it to the index. */
static uint32_t append_string(struct strings *table, const char *text, size_t length, uint32_t next)
{
    if (length >= UINT32_MAX || table->entries.length >= STRING_NONE - 1 || !array_reserve(&table->entries, 1))
        return STRING_NONE;
    char *copy = arena_copy(&table->arena, text, length);
    if (!copy)
        return STRING_NONE;
    table->entries.data[table->entries.length] =
        (struct string_entry){.text = copy, .length = (uint32_t)length, .next = next};
    return (uint32_t)table->entries.length++;
}

uint32_t strings_add(struct strings *table, const char *text, size_t length)
{
    uint64_t hash = hash_bytes(text, length);
    uint32_t first = hash_get(&table->index, hash);
    uint32_t found = find_in_chain(table, first, text, length);
    if (found != STRING_NONE)
        return found;
    uint32_t index = append_string(table, text, length, first);
    if (index == STRING_NONE || hash_set(&table->index, hash, index))
        return index;
    table->entries.length--;
    return STRING_NONE;
}

uint32_t strings_append(struct strings *table, const char *text, size_t length)
{
    return append_string(table, text, length, STRING_NONE);
}

uint32_t strings_add_z(struct strings *table, const char *text)
{
    return strings_add(table, text, strlen(text));
}

void strings_destroy(struct strings *table)
{
    array_free(&table->entries);
    hash_destroy(&table->index);
    arena_destroy(&table->arena);
}
