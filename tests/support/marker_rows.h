/*
 * Markers of a thread, for tests and measurements.
 */
#pragma once

#include "profile/profile.h"

#include <stdlib.h>

/* Gives an empty table `length` rows, all zero. False if memory ran out. */
static inline bool marker_rows_make(struct marker_table *markers, size_t length)
{
    size_t rows = length ? length : 1; /* no rows may be NULL */
    markers->name = calloc(rows, sizeof(*markers->name));
    markers->start = calloc(rows, sizeof(*markers->start));
    markers->end = calloc(rows, sizeof(*markers->end));
    markers->phase = calloc(rows, sizeof(*markers->phase));
    markers->category = calloc(rows, sizeof(*markers->category));
    markers->data = calloc(rows, sizeof(*markers->data));
    markers->length = length;
    return markers->name && markers->start && markers->end && markers->phase && markers->category && markers->data;
}
