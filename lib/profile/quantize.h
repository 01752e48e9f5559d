/*
 * Rounds times and CPU times to small, repeating integers. A profile file is mostly deltas between samples, and a
 * jitter of a few microseconds in each would cost more bytes than all the rest. So a running sum of whole steps follows
 * the true sum. A delta repeats the previous one as long as the sum is at most one step off. Errors never accumulate,
 * and a steady sampler gives a steady column.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The unit of times: `step` / 10^`decimals` ms. */
struct time_grid {
    int64_t step;
    unsigned decimals;
};

/* The grid of a resolution in ms; false if it is no short decimal (or 0), and times must be written in full. */
bool time_grid_of(double resolution, struct time_grid *grid);

/* Whether all these times (ms) are multiples of the resolution (ms), but for what adding up doubles adds to them. */
bool times_have_resolution(const double *times, size_t count, double resolution);

struct time_quantizer {
    struct time_grid grid;
    double steps_per_ms;
    int64_t sum, previous; /* steps */
    bool started;
};

void time_quantizer_init(struct time_quantizer *quantizer, struct time_grid grid);

/* The step count from the sample before to this one (from zero to the first). `time` is in ms and does not go back. */
int64_t time_quantizer_next(struct time_quantizer *quantizer, double time);

struct cpu_quantizer {
    double step;    /* µs: what deltas are multiples of */
    double carried; /* µs that are still to be written; negative: written already */
    int64_t previous;
};

/* `step` is in µs; less than 1 is 1. */
void cpu_quantizer_init(struct cpu_quantizer *quantizer, double step);

/* Whole µs for a delta (finite). `wall`: the time since the sample before as it was written, µs, which is what a thread
 * that runs all the time should get; negative if unknown. */
int64_t cpu_quantizer_next(struct cpu_quantizer *quantizer, double delta, double wall);
