/*
 * A column of a profile file, as an array of the type that the format requires (listed in raw.c). Numbers arrive as
 * doubles, as in JSON.
 */
#pragma once

#include "base/standard.h"

enum column_type {
    COLUMN_INDEX,    /* uint32_t; null and -1 are PROFILE_NONE */
    COLUMN_POSITION, /* uint32_t; null is 0 */
    COLUMN_ADDRESS,  /* int64_t; null is -1 */
    COLUMN_SMALL,    /* uint8_t; null is 0, more than 255 is 255 */
    COLUMN_DOUBLE,   /* double; null is NAN */
    COLUMN_FLAG,     /* uint8_t: true is 1 */
    COLUMN_REF,  /* uint32_t: index into the file's string table, or a text with RAW_TEXT set; null is PROFILE_NONE */
    COLUMN_TEXT, /* uint32_t: texts; values that are no text become "" */
    COLUMN_JSON, /* uint32_t: the JSON text of each element; null is PROFILE_NONE */
};

#define RAW_TEXT UINT32_C(0x80000000)

struct column {
    void *data; /* elements; the field list has their type */
    size_t length, capacity;
    bool present;
};

size_t column_get_element_size(enum column_type type);

/* Reserves room for `extra` more elements; returns false if memory runs out. */
bool column_reserve(struct column *column, enum column_type type, size_t extra);

/* Appends numbers (NAN: null) to a column with enough room. Returns the number of appended numbers, which is less than
 * `count` if the next number does not fit the column's type. */
size_t column_append(struct column *column, enum column_type type, const double *values, size_t count);
