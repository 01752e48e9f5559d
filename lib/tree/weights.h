/*
 * The one pass over samples: how much weight each stack has in the threads and the time range that are looked at. What
 * follows (call tree, inversion, search, functions, details) works on stacks and nodes and never sees a sample again.
 */
#ifndef PROF_TREE_WEIGHTS_H
#define PROF_TREE_WEIGHTS_H

#include "profile/profile.h"

/*
 * What a sample counts. Time is that since the sample before it in its thread (for the first: one interval), which is
 * also what its CPU time is measured over; where a sample's CPU time is not known, it was all of that.
 */
enum sample_weight {
    WEIGH_RECORDED,     /* what the file says: samples, ms or bytes; without that, 1 */
    WEIGH_SAMPLES,      /* 1 */
    WEIGH_TIME,         /* ms */
    WEIGH_CPU_TIME,     /* ms of CPU time */
    WEIGH_OFF_CPU_TIME, /* ms without CPU time: waiting, or ready to run */
    WEIGH_ON_CPU,       /* as recorded, but 0 for a sample without CPU time */
    WEIGH_OFF_CPU,      /* as recorded, but 0 for one with CPU time */
    WEIGH_KINDS
};

/* Whether the profile has what it takes, and it is not the same as WEIGH_RECORDED. */
bool weight_is_held(const struct profile *profile, enum sample_weight weight);

/* What one sample counts. `interval`: of the profile, ms. */
double sample_weight_of(const struct sample_table *samples, size_t i, enum sample_weight weight, double interval);

/* What the numbers are then. `recorded`: of WEIGH_RECORDED. */
enum weight_type weight_unit(enum sample_weight weight, enum weight_type recorded);

struct time_range {
    double from, to; /* ms; samples with from <= time < to. -INFINITY and INFINITY: all */
};

extern const struct time_range whole_time;

struct stack_weights {
    double *of_stack;  /* one per stack of the profile */
    uint32_t *samples; /* samples per stack that count; NULL where that is what of_stack says */
    size_t length;
};

/* The samples of the thread that lie in the range: first and one past the last. */
void samples_in_range(const struct sample_table *samples, struct time_range range, size_t *first, size_t *last);

/* Which samples, and what each counts. */
struct weighing {
    const uint32_t *threads;
    size_t thread_count;
    struct time_range range;
    enum sample_weight weight;
    const struct sample_table *samples; /* per thread of the profile, in place of its own; NULL: those */
};

/* Sums the samples of several threads (indexes out of range count nothing; one that is named twice counts once). Uses
 * the memory of an earlier call with the same struct, which is zeroed at first. */
int stack_weights_sum(struct stack_weights *weights, const struct profile *profile, const struct weighing *weighing,
                      struct error *err);

void stack_weights_destroy(struct stack_weights *weights);

#endif
