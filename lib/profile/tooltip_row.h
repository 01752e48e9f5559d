/*
 * Rows of a counter's tooltip, which readers show at a point of its graph.
 */
#pragma once

#include "base/json_write.h"

#include <stdbool.h>

/* An array of rows ends with one without a source. */
struct tooltip_row {
    const char *source, *unit;
    const char *label;  /* NULL: the counter's name */
    const char *scale;  /* of energy, "power" or "energy"; else NULL */
    bool needs_preview; /* shown only where a range is selected */
};

/* Opens the object of a row, and writes its type, source and format. The caller writes the other members and closes
 * it. */
void tooltip_row_open(struct json_writer *json, const struct tooltip_row *row);
