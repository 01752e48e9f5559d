/*
 * Columns of numbers from JSON, in bulk: read by the reader itself, or by another thread for runs that the reader
 * deferred (profile_reader_defer()).
 */
#pragma once

#include "base/json.h"
#include "profile/column.h"

enum { NUMBERS_BATCH = 512 };

/* Appends the numbers at the position of `json` in an array: those that lie whole in its piece and fit the column's
 * type, at most NUMBERS_BATCH. The column must have room. Returns their number; after 0, take the next element, if
 * any, with json_next(). */
size_t numbers_take(struct json *json, struct column *column, enum column_type type);

/* Skips numbers, in the same way. */
size_t numbers_skip(struct json *json);

/* Reusable columns for numbers, one per type, because a column's buffer depends on its type. */
struct number_columns {
    struct column of_type[COLUMN_DOUBLE + 1];
};

void number_columns_destroy(struct number_columns *columns);

/* Reads `text`, a whole JSON array, as a column of that type; valid until the next call with the same type. Returns
 * NULL if the array contains anything else, if the type is not numeric, or if memory runs out. */
const struct column *numbers_read(struct number_columns *columns, enum column_type type, const char *text, size_t size);
