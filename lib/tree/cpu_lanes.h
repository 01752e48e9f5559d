/*
 * Lanes of CPUs: the share of each thread in each pixel, from the slices of threads (profile.h).
 */
#pragma once

#include "tree/state_lanes.h"

/* A lane has the LANE_THREADS threads that ran longest in the range. The row of LANE_OTHERS has the rest. */
enum { LANE_THREADS = 12, LANE_OTHERS = INT32_MAX };

ARRAY_TYPE(struct cpu_numbers, uint32_t);

enum { MOST_CPUS = 1024 }; /* limit of the list */

/* Lists the CPUs of the profile's slices in ascending order. The list of a comparison is empty. */
int list_profile_cpus(const struct profile *profile, struct cpu_numbers *cpus, struct error *err);

/* Computes the lanes of `count` CPUs, as engine_compute_state_lanes() does, with indexes of threads in place of states.
 * Time: linear in the slices and pixels of the range, and n log n for n threads of the profile, for each CPU. */
int engine_compute_cpu_lanes(struct engine *engine, const uint32_t *cpus, size_t count, struct time_range range,
                             uint32_t width, struct state_lanes *lanes, struct error *err);

/* The work of a CPU at a time. */
struct cpu_place {
    double start, end;   /* ms: the slice, or the time without a recorded thread (infinite: no slice before or after) */
    double off_cpu;      /* ms off the CPU in the slice */
    double previous_end; /* ms: end of the thread's previous slice */
    uint32_t thread;     /* PROFILE_NONE: no recorded thread ran */
    uint32_t previous_cpu; /* CPU of the thread's previous slice, or PROFILE_NONE for none */
};

/* Finds the slice at a time. If several threads share the time, finds the thread with the highest share. */
int engine_find_cpu_slice(struct engine *engine, uint32_t cpu, double time, struct cpu_place *place, struct error *err);
