#include "profile/quantize.h"

enum { MAX_DECIMALS = 9 };
static const double MOST_STEPS = 9e15; /* limit below which sums in a double are exact */
static const double SLACK = 0.75;      /* maximum error of a sum when a delta repeats, in steps */

static double clamp(double value)
{
    return value > MOST_STEPS ? MOST_STEPS : value < -MOST_STEPS ? -MOST_STEPS : value;
}

bool make_time_grid(double resolution, struct time_grid *grid)
{
    double power = 1;
    for (unsigned decimals = 0; decimals <= MAX_DECIMALS; decimals++, power *= 10) {
        double step = resolution * power;
        if (step >= 1 && step < 1e9 && fabs(step - floor(step + 0.5)) < 1e-9 * step) {
            *grid = (struct time_grid){.step = (int64_t)floor(step + 0.5), .decimals = decimals};
            return true;
        }
    }
    return false;
}

bool times_have_resolution(const double *times, size_t count, double resolution)
{
    static const double tolerance = 0.01; /* steps */
    for (size_t i = 0; i < count; i++) {
        double steps = times[i] / resolution;
        if (!(fabs(steps - floor(steps + 0.5)) <= tolerance))
            return false;
    }
    return true;
}

void time_quantizer_init(struct time_quantizer *quantizer, struct time_grid grid)
{
    *quantizer = (struct time_quantizer){.grid = grid, .steps_per_ms = pow(10, grid.decimals) / (double)grid.step};
}

int64_t time_quantizer_round(const struct time_quantizer *quantizer, double time)
{
    return llround(clamp(time * quantizer->steps_per_ms));
}

int64_t time_quantizer_next(struct time_quantizer *quantizer, double time)
{
    double wanted = clamp(time * quantizer->steps_per_ms);
    int64_t step = quantizer->previous;
    if (quantizer->started && wanted == quantizer->wanted)
        return 0;
    quantizer->wanted = wanted;
    if (!quantizer->started || fabs((double)(quantizer->sum + step) - wanted) > SLACK) {
        step = llround(wanted) - quantizer->sum;
        if (step < 0 && quantizer->started)
            step = 0;
        quantizer->previous = quantizer->started ? step : 0;
        quantizer->started = true;
    }
    quantizer->sum += step;
    return step;
}

void cpu_quantizer_init(struct cpu_quantizer *quantizer, double step)
{
    *quantizer = (struct cpu_quantizer){.step = step > 1 ? floor(step + 0.5) : 1};
}

int64_t cpu_quantizer_next(struct cpu_quantizer *quantizer, double delta, double wall)
{
    if (delta == 0)
        return 0;
    double wanted = clamp(quantizer->carried + delta), slack = SLACK * quantizer->step;
    double written = floor(wanted / quantizer->step + 0.5) * quantizer->step;
    if (wall > 0 && fabs(wanted - wall) <= slack)
        written = floor(wall + 0.5);
    else if (fabs(wanted - (double)quantizer->previous) <= slack)
        written = (double)quantizer->previous;
    if (written < 0)
        written = 0;
    quantizer->carried = wanted - written;
    quantizer->previous = (int64_t)written;
    return quantizer->previous;
}
