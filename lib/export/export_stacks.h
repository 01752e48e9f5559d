/*
 * The stacks of a query as locations and samples, as pprof and OTLP have them. A location is one address with all calls
 * inlined there. A sample is a list of locations with a sum per weight.
 */
#pragma once

#include "base/hash.h"
#include "export/exporters.h"

#define LOCATION_NONE UINT32_MAX

/* One call of a location. `outer` is the function into which it was inlined. */
struct export_location {
    uint32_t outer; /* the location without the innermost inlined call, or LOCATION_NONE (a physical frame) */
    uint32_t func;
    uint32_t frame; /* frame of the profile, with address and line; PROFILE_NONE where a transform made the func */
    uint32_t next;  /* next location of the same hash, or LOCATION_NONE at the end */
};

struct export_stacks {
    ARRAY(struct export_location) locations;
    uint32_t *location; /* for each stack of the view, its location */
    uint32_t *caller;   /* for each stack, the caller of its physical frame, or PROFILE_NONE for none */
    struct hash index;
    const struct stack_view *view;
    const struct profile *profile;
};

/* Makes the locations of all stacks. The caller zeroes the struct, and calls export_stacks_destroy() also after a
 * failure. */
int export_stacks_init(struct export_stacks *stacks, const struct engine *engine, struct error *err);
void export_stacks_destroy(struct export_stacks *stacks);

/* The sums per stack of one thread. */
struct export_sums {
    ARRAY(uint32_t) stacks; /* stacks with weight, in the order of their first samples */
    ARRAY(double) values;   /* all weights of each stack in `stacks`: ms, bytes or counts */
    uint32_t *row;          /* for each stack of the view, its index in `stacks`, or PROFILE_NONE for none */
    size_t row_count;
};

/* The caller zeroes the struct once; later calls reuse its memory. */
int export_sums_fill(struct export_sums *sums, const struct export_view *view, uint32_t thread,
                     const struct weight_list *weights, struct error *err);
void export_sums_destroy(struct export_sums *sums);
