#include "tree/weights.h"

#include "base/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct time_range whole_time = {-INFINITY, INFINITY};

static bool is_earlier(const void *sample, const void *time)
{
    return *(const double *)sample < *(const double *)time;
}

static size_t first_not_before(const struct sample_table *samples, double time)
{
    return search_count_before(samples->time, samples->length, sizeof(*samples->time), is_earlier, &time);
}

void samples_in_range(const struct sample_table *samples, struct time_range range, size_t *first, size_t *last)
{
    *first = first_not_before(samples, range.from);
    *last = first_not_before(samples, range.to);
    if (*last < *first)
        *last = *first;
}

static bool any_weighted(const struct profile *profile, const uint32_t *threads, size_t thread_count)
{
    for (size_t i = 0; i < thread_count; i++)
        if (threads[i] < profile->threads.length && profile->threads.data[threads[i]].samples.weight)
            return true;
    return false;
}

static void add_samples(struct stack_weights *weights, const struct sample_table *samples, struct time_range range)
{
    size_t first, last;
    samples_in_range(samples, range, &first, &last);
    const uint32_t *stack = samples->stack;
    if (!samples->weight) {
        for (size_t i = first; i < last; i++)
            if (stack[i] != PROFILE_NONE)
                weights->of_stack[stack[i]] += 1;
    } else {
        for (size_t i = first; i < last; i++)
            if (stack[i] != PROFILE_NONE)
                weights->of_stack[stack[i]] += samples->weight[i];
    }
    for (size_t i = first; weights->samples && i < last; i++)
        if (stack[i] != PROFILE_NONE)
            weights->samples[stack[i]]++;
}

int stack_weights_sum(struct stack_weights *weights, const struct profile *profile, const uint32_t *threads,
                      size_t thread_count, struct time_range range, struct error *err)
{
    size_t length = profile->stacks.length;
    bool weighted = any_weighted(profile, threads, thread_count);
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
    for (size_t i = 0; i < thread_count; i++)
        if (threads[i] < profile->threads.length && !counted[threads[i]]) {
            counted[threads[i]] = 1;
            add_samples(weights, &profile->threads.data[threads[i]].samples, range);
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
