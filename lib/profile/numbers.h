/*
 * Columns of numbers from JSON, in bulk: by the reader as it comes to them, or apart from it, by somebody who got a run
 * of elements that the reader let pass (profile_reader_pass()).
 */
#ifndef PROF_PROFILE_NUMBERS_H
#define PROF_PROFILE_NUMBERS_H

#include "base/json.h"
#include "profile/column.h"

enum { NUMBERS_BATCH = 512 };

/* Appends numbers of the array in which `json` stands, as many as lie whole in its piece and are of the column's type,
 * and NUMBERS_BATCH at most, for which the column has room. Returns how many; after 0 the next element, if there is
 * one, is to be taken with json_next(). */
size_t numbers_take(struct json *json, struct column *column, enum column_type type);

/* Lets numbers pass, in the same way. */
size_t numbers_skip(struct json *json);

/* Makes the column one of the numbers in `text`, a whole JSON array; false if it has anything else in it, or memory ran
 * out. */
bool numbers_read(struct column *column, enum column_type type, const char *text, size_t size);

#endif
