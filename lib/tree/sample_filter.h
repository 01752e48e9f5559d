/*
 * The samples that transforms by markers leave: those taken while a marker lasted. The sample tables stay as long as
 * before; a dropped sample has no stack. So code that reads samples needs no special case.
 */
#pragma once

#include "tree/transform.h"
#include "tree/weights.h"

struct sample_filter {
    struct transform_list transforms; /* TRANSFORM_FILTER_MARKERS alone; a sample has to pass all of them */
    ARRAY(uint32_t) threads;          /* whose markers they look at */
    /* Per thread of the profile and kind of table, with stacks of their own; NULL: nothing is dropped. */
    struct sample_table (*samples)[SAMPLE_TABLES];
    size_t thread_count;
};

/* What a filter is made of. */
struct filter_request {
    const struct transform *transforms; /* TRANSFORM_FILTER_MARKERS alone */
    size_t transform_count;
    const uint32_t *threads; /* indexes out of range have no markers */
    size_t thread_count;
    struct time_range whole; /* the full range */
};

/* Does nothing if the filter is that already; else *changed is set, also if it fails: then nothing is dropped. Linear
 * in the samples of the profile. Zero the filter to start. */
int sample_filter_update(struct sample_filter *filter, const struct profile *profile,
                         const struct filter_request *request, bool *changed, struct error *err);

/* The samples of a thread that are left. */
const struct sample_table *sample_filter_samples(const struct sample_filter *filter, const struct profile *profile,
                                                 uint32_t thread);

void sample_filter_destroy(struct sample_filter *filter);
