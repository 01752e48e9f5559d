#include "tree/noise.h"

#include "tree/order.h"

static const double significance = 0.05;

/* ---- Student's distribution ---- */

/* The incomplete beta function by its continued fraction, evaluated as Lentz does (Numerical Recipes 6.4). */
static double compute_beta_fraction(double a, double b, double x)
{
    enum { MOST_STEPS = 500 };
    static const double tiny = 1e-300, enough = 1e-13;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double result = d;
    for (int m = 1; m <= MOST_STEPS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 + even * d;
        c = 1 + even / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        result *= d * c;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 + odd * d;
        c = 1 + odd / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        result *= d * c;
        if (fabs(d * c - 1) < enough)
            break;
    }
    return result;
}

static double compute_incomplete_beta(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * compute_beta_fraction(a, b, x) / a;
    return 1 - front * compute_beta_fraction(b, a, 1 - x) / b;
}

double compute_student_chance(double t, double degrees)
{
    if (isinf(t))
        return 0;
    return compute_incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

double compute_student_limit(double chance, double degrees)
{
    double low = 0, high = 1;
    while (compute_student_chance(high, degrees) > chance && high < 1e9)
        high *= 2;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (compute_student_chance(middle, degrees) > chance)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* ---- one change ---- */

static struct side_noise measure_noise_of_runs(const struct noise_units *units)
{
    double sum = 0, squares = 0, count = (double)units->count;
    for (size_t i = 0; i < units->count; i++)
        sum += units->values[i];
    for (size_t i = 0; i < units->count; i++)
        squares += (units->values[i] - sum / count) * (units->values[i] - sum / count);
    double variance = fmax(squares / (count - 1), units->least * units->least / 4);
    return (struct side_noise){sum / count, variance / count, count - 1};
}

/* Few large blocks give less certainty than many: hence Satterthwaite's degrees of freedom. */
static struct side_noise measure_noise_of_blocks(const struct noise_units *units)
{
    double sum = 0, squares = 0, fourths = 0;
    for (size_t i = 0; i < units->count; i++) {
        double square = units->values[i] * units->values[i];
        sum += units->values[i];
        squares += square;
        fourths += square * square;
    }
    double degrees = fourths > 0 ? fmax(squares * squares / fourths - 1, 1) : 1;
    return (struct side_noise){sum, fmax(squares, units->least * units->least / 4), degrees};
}

struct change_estimate estimate_change_between(struct side_noise base, struct side_noise other)
{
    double variance = base.variance + other.variance, error = sqrt(variance), change = other.value - base.value;
    double degrees =
        variance > 0
            ? variance * variance /
                  (base.variance * base.variance / base.degrees + other.variance * other.variance / other.degrees)
            : fmin(base.degrees, other.degrees);
    double t = change == 0 ? 0 : error > 0 ? change / error : INFINITY;
    double reach = error > 0 ? compute_student_limit(significance, degrees) * error : 0;
    return (struct change_estimate){.base = base.value,
                                    .new = other.value,
                                    .low = change - reach,
                                    .high = change + reach,
                                    .chance = compute_student_chance(t, degrees),
                                    .is_noise = true};
}

struct change_estimate estimate_change(const struct noise_units *base, const struct noise_units *new)
{
    return estimate_change_between(base->are_runs ? measure_noise_of_runs(base) : measure_noise_of_blocks(base),
                                   new->are_runs ? measure_noise_of_runs(new) : measure_noise_of_blocks(new));
}

/* ---- all together ---- */

/* Holm's step-down method: compares the smallest p-value with the limit for all changes, the next one with the limit
 * for the remaining ones, until a p-value is too large. */
int judge_changes(struct change_estimate *const *changes, size_t count, struct error *err)
{
    struct order_entry *order = malloc((count + 1) * sizeof(*order));
    if (!order)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        changes[i]->is_noise = true;
        order[i] = (struct order_entry){1 - changes[i]->chance, (uint32_t)i};
    }
    int code = order_sort_heaviest_first(order, count, err);
    for (size_t i = 0; !code && i < count && changes[order[i].index]->chance <= significance / (double)(count - i); i++)
        changes[order[i].index]->is_noise = false;
    free(order);
    return code;
}

int judge_function_changes(struct change_estimate *all, struct change_estimate *functions, size_t count,
                           struct error *err)
{
    struct order_entry *order = malloc((count + 1) * sizeof(*order));
    double hypotheses = (double)count + 1;
    size_t changed = 0;
    if (!order)
        return error_no_memory(err);
    /* sort key: the negative p-value, divided by the weight of the hypothesis; the mean of the weights is 1 */
    for (size_t i = 0; i < count; i++)
        order[i] = (struct order_entry){-functions[i].chance / (hypotheses / (2 * (double)count)), (uint32_t)i};
    order[count] = (struct order_entry){-all->chance / (count ? hypotheses / 2 : 1), (uint32_t)count};
    int code = order_sort_heaviest_first(order, count + 1, err);
    for (size_t i = 0; !code && i <= count; i++)
        if (-order[i].magnitude <= significance * (double)(i + 1) / hypotheses)
            changed = i + 1;
    for (size_t i = 0; !code && i <= count; i++)
        (order[i].index == count ? all : &functions[order[i].index])->is_noise = i >= changed;
    free(order);
    return code;
}

void change_interval_write(struct json_writer *json, const struct change_estimate *change)
{
    json_member_open(json, "interval", '[');
    json_double(json, change->low);
    json_double(json, change->high);
    json_close(json, ']');
}

void change_estimate_write(struct json_writer *json, const struct change_estimate *change)
{
    change_interval_write(json, change);
    json_member_bool(json, "is_noise", change->is_noise);
}
