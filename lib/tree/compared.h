/*
 * Comparisons. A profile of two runs of a program (profile/compare.h) holds the threads of both, and one table of
 * functions. What a query counts of it is the change from the base to the new side: of every weight, stack by stack and
 * node by node, with its sign. The two sides are summed apart with the same passes as ever, and subtracted last.
 *
 * What that means for those who look at the figures:
 *   - A node or a function is there if either side has it: what has not changed is a row, too, with the change 0.
 *   - The children of a node are ordered by how much the largest change in each of them is, its own or that of a node
 *     below: where a function has moved from one callee to another the sum is 0, and the reader looks for just that.
 *   - 100 % is the total of the base (of the new side, where the base has nothing).
 *   - A rect of the flame graph is as wide as both sides together; its color is for the change.
 *   - All else (transforms, searches, ranges) is about stacks and samples, and the same as of any profile.
 */
#pragma once

#include "tree/timings.h"

/* What a query of a comparison counts: the new side less the base, or one side alone. */
enum compared { COMPARED_CHANGE, COMPARED_BASE, COMPARED_NEW };

struct compared_request {
    bool is_comparison; /* else the rest means nothing */
    enum compared compared;
    double scale; /* of the new side */
};

/* What the weights of a thread are multiplied with: of the mean of the runs of its side, to its scale, negative for the
 * base of a change. 0 if it does not count; 1 if the profile is no comparison. */
double compared_factor(const struct profile *profile, const struct compared_request *request, uint32_t thread);

/* What is made the same on both sides: nothing, or one of these. */
enum compare_by { COMPARE_BY_NONE, COMPARE_BY_SAMPLES, COMPARE_BY_CPU_TIME, COMPARE_BY_WALL_TIME, COMPARE_BY_FUNCTION };

/* The name of the functions that this stands for: the whole name of one or more functions, else a part of the name of
 * all that have it, in upper or lower case; text of the profile. -EINVAL, with the names, if it is a part of several.
 */
int comparison_find_function(const struct profile *profile, const char *wanted, const char **name, struct error *err);

/* What the new side has to be multiplied with, by all threads. `func`: as for comparison_find_function(). -EINVAL where
 * one side has nothing of it. */
int comparison_find_scale(const struct profile *profile, enum compare_by by, const char *func, double *scale,
                          struct error *err);

/* Makes that the scale of the comparison. */
int comparison_set_scale(struct profile *profile, enum compare_by by, const char *func, struct error *err);

/* How long each run of a side took: ms from its start to its last sample, or the end of its last thread. Free it; NULL
 * if memory is short. */
double *comparison_wall_times(const struct profile *profile, enum profile_side side);

/* The weights of a query: those of stack_weights_sum(), or of a comparison the change into `weights` and what it is
 * between into `sides`. */
int compared_weights_sum(struct stack_weights *weights, struct stack_weights sides[PROFILE_SIDES],
                         const struct profile *profile, const struct weighing *weighing,
                         const struct compared_request *request, struct error *err);

/* The timings of these weights: see timings_compute() and timings_compare(). */
int compared_timings(struct timings *timings, const struct call_nodes *nodes, const struct stack_weights *weights,
                     const struct stack_weights sides[PROFILE_SIDES], const uint8_t *matching,
                     const struct compared_request *request, struct error *err);
