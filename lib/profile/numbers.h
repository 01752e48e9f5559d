/*
 * Reads columns of numbers from JSON in bulk: in the reader itself, or in another thread for deferred runs
 * (profile_reader_defer_numbers()).
 */
#pragma once

#include "base/json.h"
#include "profile/column.h"

enum { NUMBERS_BATCH = 512 };

/* Appends the numbers at the position of `json` in an array: at most NUMBERS_BATCH complete numbers of the piece, which
 * fit the column's type. The column must have room. Returns the number of appended numbers. After 0, read the next
 * element, if any, with json_next(). */
size_t numbers_take(struct json *json, struct column *column, enum column_type type);

/* Skips numbers as numbers_take() appends them. */
size_t numbers_skip(struct json *json);

/* Reusable columns for numbers, one per type, because a column's buffer depends on its type. */
struct number_columns {
    struct column of_type[COLUMN_DOUBLE + 1];
};

void number_columns_destroy(struct number_columns *columns);

/* Reads `text`, a whole JSON array, as a column of `type`; the column is valid until the next call with this type.
 * Returns NULL if the array contains anything else, if the type is not numeric, or if memory runs out. */
const struct column *numbers_read(struct number_columns *columns, enum column_type type, const char *text, size_t size);
