/*
 * The one pass over samples: how much weight each stack has in the threads and the time range that are looked at. What
 * follows (call tree, inversion, search, functions, details) works on stacks and nodes and never sees a sample again.
 */
#ifndef PROF_TREE_WEIGHTS_H
#define PROF_TREE_WEIGHTS_H

#include "profile/profile.h"

struct time_range {
    double from, to; /* ms; samples with from <= time < to. -INFINITY and INFINITY: all */
};

extern const struct time_range whole_time;

struct stack_weights {
    double *of_stack;  /* one per stack of the profile */
    uint32_t *samples; /* samples per stack: kept only if some thread has weights, else NULL (weight = count) */
    size_t length;
};

/* The samples of the thread that lie in the range: first and one past the last. */
void samples_in_range(const struct sample_table *samples, struct time_range range, size_t *first, size_t *last);

/* Sums the samples of several threads (indexes out of range count nothing; one that is named twice counts once). Uses
 * the memory of an earlier call with the same struct, which is zeroed at first. */
int stack_weights_sum(struct stack_weights *weights, const struct profile *profile, const uint32_t *threads,
                      size_t thread_count, struct time_range range, struct error *err);

void stack_weights_destroy(struct stack_weights *weights);

#endif
