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
struct slices_by_cpu {
    struct cpu_slice *items; /* by CPU, then by start; NULL until slices_by_cpu_make() */
    size_t length;
};

/* Sorts the slices of a profile. Does nothing if they are sorted already. */
int slices_by_cpu_make(struct slices_by_cpu *slices, const struct profile *profile, struct error *err);

void slices_by_cpu_destroy(struct slices_by_cpu *slices);

/* Returns the index of the first slice of this CPU or a higher one, at most `slices->length`. */
size_t slices_by_cpu_find_first(const struct slices_by_cpu *slices, uint32_t cpu);

/* Returns the first slice from `first` to `last` that ends after `time` (ms) or follows such a slice. */
size_t slices_by_cpu_find_reaching(const struct slices_by_cpu *slices, size_t first, size_t last, double time);
