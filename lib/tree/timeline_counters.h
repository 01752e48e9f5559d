/*
 * Counters of the timeline: memory, power, bandwidth and others (profile-format: counters). A counter stores changes;
 * the page shows their running sum (memory) or the change per time (power).
 *
 * prof describes its own counters further in `display`, with members that other readers skip:
 *     countUnit         "cpu-ms": counts are CPU time in ms, so the change per ms is a share of one CPU
 *     startsAtZero      the running sum is absolute (resident bytes), not relative to the first sample
 *     isHiddenAtFirst   the page hides the counter until the user selects it
 *     isOfSystem        counts the whole machine, although other readers show it below a process
 */
#pragma once

#include "profile/profile.h"

struct counter_display {
    bool is_rate;                                          /* false for the running sum */
    double sort_weight;                                    /* sort key: smaller values come first */
    bool starts_at_zero, is_hidden_at_first, is_of_system; /* see the list at the top */
    char unit[32];  /* "bytes", "pWh", "percent", "" ...; "cpu-us", "cpu-ms": CPU time, whose rate is a share */
    char color[16]; /* a color name of the format, such as "grey" or "orange" */
    char label[128];
};

/* Reads the counter's display from the file, with the defaults of its category. */
void read_counter_display(struct counter_display *display, const struct profile *profile,
                          const struct counter *counter);

/* Computes the maximum for each pixel from `from` to `to` (ms): of the running sum in the counter's unit, or of the
 * change per ms. NAN outside of the counter's samples. The change of the first sample does not count, because the
 * previous value is unknown. */
void draw_counter_graph(const struct counter *counter, bool is_rate, double from, double to, float *values,
                        uint32_t width);

struct counter_value {
    double time;        /* of the sample, ms */
    double change;      /* stored with the sample */
    double rate;        /* per ms since the previous sample, or NAN for the first */
    double accumulated; /* running sum up to and including this sample */
};

/* Finds the sample that the graph shows at `time`: the previous sample for sums, the next sample for rates. Returns
 * false if no such sample exists. */
bool find_counter_value(struct counter_value *value, const struct counter *counter, bool is_rate, double time);

struct counter_totals {
    double total;       /* the sum of changes of samples with from < time <= to */
    double least, most; /* rate per ms, minimum and maximum between two samples in the range, or NAN for none */
    double covered;     /* ms of the range that samples cover */
    double mean;        /* time-weighted mean of the running sum, or NAN if no sample covers the range */
    double low, high;   /* minimum and maximum running sum in the range, or NAN if no sample covers the range */
};

/* Computes the totals. If `starts_at_zero` is set (see struct counter_display), the first sample is no value. */
void sum_counter(struct counter_totals *totals, const struct counter *counter, bool starts_at_zero, double from,
                 double to);

/* A graph of a counter or of markers: the maximum value of each pixel. */
struct pixel_values {
    float *values;   /* per pixel, or NAN for no value */
    uint32_t *whose; /* for each pixel, index of the counter or marker with the value; may be NULL */
    uint32_t width;
    double from, per_ms; /* from: ms at the left edge; per_ms: pixels per ms */
};

/* Clears all pixels. `from` < `to`, in ms. */
void pixel_values_start(struct pixel_values *pixels, double from, double to);

/* Raises the pixels that [start, end) touches; if start == end, the pixel that contains `start`. */
void pixel_values_raise(const struct pixel_values *pixels, double start, double end, double value, uint32_t whose);
