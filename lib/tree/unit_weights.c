#include "tree/unit_weights.h"

#include "tree/engine_state.h"

enum { MOST_BLOCKS = 200, LEAST_INTERVALS = 10 };
enum {
    MOST_IN_ROWS = 1 << 19,
    WORTH_A_ROW = 16
}; /* limit of the numbers in all rows; a node with fewer samples gets no row */

struct summing {
    struct unit_weights *weights;
    const struct engine *engine;
    const struct call_nodes *nodes;
    const uint32_t *group_of_func;
    uint32_t *counted; /* for each node, the node or nearest caller that counts for the total of a group, or NODE_NONE.
                        * NULL: self is summed */
    uint32_t *row;     /* for each node, the row of the node in `units`, or UINT32_MAX for none */
    double *rows[PROFILE_SIDES];
    double start, block, factor; /* length of a block, ms; factor for the weights of the thread */
    enum profile_side side;      /* of the thread */
    size_t first_unit;           /* of its run */
    size_t blocks;               /* number of units of each run, or 1 (the runs are the units) */
    uint32_t thread;
    double least[PROFILE_SIDES];
};

/* ---- nodes of groups ---- */

static uint32_t find_node_group(const struct summing *summing, uint32_t node)
{
    return summing->group_of_func[summing->nodes->func[node]];
}

static uint32_t find_counted_caller(const struct summing *summing, uint32_t node)
{
    uint32_t prefix = summing->nodes->prefix[node];
    return prefix == NODE_NONE ? NODE_NONE : summing->counted[prefix];
}

/* A node inside another node of its group does not count again. Nodes are in depth-first order: see timings.c. */
static bool find_counted(struct summing *summing)
{
    const struct call_nodes *nodes = summing->nodes;
    uint32_t *outermost_end = calloc(summing->weights->groups + 1, sizeof(*outermost_end));
    for (uint32_t node = 0; outermost_end && node < nodes->length; node++) {
        uint32_t group = find_node_group(summing, node);
        bool counts = group != PROFILE_NONE && node >= outermost_end[group];
        if (counts)
            outermost_end[group] = nodes->end[node];
        summing->counted[node] = counts ? node : find_counted_caller(summing, node);
    }
    free(outermost_end);
    return outermost_end != NULL;
}

/* Returns the sum of both sides for a node. */
static double get_node_weight(const struct timings *timings, uint32_t node)
{
    return fabs(timings->sides[SIDE_BASE].total[node]) + fabs(timings->sides[SIDE_NEW].total[node]);
}

/* Adds rows for the heaviest nodes, at most `most`; returns the number of rows. */
static uint32_t choose_rows(struct summing *summing, size_t most)
{
    const struct timings *timings = engine_get_timings(summing->engine);
    const struct timings *base = &timings->sides[SIDE_BASE], *new = &timings->sides[SIDE_NEW];
    double samples = (double)(base->samples + new->samples), count = most + 1.0;
    double least = samples > 0 ? WORTH_A_ROW * (base->root_total + new->root_total) / samples : INFINITY;
    for (; count > (double)most && !isinf(least); least *= 2) {
        count = 0;
        for (uint32_t node = 0; node < summing->nodes->length; node++) {
            bool has_row = summing->counted[node] == node && get_node_weight(timings, node) >= least;
            summing->row[node] = has_row ? (uint32_t)count++ : UINT32_MAX;
        }
    }
    if (count <= (double)most)
        return (uint32_t)count;
    memset(summing->row, 0xff, summing->nodes->length * sizeof(*summing->row));
    return 0;
}

static bool tree_init(struct summing *summing)
{
    const struct unit_weights *weights = summing->weights;
    size_t nodes = summing->nodes->length, units = weights->count[SIDE_BASE] + weights->count[SIDE_NEW];
    summing->counted = malloc((nodes + 1) * sizeof(*summing->counted));
    summing->row = malloc((nodes + 1) * sizeof(*summing->row));
    if (!summing->counted || !summing->row || !find_counted(summing))
        return false;
    memset(summing->row, 0xff, (nodes + 1) * sizeof(*summing->row));
    size_t rows = choose_rows(summing, MOST_IN_ROWS / (units + 1));
    for (int side = 0; side < PROFILE_SIDES; side++)
        summing->rows[side] = calloc(rows * weights->count[side] + 1, sizeof(double));
    return summing->rows[SIDE_BASE] && summing->rows[SIDE_NEW];
}

static void tree_destroy(struct summing *summing)
{
    free(summing->counted);
    free(summing->row);
    for (int side = 0; side < PROFILE_SIDES; side++)
        free(summing->rows[side]);
}

static void add_units(double *to, const double *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] += from[i];
}

/* Adds each row to its group and to its caller, whose number is smaller. */
static void add_rows(struct summing *summing)
{
    const struct unit_weights *weights = summing->weights;
    for (uint32_t node = (uint32_t)summing->nodes->length; node-- > 0;) {
        if (summing->row[node] == UINT32_MAX)
            continue;
        uint32_t at = node;
        do {
            for (int side = 0; side < PROFILE_SIDES; side++) {
                size_t count = weights->count[side];
                add_units(weights->of_groups[side] + find_node_group(summing, at) * count,
                          summing->rows[side] + summing->row[node] * count, count);
            }
            at = find_counted_caller(summing, at);
        } while (at != NODE_NONE && summing->row[at] == UINT32_MAX);
        for (int side = 0; at != NODE_NONE && side < PROFILE_SIDES; side++) {
            size_t count = weights->count[side];
            add_units(summing->rows[side] + summing->row[at] * count, summing->rows[side] + summing->row[node] * count,
                      count);
        }
    }
}

/* ---- pass over samples ---- */

static size_t find_unit(const struct summing *summing, double time)
{
    const struct sample_filter *filter = &summing->engine->filter;
    if (summing->weights->are_intervals)
        return sample_filter_get_interval(filter, summing->thread, time) * summing->weights->count[summing->side] /
               filter->times_of_side[summing->side];
    size_t block = summing->blocks > 1 ? (size_t)fmax(0, (time - summing->start) / summing->block) : 0;
    return summing->first_unit + (block < summing->blocks ? block : summing->blocks - 1);
}

static void add_sample(void *context, uint32_t stack, double weight, double time)
{
    struct summing *summing = context;
    struct unit_weights *weights = summing->weights;
    double value = weight * summing->factor;
    size_t count = weights->count[summing->side], unit = find_unit(summing, time);
    if (value == 0)
        return;
    summing->least[summing->side] = fmin(summing->least[summing->side], fabs(value));
    weights->all[summing->side][unit] += value;
    uint32_t leaf = summing->nodes->of_stack[stack];
    double *of_groups = weights->of_groups[summing->side];
    if (!summing->counted) {
        uint32_t group = find_node_group(summing, leaf);
        if (group != PROFILE_NONE)
            of_groups[group * count + unit] += value;
        return;
    }
    for (uint32_t at = summing->counted[leaf]; at != NODE_NONE; at = find_counted_caller(summing, at)) {
        if (summing->row[at] != UINT32_MAX) {
            summing->rows[summing->side][summing->row[at] * count + unit] += value;
            break;
        }
        of_groups[find_node_group(summing, at) * count + unit] += value;
    }
}

static bool reserve_sums(struct unit_weights *weights)
{
    bool enough = true;
    for (int side = 0; enough && side < PROFILE_SIDES; side++) {
        weights->of_groups[side] = calloc(weights->groups * weights->count[side] + 1, sizeof(double));
        weights->all[side] = calloc(weights->count[side] + 1, sizeof(double));
        enough = weights->of_groups[side] && weights->all[side];
    }
    return enough;
}

static void sum_thread(struct summing *summing, uint32_t thread)
{
    const struct engine *engine = summing->engine;
    const struct profile *profile = engine_get_profile(engine);
    const struct thread *row = &profile->threads.data[thread];
    const struct profile_comparison *comparison = &profile->meta.comparison;
    if (row->run >= comparison->runs[row->side])
        return;
    summing->side = (enum profile_side)row->side;
    summing->thread = thread;
    summing->first_unit = row->run * summing->blocks;
    /* base weights are negative in a change, and each run contributes its part of the mean */
    summing->factor = (row->side == SIDE_BASE ? -1 : 1) *
                      (summing->weights->are_runs ? (double)summing->weights->count[row->side] : 1);
    engine_weigh_thread(engine, thread, engine->weight, engine->table, add_sample, summing);
}

int unit_weights_sum(struct unit_weights *weights, const struct engine *engine, const uint32_t *group_of_func,
                     size_t groups, enum func_order order, struct error *err)
{
    const struct profile *profile = engine_get_profile(engine);
    const uint32_t *runs = profile->meta.comparison.runs;
    struct time_range range = engine_get_queried_range(engine);
    double length = fmax(range.to - range.from, profile->meta.interval);
    double block = fmax(length / MOST_BLOCKS, LEAST_INTERVALS * profile->meta.interval);
    const size_t *times = engine->filter.times_of_side;
    bool are_intervals = times[SIDE_BASE] > 1 && times[SIDE_NEW] > 1;
    bool are_runs = are_intervals || (runs[SIDE_BASE] > 1 && runs[SIDE_NEW] > 1);
    struct summing summing = {.weights = weights,
                              .engine = engine,
                              .nodes = engine_get_nodes(engine),
                              .group_of_func = group_of_func,
                              .start = range.from,
                              .block = block,
                              .blocks = are_runs ? 1 : (size_t)ceil(length / block),
                              .least = {INFINITY, INFINITY}};
    *weights = (struct unit_weights){.groups = groups, .are_runs = are_runs, .are_intervals = are_intervals};
    for (int side = 0; side < PROFILE_SIDES; side++)
        weights->count[side] =
            are_intervals ? (times[side] < MOST_BLOCKS ? times[side] : MOST_BLOCKS) : runs[side] * summing.blocks;
    bool enough = reserve_sums(weights) && (order == FUNCS_BY_SELF || tree_init(&summing));
    uint8_t *counted = calloc(profile->threads.length + 1, 1);
    enough = enough && counted;
    for (size_t i = 0; enough && i < engine->threads.length; i++) {
        uint32_t thread = engine->threads.data[i];
        if (thread < profile->threads.length && !counted[thread])
            sum_thread(&summing, thread);
        if (thread < profile->threads.length)
            counted[thread] = 1;
    }
    if (enough && summing.counted)
        add_rows(&summing);
    for (int side = 0; side < PROFILE_SIDES; side++)
        weights->least[side] = isinf(summing.least[side]) ? 0 : summing.least[side];
    free(counted);
    tree_destroy(&summing);
    return enough ? 0 : error_no_memory(err);
}

void unit_weights_destroy(struct unit_weights *weights)
{
    for (int side = 0; side < PROFILE_SIDES; side++) {
        free(weights->of_groups[side]);
        free(weights->all[side]);
    }
    *weights = (struct unit_weights){0};
}

static struct noise_units group_units(const struct unit_weights *weights, int side, const double *values)
{
    return (struct noise_units){values, weights->count[side], weights->are_runs, weights->least[side]};
}

struct change_estimate unit_weights_estimate_change(const struct unit_weights *weights, size_t group)
{
    struct noise_units units[PROFILE_SIDES];
    for (int side = 0; side < PROFILE_SIDES; side++)
        units[side] = group_units(weights, side, weights->of_groups[side] + group * weights->count[side]);
    return estimate_change(&units[SIDE_BASE], &units[SIDE_NEW]);
}

struct change_estimate unit_weights_estimate_change_of_all(const struct unit_weights *weights)
{
    const struct noise_units base = group_units(weights, SIDE_BASE, weights->all[SIDE_BASE]);
    const struct noise_units new = group_units(weights, SIDE_NEW, weights->all[SIDE_NEW]);
    return estimate_change(&base, &new);
}
