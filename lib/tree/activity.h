/*
 * The activity graph of the timeline: CPU share of threads per pixel and category, and the sample at a position.
 */
#pragma once

#include "tree/call_nodes.h"
#include "tree/weights.h"

struct activity_request {
    const struct sample_table *const *samples; /* one per thread: their shares add up */
    const struct wait_rows *waits;             /* of each thread */
    size_t thread_count;
    double interval;  /* ms: extent of the first sample backward and of the last one forward */
    double from, to;  /* ms: the left edge of the first and the right edge of the last pixel */
    uint32_t width;   /* pixels */
    bool is_filtered; /* samples without a stack do not count */
    const uint8_t
        *matching[2]; /* per node: 0 excludes its samples; NULL: all count. A sample counts if both include it */
};

/* State of a pixel in the strip of single samples. */
enum strip_pixel {
    STRIP_EMPTY,
    STRIP_IDLE,   /* only waits, and samples without a stack or without CPU time */
    STRIP_SAMPLE, /* an active sample */
};

struct activity {
    float *shares;        /* category-major: shares[row * width + x], CPUs; owned */
    uint32_t *categories; /* the category of each row, ascending; owned */
    uint8_t *strip;       /* enum strip_pixel of each pixel: the samples that count; owned */
    uint32_t row_count;   /* categories with any share */
    uint32_t width;
};

/* Samples that a transform dropped do not count; nor do those without a stack, if anything is to be left out. A sample
 * covers from the middle of the gap before it to the middle of the gap after
 * it; each half counts with the CPU share of its gap; then three box blurs. Recorded waits cover nothing: the CPU time
 * beside them is that of running_stack(). Uses memory of its own. */
int activity_compute(struct activity *activity, const struct stack_view *stacks, const struct call_nodes *nodes,
                     const struct activity_request *request, struct error *err);

void activity_destroy(struct activity *activity);

/* The sample that covers `time`, or SIZE_MAX. `*cpu_percent`: of the half that `time` is in; NAN if the thread has
 * none. */
size_t sample_at(const struct sample_table *samples, double interval, double time, double *cpu_percent);

/* What a thread did in a range, ms: CPU time where the profile has it, else samples that are not of category `idle` (or
 * PROFILE_NONE) times the interval. In a file without times these count as what they weigh, in the unit of the axis:
 * bytes as one sample. Threads are ranked by that of all time. */
double thread_activity(const struct sample_table *samples, struct time_range range, const struct stack_view *stacks,
                       uint32_t idle, const struct profile_meta *meta);
