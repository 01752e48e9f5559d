/*
 * What a graph draws: of each pixel the largest value that lies in it, for counters and markers.
 */
#ifndef PROF_TREE_PIXEL_VALUES_H
#define PROF_TREE_PIXEL_VALUES_H

#include <stdint.h>

struct pixel_values {
    float *values;   /* of each pixel; NAN: none */
    uint32_t *whose; /* of each pixel: what its value belongs to; NULL if nobody asks */
    uint32_t width;
    double from, per_ms; /* ms: the left edge; pixels of a ms */
};

/* Makes all pixels empty. from < to, ms. */
void pixel_values_start(struct pixel_values *pixels, double from, double to);

/* Raises the pixels that [start, end) touches, or the one that start == end lies in. */
void pixel_values_raise(const struct pixel_values *pixels, double start, double end, double value, uint32_t whose);

#endif
