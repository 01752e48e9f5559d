/*
 * The slices of all threads of a profile, by CPU.
 */
#pragma once

#include "profile/profile.h"

struct cpu_slice {
    double start, end; /* ms */
    double reach;      /* ms: latest end of the slices of this CPU up to this one */
    double rate;       /* part of the slice in which the thread was on the CPU */
    uint32_t cpu, thread;
    uint32_t row; /* in the table of the thread */
};

/* Starts zeroed. */
struct cpu_slices {
    struct cpu_slice *items; /* by CPU, then by start; NULL until cpu_slices_make() */
    size_t length;
};

/* Sorts the slices of a profile. Does nothing if they are sorted already. */
int cpu_slices_make(struct cpu_slices *slices, const struct profile *profile, struct error *err);

void cpu_slices_destroy(struct cpu_slices *slices);

/* Returns the index of the first slice of this CPU or a higher one, at most `slices->length`. */
size_t cpu_slices_begin(const struct cpu_slices *slices, uint32_t cpu);

/* Returns the first slice from `first` to `last` that ends after `time` (ms) or follows such a slice. */
size_t cpu_slices_reach(const struct cpu_slices *slices, size_t first, size_t last, double time);
