/*
 * Comparisons. A comparison profile (profile/compare.h) contains the threads of two runs and one shared table of
 * functions. A query counts the change from the base to the new side, with its sign, for every weight, stack and node.
 * Each side is summed separately; the subtraction comes last.
 *
 * Consequences:
 *   - A node or function appears if either side has it; unchanged ones are rows with the change 0.
 *   - Children are ordered by the largest change in their subtree. If a function moved from one callee to another, the
 *     sum is 0, but the reader wants to see the move.
 *   - 100% is the total of the base (of the new side if the base is 0).
 *   - A rect of the flame graph is as wide as both sides together, and its color shows the change.
 *   - Transforms, searches and ranges work on stacks and samples, as in any profile.
 */
#pragma once

#include "tree/timings.h"

/* Weights of a query of a comparison: new side minus base, or one side alone. */
enum compared { COMPARED_CHANGE, COMPARED_BASE, COMPARED_NEW };

struct compared_request {
    bool is_comparison; /* false if the profile is no comparison; the other members are then unused */
    enum compared compared;
    double scale;                /* factor for the weights of the new side */
    double parts[PROFILE_SIDES]; /* number of runs or intervals of a side, whose mean counts */
};

/* Returns the factor for the weights of a side: the mean of its runs or intervals, times the scale of the new side. */
double get_side_factor(const struct compared_request *request, enum profile_side side);

/* Returns the factor for the weights of a thread: that of its side, negative for the base of a change. 0 if the thread
 * does not count, or 1 if the profile is no comparison. */
double get_compared_factor(const struct profile *profile, const struct compared_request *request, uint32_t thread);

/* The quantity that scaling makes equal on both sides. */
enum compare_by { COMPARE_BY_NONE, COMPARE_BY_SAMPLES, COMPARE_BY_CPU_TIME, COMPARE_BY_WALL_TIME, COMPARE_BY_FUNCTION };

/* Computes the factor that makes a quantity of the new side equal to the base, over all threads. `func` is the whole
 * name of a function, or a part of it, ignoring case. -EINVAL with the names if several functions match, or if the
 * quantity is 0 on one side. */
int comparison_find_scale(const struct profile *profile, enum compare_by by, const char *func, double *scale,
                          struct error *err);

/* Sets the scale of the comparison to the factor of comparison_find_scale(). */
int comparison_set_scale(struct profile *profile, enum compare_by by, const char *func, struct error *err);

/* Returns the duration of each run of a side: ms from its start to its last sample, or the end of its last thread.
 * The caller frees it, or NULL if memory ran out. */
double *measure_wall_times(const struct profile *profile, enum profile_side side);

/* Sums the weights of a query as stack_weights_sum() does. For a comparison: `weights` gets the change between the
 * sides, and `sides` gets the weights of each side. */
int sum_compared_weights(struct stack_weights *weights, struct stack_weights sides[PROFILE_SIDES],
                         const struct profile *profile, const struct weighing *weighing,
                         const struct compared_request *request, struct error *err);

/* Computes the timings of the compared weights: see timings_compute() and timings_set_change(). */
int compute_compared_timings(struct timings *timings, const struct call_nodes *nodes,
                             const struct stack_weights *weights, const struct stack_weights sides[PROFILE_SIDES],
                             const uint8_t *matching, const struct compared_request *request, struct error *err);
