/*
 * Statistics of the intervals that a program marks, by name: percentiles of the lengths, a histogram, and the time in
 * each state of the thread that set the mark. The states are running, waiting by reason, and the rest. The rest is
 * waits too short for a row of their own, and time of threads without recorded waits.
 */
#pragma once

#include "tree/marker_list.h"

enum { INTERVAL_BUCKETS = 48, INTERVAL_FIRST_OCTAVE = -20 };

struct interval_stats {
    uint32_t name; /* string */
    uint32_t count;
    double p50, p90, p99, longest, total; /* ms */
    double from;                          /* ms: start of the longest interval */
    uint32_t thread;                      /* thread of the longest interval */
    double running, rest;                 /* ms of `total` */
    /* Bucket i counts intervals of 2^(i + INTERVAL_FIRST_OCTAVE) ms up to twice this length. The first bucket also
     * counts shorter intervals, and the last bucket longer intervals. */
    uint32_t histogram[INTERVAL_BUCKETS];
};

/* Starts zeroed. */
struct interval_list {
    ARRAY(struct interval_stats) names; /* longest total first */
    size_t reasons;                     /* subcategories of "Idle" */
    ARRAY(double) waits;                /* [name * reasons + reason]: ms */
};

/* Sums the intervals among the markers `shown` (indexes of `markers`); instants do not count. Takes time linear in the
 * samples during the intervals. */
int interval_list_fill(struct interval_list *list, const struct profile *profile, const struct marker_list *markers,
                       const uint32_t *shown, size_t count, struct error *err);

/* Returns the ms of each reason for a name, list->reasons numbers. */
static inline const double *get_interval_waits(const struct interval_list *list, size_t name)
{
    return list->waits.data + name * list->reasons;
}

/* Returns the shortest interval that belongs to the slowest `share` (0 to 1) of the markers, ms; INFINITY if none is an
 * interval. NAN if memory ran out. */
double find_slowest_interval_limit(const struct marker_list *markers, const uint32_t *shown, size_t count,
                                   double share);

void interval_list_destroy(struct interval_list *list);
