/*
 * Applies marker transforms: keeps the samples taken during a marker. If a transform selects the slowest markers, a
 * thread keeps only the samples during its own markers, as in interval_stats.h. The sample tables keep their length; a
 * dropped sample has no stack. So code that reads samples treats dropped samples as samples without a stack.
 */
#pragma once

#include "tree/transform.h"
#include "tree/weights.h"

/* Ascending, disjoint times of intervals of one thread. */
struct interval_times {
    ARRAY(struct time_range) ranges;
    size_t first; /* number of the thread's first interval among the intervals of its side */
};

struct sample_filter {
    struct transform_list transforms; /* transforms of kind TRANSFORM_FILTER_MARKERS; a sample must pass all of them */
    ARRAY(uint32_t) threads;          /* threads whose markers the transforms search */
    struct time_range range;          /* ms: the transforms select the slowest among the intervals of this range */
    /* Per thread of the profile and kind of table: samples with a stack column of their own, or NULL (nothing is
     * dropped). */
    struct sample_table (*samples)[SAMPLE_TABLES];
    size_t thread_count;
    /* `times` has the disjoint times of the intervals of each thread for the first transform that selects the slowest
     * intervals, or for the first of each side, or is NULL. For transforms with other sides than FILTER_BOTH_SIDES,
     * the other members have the numbers of the intervals and of their disjoint times on each side. Otherwise these
     * members are 0. */
    size_t intervals[PROFILE_SIDES], times_of_side[PROFILE_SIDES];
    struct interval_times *times;
};

/* Parameters of a filter. */
struct filter_request {
    const struct transform *transforms; /* only transforms of kind TRANSFORM_FILTER_MARKERS */
    size_t transform_count;
    const uint32_t *threads; /* thread indexes out of range have no markers */
    size_t thread_count;
    struct time_range whole; /* the full range */
    struct time_range range; /* prof chooses the slowest intervals among the intervals in this range */
};

/* Does nothing if the filter is up to date; otherwise sets *changed. A failure also sets *changed, and drops no
 * samples. Takes time linear in the number of samples. The filter starts zeroed. */
int sample_filter_update(struct sample_filter *filter, const struct profile *profile,
                         const struct filter_request *request, bool *changed, struct error *err);

/* Returns the remaining samples of a thread. */
const struct sample_table *sample_filter_get_samples(const struct sample_filter *filter, const struct profile *profile,
                                                     uint32_t thread);

/* Returns the number of the interval that contains a sample of a thread, among those of the thread's side. Needs
 * `times`, and a sample that the filter keeps. */
size_t sample_filter_get_interval(const struct sample_filter *filter, uint32_t thread, double time);

void sample_filter_destroy(struct sample_filter *filter);
