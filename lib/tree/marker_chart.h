/*
 * The marker chart: the row of each marker, and the visible part for a range of time and rows. Rows are sorted by
 * category ("Test" first, "Other" last, the others alphabetically), then by the first occurrence of their name. The
 * instants of a name have a row of their own before the intervals of the name. An interval goes into the first row with
 * room, else into the last of MARKER_MOST_ROWS rows.
 */
#pragma once

#include "tree/marker_list.h"

enum { MARKER_MOST_ROWS = 300 };

struct marker_row {
    uint32_t name, category; /* name: string */
    uint32_t first, count;   /* range of the row's markers in `order` */
    uint32_t row_of_name;    /* number of the row among the rows of its name */
    uint32_t is_of_instants; /* 1, or 0 */
};

struct marker_chart {
    ARRAY(struct marker_row) rows;
    uint32_t *order; /* indexes of markers in the list, row by row, sorted by start */
    double *latest;  /* per marker in `order`: the latest end of this and the earlier markers of the row */
    size_t length;
};

/* Lays out the markers `shown[0..count)` of the list, which are sorted by start. */
int marker_chart_make(struct marker_chart *chart, const struct profile *profile, const struct marker_list *list,
                      const uint32_t *shown, size_t count, struct error *err);
void marker_chart_destroy(struct marker_chart *chart);

struct marker_window {
    double from, to; /* ms */
    double pixel;    /* ms per pixel; markers within the same pixel become one rect */
    uint32_t first_row, last_row;
};

/* Rects in columns, row by row from left to right. The caller zeroes the struct once; later calls reuse its memory. */
struct marker_rects {
    uint32_t *row, *marker; /* index in the list of the rect's first marker */
    uint32_t *count;        /* number of markers, at least 1 */
    double *start, *end;    /* ms; start and end of an instant are equal */
    size_t length, capacity;
};

/* Appends a rect. Returns false if memory ran out. */
bool marker_rects_add(struct marker_rects *rects, uint32_t row, uint32_t marker, uint32_t count, double start,
                      double end);

int marker_chart_list_rects(struct marker_rects *rects, const struct marker_chart *chart,
                            const struct marker_list *list, const struct marker_window *window, struct error *err);
void marker_rects_destroy(struct marker_rects *rects);
