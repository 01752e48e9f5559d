/*
 * The activity graph of the timeline: CPU share of threads per pixel and category, and the sample at a position.
 */
#pragma once

#include "tree/call_nodes.h"
#include "tree/weights.h"

struct activity_request {
    const struct sample_table *const *samples; /* the shares of the threads add up */
    const struct wait_rows *waits;             /* recorded waits of each thread */
    size_t thread_count;
    double interval;            /* ms that the first sample extends backward, and the last sample forward */
    double from, to;            /* ms: left edge of the first pixel, right edge of the last pixel */
    uint32_t width;             /* pixels */
    bool is_filtered;           /* samples without a stack do not count */
    const uint8_t *matching[2]; /* two filters, each with a byte per node: 0 excludes the samples of the node; or NULL
                                   (no filter) */
};

/* State of a pixel in the strip of single samples. */
enum strip_pixel {
    STRIP_EMPTY,
    STRIP_IDLE,   /* the pixel has only waits and samples without a stack or CPU time */
    STRIP_SAMPLE, /* an active sample */
};

struct activity {
    float *shares;        /* category-major: shares[row * width + x], CPUs; owned */
    uint32_t *categories; /* the category of each row, ascending; owned */
    uint8_t *strip;       /* enum strip_pixel of each pixel, from the counted samples; owned */
    uint32_t row_count;   /* categories with any share */
    uint32_t width;
};

/* Computes the activity graph. Samples dropped by a transform do not count; if is_filtered, samples without a stack
 * do not count either. Each sample covers half of the gap before it and half of the gap after it; each half has the
 * CPU share of its gap. Three box blurs smooth the result. Recorded waits cover no time: the CPU time next to them
 * belongs to find_running_stack(). The caller destroys `activity`. */
int activity_compute(struct activity *activity, const struct stack_view *stacks, const struct call_nodes *nodes,
                     const struct activity_request *request, struct error *err);

void activity_destroy(struct activity *activity);

/* Returns the sample that covers `time`, or SIZE_MAX. Sets `*cpu_percent` to the CPU share of the half gap that
 * contains `time`; NAN if the thread has no CPU times. */
size_t find_sample_at(const struct sample_table *samples, double interval, double time, double *cpu_percent);

/* Activity of a thread without CPU times in a range, ms: the interval times the number of samples outside category
 * `idle` (PROFILE_NONE: no such category). In a profile without times, a sample counts its weight in the unit of the
 * axis, and a sample whose weight is in bytes counts 1. */
double count_thread_activity(const struct sample_table *samples, struct time_range range,
                             const struct stack_view *stacks, uint32_t idle, const struct profile_meta *meta);
