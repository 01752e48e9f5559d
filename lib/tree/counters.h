/*
 * Counters of the timeline: memory, power, bandwidth, whatever a file counts (profile-format: counters). A counter has
 * changes; it is shown as their running sum (memory) or as change per time (power).
 *
 * prof says more of its own counters in `display`, in members that other readers skip:
 *
 *     countUnit         "cpu-ms": counts are CPU time in ms, so that their change per ms is a share of one CPU
 *     startsAtZero      the running sum is what there is (bytes resident), not only how it differs from the first
 *     isHiddenAtFirst   it is shown when it is asked for
 *     isOfSystem        it counts the machine, not the process that it stands below in other readers
 */
#pragma once

#include "profile/profile.h"

struct counter_display {
    bool is_rate;                                          /* false: the running sum */
    double sort_weight;                                    /* the smaller, the higher it stands */
    bool starts_at_zero, is_hidden_at_first, is_of_system; /* see above */
    char unit[32];  /* "bytes", "pWh", "percent", "" ...; "cpu-us", "cpu-ms": CPU time, whose rate is a share */
    char color[16]; /* a name of the format: "grey", "orange" ... */
    char label[128];
};

/* Reads the counter's display from the file, with the defaults of its category. */
void counter_display_of(struct counter_display *display, const struct profile *profile, const struct counter *counter);

/* Computes one value per pixel from `from` to `to` (ms), its maximum: the running sum in the counter's unit, or the
 * change per ms. NAN where the counter was not recorded. The change of the first sample does not count, because the
 * value before is unknown. */
void counter_graph(const struct counter *counter, bool is_rate, double from, double to, float *values, uint32_t width);

struct counter_value {
    double time;        /* ms, of the sample */
    double change;      /* with that sample */
    double rate;        /* per ms, since the sample before; NAN for the first */
    double accumulated; /* the sum up to it */
};

/* The sample that the graph shows at `time`: the last one before it for sums, the next one for rates. False: none. */
bool counter_at(struct counter_value *value, const struct counter *counter, bool is_rate, double time);

struct counter_totals {
    double total;       /* the sum of changes of samples with from < time <= to */
    double least, most; /* per ms: minimum and maximum rate between two samples in the range; NAN: none */
    double covered;     /* ms of the range covered by samples */
    double mean;        /* time-weighted mean of the running sum; NAN: as for low */
    double low, high;   /* minimum and maximum running sum in the range; NAN: no sample covers it */
};

/* `starts_at_zero`: as in struct counter_display; the first sample is then no value. */
void counter_totals_of(struct counter_totals *totals, const struct counter *counter, bool starts_at_zero, double from,
                       double to);

/* A graph of a counter or of markers: the maximum value of each pixel. */
struct pixel_values {
    float *values;   /* of each pixel; NAN: none */
    uint32_t *whose; /* per pixel: owner of its value; may be NULL */
    uint32_t width;
    double from, per_ms; /* ms: the left edge; pixels of a ms */
};

/* Clears all pixels. from < to, ms. */
void pixel_values_start(struct pixel_values *pixels, double from, double to);

/* Raises the pixels that [start, end) touches, or the one that start == end lies in. */
void pixel_values_raise(const struct pixel_values *pixels, double start, double end, double value, uint32_t whose);
