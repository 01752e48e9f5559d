/*
 * A table of distinct strings. The indexes of strings are 0, 1, 2 ... in order of first appearance. Two strings are
 * equal if and only if their indexes are equal.
 */
#pragma once

#include "base/arena.h"
#include "base/array.h"
#include "base/hash.h"

#define STRING_NONE UINT32_MAX

struct string_entry {
    const char *text; /* NUL-terminated, owned by the table */
    uint32_t length;  /* bytes without the NUL */
    uint32_t next;    /* next entry with the same hash, or STRING_NONE */
};

struct strings {
    ARRAY(struct string_entry) entries;
    struct hash index; /* hash of the text -> first entry with that hash */
    struct arena arena;
};

/* Returns the index of a text, and adds a copy of a new text. STRING_NONE if memory ran out. */
uint32_t strings_add(struct strings *table, const char *text, size_t length);
uint32_t strings_add_z(struct strings *table, const char *text);

/* Adds a text without a search for an equal text; strings_add() and strings_find() will not find it. For callers with
 * their own search. */
uint32_t strings_append(struct strings *table, const char *text, size_t length);

/* Returns the index of a text, or STRING_NONE if the text is not in the table. */
uint32_t strings_find(const struct strings *table, const char *text, size_t length);

static inline const char *strings_text(const struct strings *table, uint32_t index)
{
    return table->entries.data[index].text;
}

void strings_destroy(struct strings *table);
