/*
 * Columns of numbers from JSON, in bulk: by the reader as it comes to them, or apart from it, by somebody who got a run
 * of elements that the reader deferred (profile_reader_defer()).
 */
#pragma once

#include "base/json.h"
#include "profile/column.h"

enum { NUMBERS_BATCH = 512 };

/* Appends numbers of the array in which `json` stands, as many as lie whole in its piece and are of the column's type,
 * and NUMBERS_BATCH at most, for which the column has room. Returns how many; after 0 the next element, if there is
 * one, is to be taken with json_next(). */
size_t numbers_take(struct json *json, struct column *column, enum column_type type);

/* Lets numbers pass, in the same way. */
size_t numbers_skip(struct json *json);

/* Columns to read numbers into again and again: one for each type, because the room of a column is that of its type. */
struct number_columns {
    struct column of_type[COLUMN_DOUBLE + 1];
};

void number_columns_destroy(struct number_columns *columns);

/* The numbers in `text`, a whole JSON array, as a column of that type, which is good until the next of that type is
 * read; NULL if it has anything else in it, if the type is not one of numbers, or if memory ran out. */
const struct column *numbers_read(struct number_columns *columns, enum column_type type, const char *text, size_t size);
