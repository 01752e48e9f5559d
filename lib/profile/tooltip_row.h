/*
 * Rows of a counter's tooltip, which readers show at a point of the graph.
 */
#pragma once

#include "base/json_write.h"

/* An array of rows ends with a row without a source. */
struct tooltip_row {
    const char *source, *unit;
    const char *label;  /* if NULL, the counter's name */
    const char *scale;  /* "power" or "energy" for counters of energy; else NULL */
    bool needs_preview; /* shown only if a range is selected */
};

/* Opens the object of a row, and writes its type, source and format. The caller writes the other members and closes the
 * object. */
void tooltip_row_open(struct json_writer *json, const struct tooltip_row *row);
