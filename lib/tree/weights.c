#include "tree/weights.h"

#include "base/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct time_range whole_time = {-INFINITY, INFINITY};

static size_t first_not_before(const struct sample_table *samples, double time)
{
    return search_count_before(samples->time, samples->length, sizeof(*samples->time), search_real_is_below, &time);
}

void samples_in_range(const struct sample_table *samples, struct time_range range, size_t *first, size_t *last)
{
    *first = first_not_before(samples, range.from);
    *last = first_not_before(samples, range.to);
    if (*last < *first)
        *last = *first;
}

/* ---- what a sample counts ---- */

static bool has_weights(const struct profile *profile)
{
    for (size_t i = 0; i < profile->threads.length; i++)
        if (profile->threads.data[i].samples.weight)
            return true;
    return false;
}

static bool has_cpu_times(const struct profile *profile)
{
    for (size_t i = 0; profile->meta.has_cpu_delta && i < profile->threads.length; i++)
        if (profile->threads.data[i].samples.cpu_delta)
            return true;
    return false;
}

static bool has_sample_off_cpu(const struct profile *profile)
{
    for (size_t t = 0; t < profile->threads.length; t++) {
        const struct sample_table *samples = &profile->threads.data[t].samples;
        for (size_t i = 0; samples->cpu_delta && i < samples->length; i++)
            if (samples->stack[i] != PROFILE_NONE && samples->cpu_delta[i] == 0)
                return true;
    }
    return false;
}

bool weight_is_held(const struct profile *profile, enum sample_weight weight)
{
    switch (weight) {
    case WEIGH_RECORDED:
        return true;
    case WEIGH_SAMPLES:
        return has_weights(profile);
    case WEIGH_TIME:
        return true;
    case WEIGH_CPU_TIME:
    case WEIGH_OFF_CPU_TIME:
        return has_cpu_times(profile);
    case WEIGH_ON_CPU:
    case WEIGH_OFF_CPU:
        return has_cpu_times(profile) && has_sample_off_cpu(profile);
    case WEIGH_KINDS:
        break;
    }
    return false;
}

enum weight_type weight_unit(enum sample_weight weight, enum weight_type recorded)
{
    switch (weight) {
    case WEIGH_SAMPLES:
        return WEIGHT_SAMPLES;
    case WEIGH_TIME:
    case WEIGH_CPU_TIME:
    case WEIGH_OFF_CPU_TIME:
        return WEIGHT_TRACING_MS;
    default:
        return recorded;
    }
}

/* ms */
static double time_of(const struct sample_table *samples, size_t i, double interval)
{
    return i == 0 ? interval : samples->time[i] - samples->time[i - 1];
}

/* ms; all of the time where it is not known */
static double cpu_time_of(const struct sample_table *samples, size_t i, double interval)
{
    bool known = samples->cpu_delta && !isnan(samples->cpu_delta[i]);
    return known ? samples->cpu_delta[i] / 1000 : time_of(samples, i, interval);
}

static bool is_on_cpu(const struct sample_table *samples, size_t i)
{
    return !samples->cpu_delta || samples->cpu_delta[i] != 0;
}

double sample_weight_of(const struct sample_table *samples, size_t i, enum sample_weight weight, double interval)
{
    double recorded = samples->weight ? samples->weight[i] : 1;
    switch (weight) {
    case WEIGH_SAMPLES:
        return 1;
    case WEIGH_TIME:
        return time_of(samples, i, interval);
    case WEIGH_CPU_TIME:
        return cpu_time_of(samples, i, interval);
    case WEIGH_OFF_CPU_TIME:
        return fmax(0, time_of(samples, i, interval) - cpu_time_of(samples, i, interval));
    case WEIGH_ON_CPU:
        return is_on_cpu(samples, i) ? recorded : 0;
    case WEIGH_OFF_CPU:
        return is_on_cpu(samples, i) ? 0 : recorded;
    default:
        return recorded;
    }
}

/* ---- the pass over samples ---- */

static bool counts_ones(const struct profile *profile, const struct weighing *weighing)
{
    bool ones = weighing->weight == WEIGH_RECORDED || weighing->weight == WEIGH_SAMPLES;
    for (size_t i = 0; ones && weighing->weight == WEIGH_RECORDED && i < weighing->thread_count; i++)
        ones = weighing->threads[i] >= profile->threads.length ||
               !profile->threads.data[weighing->threads[i]].samples.weight;
    return ones;
}

static void add_ones(struct stack_weights *weights, const struct sample_table *samples, size_t first, size_t last)
{
    for (size_t i = first; i < last; i++)
        if (samples->stack[i] != PROFILE_NONE)
            weights->of_stack[samples->stack[i]] += 1;
}

static void add_samples(struct stack_weights *weights, const struct profile *profile, uint32_t thread,
                        const struct weighing *weighing)
{
    const struct sample_table *samples =
        weighing->samples ? &weighing->samples[thread] : &profile->threads.data[thread].samples;
    size_t first, last;
    samples_in_range(samples, weighing->range, &first, &last);
    if (!weights->samples) {
        add_ones(weights, samples, first, last);
        return;
    }
    bool by_cpu = weighing->weight == WEIGH_ON_CPU || weighing->weight == WEIGH_OFF_CPU;
    for (size_t i = first; i < last; i++) {
        uint32_t stack = samples->stack[i];
        if (stack == PROFILE_NONE)
            continue;
        weights->of_stack[stack] += sample_weight_of(samples, i, weighing->weight, profile->meta.interval);
        weights->samples[stack] += !by_cpu || is_on_cpu(samples, i) == (weighing->weight == WEIGH_ON_CPU);
    }
}

int stack_weights_sum(struct stack_weights *weights, const struct profile *profile, const struct weighing *weighing,
                      struct error *err)
{
    size_t length = profile->stacks.length;
    bool weighted = !counts_ones(profile, weighing);
    if (weights->length != length || !weights->of_stack || weighted != (weights->samples != NULL)) {
        stack_weights_destroy(weights);
        weights->of_stack = malloc((length + 1) * sizeof(*weights->of_stack));
        weights->samples = weighted ? malloc((length + 1) * sizeof(*weights->samples)) : NULL;
        if (!weights->of_stack || (weighted && !weights->samples)) {
            stack_weights_destroy(weights);
            return error_no_memory(err);
        }
        weights->length = length;
    }
    memset(weights->of_stack, 0, length * sizeof(*weights->of_stack));
    if (weighted)
        memset(weights->samples, 0, length * sizeof(*weights->samples));
    uint8_t *counted = calloc(profile->threads.length + 1, sizeof(*counted));
    if (!counted)
        return error_no_memory(err);
    for (size_t i = 0; i < weighing->thread_count; i++) {
        uint32_t thread = weighing->threads[i];
        if (thread >= profile->threads.length || counted[thread])
            continue;
        counted[thread] = 1;
        add_samples(weights, profile, thread, weighing);
    }
    free(counted);
    return 0;
}

void stack_weights_destroy(struct stack_weights *weights)
{
    free(weights->of_stack);
    free(weights->samples);
    *weights = (struct stack_weights){0};
}
