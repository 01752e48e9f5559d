/*
 * A table of distinct strings. The index of a string is 0, 1, 2 ... in order of first appearance. Two strings are equal
 * if and only if their indexes are.
 */
#pragma once

#include "base/arena.h"
#include "base/array.h"
#include "base/hash.h"

#include <stdint.h>

#define STRING_NONE UINT32_MAX

struct string_entry {
    const char *text; /* NUL-terminated, owned by the table */
    uint32_t length;  /* bytes without the NUL */
    uint32_t next;    /* the next entry of the same hash, or STRING_NONE */
};

struct strings {
    ARRAY(struct string_entry) entries;
    struct hash index; /* hash of the text -> first entry with that hash */
    struct arena arena;
};

/* The index of this text; adds a copy if it is new. STRING_NONE if memory ran out. */
uint32_t strings_add(struct strings *table, const char *text, size_t length);
uint32_t strings_add_z(struct strings *table, const char *text);

/* Adds a text without searching for an equal one, and without letting strings_add() find it: for texts that are
 * searched elsewhere. */
uint32_t strings_append(struct strings *table, const char *text, size_t length);

/* The index of this text, or STRING_NONE if it is not in the table. */
uint32_t strings_find(const struct strings *table, const char *text, size_t length);

static inline const char *strings_text(const struct strings *table, uint32_t index)
{
    return table->entries.data[index].text;
}

void strings_destroy(struct strings *table);
