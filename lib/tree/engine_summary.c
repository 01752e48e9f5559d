/*
 * What a summary of the current query asks beside its trees: what each thread adds, and the functions by another
 * weight.
 */
#include "tree/engine_state.h"

#include "tree/order.h"

#include <math.h>
#include <stdlib.h>

int engine_functions_weighed(struct engine *engine, enum sample_weight weight, struct func_timings *functions,
                             struct error *err)
{
    const struct weighing weighing = {engine->threads.data, engine->threads.length, engine->range, weight,
                                      engine->filter.samples};
    struct stack_weights weights = {0};
    struct timings timings = {0};
    *functions = (struct func_timings){0};
    int code = stack_weights_sum(&weights, &engine->profile, &weighing, err);
    if (!code)
        code = timings_compute(&timings, engine->nodes, &weights, engine_matching(engine), err);
    if (!code)
        code = func_timings_compute(functions, engine->nodes, &timings, FUNCS_BY_SELF, err);
    timings_destroy(&timings);
    stack_weights_destroy(&weights);
    return code;
}

static double total_of_thread(const struct engine *engine, uint32_t thread)
{
    const struct sample_table *samples = engine_samples(engine, thread);
    const uint8_t *matching = engine_matching(engine);
    size_t first, last;
    double total = 0;
    samples_in_range(samples, engine->range, &first, &last);
    for (size_t i = first; i < last; i++) {
        uint32_t node = samples->stack[i] == PROFILE_NONE ? NODE_NONE : engine->nodes->of_sample[samples->stack[i]];
        if (node != NODE_NONE && (!matching || matching[node]))
            total += sample_weight_of(samples, i, engine->weight, engine->profile.meta.interval);
    }
    return total;
}

int engine_threads(struct engine *engine, struct func_timings *threads, struct error *err)
{
    size_t count = engine->threads.length, known = engine->profile.threads.length;
    struct order_entry *entries = malloc((count + 1) * sizeof(*entries));
    struct func_timing *rows = malloc((count + 1) * sizeof(*rows));
    double *totals = calloc(known + 1, sizeof(*totals));
    uint8_t *seen = calloc(known + 1, sizeof(*seen));
    size_t length = 0;
    bool enough = entries && rows && totals && seen;
    *threads = (struct func_timings){0};
    for (size_t i = 0; enough && i < count; i++) {
        uint32_t thread = engine->threads.data[i];
        if (thread >= known || seen[thread])
            continue;
        seen[thread] = 1;
        totals[thread] = total_of_thread(engine, thread);
        entries[length++] = (struct order_entry){fabs(totals[thread]), thread};
    }
    int code = enough ? order_heaviest_first(entries, length, err) : error_no_memory(err);
    for (size_t i = 0; !code && i < length; i++)
        rows[i] = (struct func_timing){entries[i].index, totals[entries[i].index], totals[entries[i].index]};
    if (!code)
        *threads = (struct func_timings){rows, length};
    else
        free(rows);
    free(entries);
    free(totals);
    free(seen);
    return code;
}
