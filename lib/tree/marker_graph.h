/*
 * Graphs of markers. A marker schema can list payload fields whose numbers the page draws over time (profile-format:
 * `graphs` of a schema). The graph is a line, or has a bar for each marker, as wide as the duration of the marker.
 */
#pragma once

#include "tree/marker_text.h"

struct marker_point {
    double start, end; /* ms: start and end of the marker */
    double value;
    uint32_t marker; /* index of the marker in the list */
};

ARRAY_TYPE(struct marker_points, struct marker_point);

/* Appends the markers of a kind that have a number in the field `key`, sorted by start. */
int marker_points_read(struct marker_points *points, const struct marker_context *context,
                       const struct marker_list *list, uint32_t schema, const char *key, struct error *err);

/* Writes the largest value for each pixel from `from` to `to` (ms), and its marker (UINT32_MAX: none). A bar lasts as
 * long as its marker; a line keeps its value until the next marker begins. */
void draw_marker_graph(const struct marker_points *points, bool is_bar, double from, double to, float *values,
                       uint32_t *markers, uint32_t width);
