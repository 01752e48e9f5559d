/*
 * Rounds times and CPU times to small, repeating integers. A profile file is mostly deltas between samples, and a
 * jitter of a few microseconds in each delta would need most of the bytes. So a running sum of whole steps follows the
 * true sum. A delta equals the previous delta while the error of the sum is at most one step. Errors never accumulate,
 * and the column of a steady sampler has equal deltas.
 */
#pragma once

#include "base/standard.h"

/* A grid of times: multiples of `step` / 10^`decimals` ms. */
struct time_grid {
    int64_t step;
    unsigned decimals;
};

/* Computes the grid of a resolution in ms. Returns false if the resolution is 0 or no short decimal. The caller then
 * writes times in full. */
bool make_time_grid(double resolution, struct time_grid *grid);

/* Returns whether all times (ms) are multiples of the resolution (ms), within rounding errors. */
bool times_have_resolution(const double *times, size_t count, double resolution);

struct time_quantizer {
    struct time_grid grid;
    double steps_per_ms;
    int64_t sum, previous; /* steps */
    double wanted;         /* steps: the last time, before rounding */
    bool started;
};

void time_quantizer_init(struct time_quantizer *quantizer, struct time_grid grid);

/* Returns the number of steps closest to a time in ms. */
int64_t time_quantizer_round(const struct time_quantizer *quantizer, double time);

/* Returns the steps since the previous sample (for the first sample, since zero). `time` is in ms and must not
 * decrease. */
int64_t time_quantizer_next(struct time_quantizer *quantizer, double time);

struct cpu_quantizer {
    double step;    /* µs: unit of the deltas */
    double carried; /* µs that the written deltas lack so far, or negative if the deltas are too large */
    int64_t previous;
};

/* `step` is in µs; less than 1 is 1. */
void cpu_quantizer_init(struct cpu_quantizer *quantizer, double step);

/* Returns a delta (finite) in whole µs. `wall` is the written time since the previous sample in µs, which is the CPU
 * time of a thread that always runs; negative if unknown. */
int64_t cpu_quantizer_next(struct cpu_quantizer *quantizer, double delta, double wall);
