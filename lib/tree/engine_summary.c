/*
 * The figures of a summary: the weight of each thread, and the functions, also by another weight.
 */
#include "tree/engine.h"

#include "tree/engine_state.h"

#include "tree/order.h"

int engine_list_all_functions(struct engine *engine, enum func_order order, struct func_timings *functions,
                              struct error *err)
{
    return func_timings_compute(functions, engine->nodes, &engine->timings, order, err);
}

int engine_list_functions(struct engine *engine, enum func_order order, struct func_timings *functions,
                          struct error *err)
{
    size_t kept = 0;
    int code = engine_list_all_functions(engine, order, functions, err);
    for (size_t i = 0; !code && i < functions->length; i++)
        if (engine_func_matches(engine, functions->rows[i].func))
            functions->rows[kept++] = functions->rows[i];
    functions->length = code ? functions->length : kept;
    return code;
}

int engine_list_functions_by_weight(struct engine *engine, enum sample_weight weight, enum sample_table_kind table,
                                    struct func_timings *functions, struct error *err)
{
    struct weighing weighing = engine_get_weighing(engine);
    weighing.weight = weight;
    weighing.table = table;
    const struct compared_request request = engine_get_compared_request(engine);
    struct stack_weights weights = {0}, sides[PROFILE_SIDES] = {{0}, {0}};
    struct timings timings = {0};
    *functions = (struct func_timings){0};
    int code = sum_compared_weights(&weights, sides, &engine->base->profile, &weighing, &request, err);
    if (!code)
        code = compute_compared_timings(&timings, engine->nodes, &weights, sides, engine_get_matching_nodes(engine),
                                        &request, err);
    if (!code)
        code = func_timings_compute(functions, engine->nodes, &timings, FUNCS_BY_SELF, err);
    timings_destroy(&timings);
    stack_weights_destroy(&weights);
    for (int side = 0; side < PROFILE_SIDES; side++)
        stack_weights_destroy(&sides[side]);
    return code;
}

struct thread_total {
    const struct engine *engine;
    const uint8_t *matching;
    double factor, sum;
};

static void add_to_total(void *context, uint32_t stack, double weight, unsigned count)
{
    struct thread_total *total = context;
    uint32_t node = total->engine->nodes->of_sample[stack];
    (void)count;
    if (node != NODE_NONE && (!total->matching || total->matching[node]))
        total->sum += weight * total->factor;
}

/* Passes the weight of a sample to the caller, with the stack in which the sample ends after the transforms. */
struct weigh_context {
    const struct engine *engine;
    const uint8_t *matching;
    engine_add_sample *add;
    void *context;
    double factor; /* factor for the thread's weights, in a comparison */
    const struct sample_table *samples;
    double start; /* time of the thread's last sample, ms; weight after it gets this time */
    size_t row;
};

/* Weight after the last sample gets the time of the last sample. */
static double get_row_time(const struct weigh_context *weigh)
{
    size_t length = weigh->samples->length;
    return length ? weigh->samples->time[weigh->row < length ? weigh->row : length - 1] : weigh->start;
}

static void pass_to_caller(void *context, uint32_t stack, double weight, unsigned count)
{
    const struct weigh_context *weigh = context;
    (void)count;
    uint32_t leaf = stack_view_get_leaf(weigh->engine->stacks, stack);
    uint32_t node = leaf == PROFILE_NONE ? NODE_NONE : weigh->engine->nodes->of_stack[leaf];
    if (node != NODE_NONE && (!weigh->matching || weigh->matching[node]))
        weigh->add(weigh->context, leaf, weight * weigh->factor, get_row_time(weigh));
}

void engine_weigh_thread(const struct engine *engine, uint32_t thread, enum sample_weight weight,
                         enum sample_table_kind table, engine_add_sample *add, void *context)
{
    struct weighing weighing = engine_get_weighing(engine);
    weighing.weight = weight;
    weighing.table = table;
    weighing.threads = &thread;
    weighing.thread_count = 1;
    const struct sample_table *samples = thread_samples(&engine->base->profile.threads.data[thread], table);
    const struct compared_request request = engine_get_compared_request(engine);
    double factor = get_compared_factor(&engine->base->profile, &request, thread);
    double start = fmax(weighing.range.from, find_sample_gaps(&engine->base->profile, thread).start);
    struct weigh_context weigh = {engine, engine_get_matching_nodes(engine), add, context, factor, samples, start, 0};
    weighing.row = &weigh.row;
    if (factor == 0)
        return;
    weigh_thread(&engine->base->profile, &weighing, thread, pass_to_caller, &weigh);
}

static double sum_thread(const struct engine *engine, const struct weighing *weighing, uint32_t thread)
{
    const struct compared_request request = engine_get_compared_request(engine);
    struct thread_total total = {engine, engine_get_matching_nodes(engine),
                                 get_compared_factor(&engine->base->profile, &request, thread), 0};
    weigh_thread(&engine->base->profile, weighing, thread, add_to_total, &total);
    return total.sum;
}

double engine_get_thread_total(const struct engine *engine, uint32_t thread, enum sample_weight weight,
                               enum sample_table_kind table)
{
    struct weighing weighing = engine_get_weighing(engine);
    weighing.weight = weight;
    weighing.table = table;
    return sum_thread(engine, &weighing, thread);
}

void engine_add_thread_totals(const struct engine *engine, uint32_t thread, struct time_range first, size_t count,
                              double *totals)
{
    struct weighing weighing = engine_get_weighing(engine);
    struct row_cursor cursors[2] = {{0}, {0}};
    double length = first.to - first.from;
    weighing.cursors = cursors;
    for (size_t i = 0; i < count && thread < engine->base->profile.threads.length; i++) {
        weighing.range.from = fmax(engine->range.from, first.from + (double)i * length);
        weighing.range.to = fmin(engine->range.to, first.from + (double)(i + 1) * length);
        if (weighing.range.from < weighing.range.to)
            totals[i] += sum_thread(engine, &weighing, thread);
    }
}

static int list_threads(const struct engine *engine, struct func_timings *threads, struct error *err)
{
    size_t count = engine->threads.length, known = engine->base->profile.threads.length;
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
        totals[thread] = engine_get_thread_total(engine, thread, engine->weight, engine->table);
        entries[length++] = (struct order_entry){fabs(totals[thread]), thread};
    }
    int code = enough ? order_sort_heaviest_first(entries, length, err) : error_no_memory(err);
    for (size_t i = 0; !code && i < length; i++)
        rows[i] = (struct func_timing){
            .func = entries[i].index, .total = totals[entries[i].index], .self = totals[entries[i].index]};
    if (!code)
        *threads = (struct func_timings){rows, length};
    else
        free(rows);
    free(entries);
    free(totals);
    free(seen);
    return code;
}

int engine_list_groups(struct engine *engine, enum group_kind kind, struct func_timings *groups, struct error *err)
{
    if (kind == GROUP_THREAD)
        return list_threads(engine, groups, err);
    return group_timings_compute(groups, &engine->base->profile, engine->nodes, &engine->timings, kind == GROUP_LIBRARY,
                                 engine->stacks->category_count, err);
}
