/*
 * Whether a change is more than noise.
 *
 * What one side counts of a function is a sum over units: over runs, of which the mean counts, or over intervals of
 * time ("blocks") of the only run. From how the units differ follows how far the sum is known: the interval in which
 * the change lies with 95 %, by Welch's t (B. L. Welch, 1947: the sides vary differently).
 *
 *   - Of runs the variance of the mean is that of the runs, divided by their number.
 *   - Of blocks it is the sum of their squares. That is what a bootstrap converges to that draws blocks with Poisson
 *     counts: how many blocks there are is as much by chance as what is in them, because from one run nobody can know
 *     how much longer the next one takes. No random numbers are drawn: the answer is the same each time.
 *
 * Of twenty functions one changes by chance at 95 %. So they are judged together:
 *
 *   - The total and the functions of a list by the method of Benjamini and Hochberg (1995): where nothing has changed,
 * 5 % of all comparisons call anything changed; where much has changed, 5 % of what is called changed is chance,
 * however long the list is. The total is what is asked first, and has half of the weight (Genovese, Roeder and
 * Wasserman, 2006: chances are divided by weights of mean 1), so that a long list does not hide a program that has
 * become slower.
 *   - Limits, of which one that is passed in error stops a job, by the stricter method of S. Holm (1979): that any of
 * them is called changed where it has not happens in 5 % of all comparisons.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct noise_units {
    const double *values; /* what each counts */
    size_t count;
    bool are_runs; /* else blocks */
    double least;  /* that a sample counts: no difference is known better than that */
};

struct change_estimate {
    double base, new; /* means of runs, or sums of blocks */
    double low, high; /* of new - base, 95 % */
    double chance;    /* probability of a change at least this large by chance */
    bool is_noise;    /* set by judging: no more than noise */
};

struct change_estimate change_estimate_of(const struct noise_units *base, const struct noise_units *new);

/* Judges limits. */
int changes_judge(struct change_estimate *const *changes, size_t count, struct error *err);

/* Judges the total and the functions of a list together. */
int function_changes_judge(struct change_estimate *all, struct change_estimate *functions, size_t count,
                           struct error *err);

/* Returns the probability of a |t| of Student's distribution at least this large; exported for tests. */
double student_chance(double t, double degrees);
