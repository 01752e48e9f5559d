/*
 * Statistics that separate changes from noise.
 *
 * The time of a function on one side is a sum over units. Units are runs, whose mean counts, or intervals of time
 * ("blocks") of a single run. In a comparison of the slowest marked intervals with the others, units are the marked
 * intervals, which count like runs. The variance of the units gives the 95 % confidence interval of the change, by
 * Welch's t (B. L. Welch, 1947: the sides have different variances).
 *
 *   - For runs, the variance of the mean is the variance of the runs divided by their number.
 *   - For blocks, the variance of the mean is the sum of the squares of the blocks. A bootstrap that draws blocks with
 *     Poisson counts converges to this variance. In this bootstrap, the number of blocks is random, too, because one
 *     run does not show how long the next run takes. The code draws no random numbers, so the result is reproducible.
 *
 * At 95 %, one of twenty functions changes by chance. So prof tests functions together:
 *
 *   - The total and the functions of a list use the method of Benjamini and Hochberg (1995): if nothing has changed, 5
 *     % of comparisons report a change; if much has changed, 5 % of the reported changes are chance, however long the
 *     list is. The total has half of the weight (Genovese, Roeder and Wasserman, 2006: p-values are divided by weights
 *     of mean 1), so a long list does not hide a slower program.
 *   - Limits use the stricter method of S. Holm (1979), because one false alarm stops a job: a false alarm among all
 *     limits occurs in 5 % of comparisons.
 */
#pragma once

#include "base/error.h"
#include "base/json_write.h"

static const double normal_95 =
    1.96; /* half the width of a 95 % interval of a normal distribution, in standard errors */

struct noise_units {
    const double *values; /* value of each unit */
    size_t count;
    bool are_runs; /* false if the units are blocks of time */
    double least;  /* weight of one sample: the resolution of a difference */
};

struct change_estimate {
    double base, new; /* values of the sides: means of runs, or sums of blocks */
    double low, high; /* bounds of the 95 % interval of new - base */
    double chance;    /* probability of a change at least this large by chance */
    bool is_noise;    /* set by judge_changes(): the change may be noise */
};

struct change_estimate estimate_change(const struct noise_units *base, const struct noise_units *new);

/* The value of a side, its variance, and the degrees of freedom of this variance. */
struct side_noise {
    double value, variance, degrees;
};

/* Estimates the change between two sides, for callers that sum the variances. */
struct change_estimate estimate_change_between(struct side_noise base, struct side_noise other);

/* Judges limits. */
int judge_changes(struct change_estimate *const *changes, size_t count, struct error *err);

/* Judges the total and the functions of a list together. */
int judge_function_changes(struct change_estimate *all, struct change_estimate *functions, size_t count,
                           struct error *err);

/* Returns the probability of a |t| of Student's distribution at least this large; exported for tests. */
double compute_student_chance(double t, double degrees);

/* Returns the |t| that Student's distribution exceeds with this probability. Takes some 30 us. */
double compute_student_limit(double chance, double degrees);

/* Write the member "interval" of a change, and with it "is_noise". */
void change_interval_write(struct json_writer *json, const struct change_estimate *change);
void change_estimate_write(struct json_writer *json, const struct change_estimate *change);
