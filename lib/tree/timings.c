#include "tree/timings.h"

#include "base/search.h"

static bool reserve_columns(struct timings *timings, size_t length)
{
    if (timings->length == length && timings->self && !timings->sides)
        return true;
    timings_destroy(timings);
    struct timings made = {.self = malloc((length + 1) * sizeof(*made.self)),
                           .total = malloc((length + 1) * sizeof(*made.total)),
                           .alive = malloc((length + 1) * sizeof(*made.alive)),
                           .length = length};
    bool enough = made.self && made.total && made.alive;
    if (!enough) {
        free(made.self);
        free(made.total);
        free(made.alive);
        return false;
    }
    *timings = made;
    return true;
}

static void sum_self(struct timings *timings, const uint32_t *node_of_sample, const struct stack_weights *weights,
                     const uint8_t *matching)
{
    double samples = 0, all = 0;
    memset(timings->self, 0, timings->length * sizeof(*timings->self));
    for (size_t stack = 0; stack < weights->length; stack++) {
        double weight = weights->of_stack[stack];
        uint32_t count = weights->samples ? weights->samples[stack] : 0;
        if (weight == 0 && count == 0)
            continue;
        uint32_t node = node_of_sample[stack];
        if (node == NODE_NONE)
            continue;
        timings->self[node] += weight;
        all += weights->samples ? count : weight;
        if (!matching || matching[node])
            samples += weights->samples ? count : weight;
    }
    timings->samples = (uint64_t)samples;
    timings->all_samples = (uint64_t)all;
    timings->all_total = 0;
    for (size_t node = 0; node < timings->length; node++) {
        timings->all_total += fabs(timings->self[node]);
        if (matching && !matching[node])
            timings->self[node] = 0;
    }
}

static void sum_total(struct timings *timings, const struct call_nodes *nodes)
{
    for (size_t node = 0; node < timings->length; node++) {
        timings->total[node] = timings->self[node];
        timings->alive[node] = timings->self[node] != 0;
        timings->root_total += fabs(timings->self[node]);
    }
    for (size_t node = timings->length; node-- > 0;) {
        uint32_t prefix = nodes->prefix[node];
        if (prefix != NODE_NONE && timings->alive[node]) {
            timings->total[prefix] += timings->total[node];
            timings->alive[prefix] = 1;
        }
    }
}

int timings_compute(struct timings *timings, const struct call_nodes *nodes, const struct stack_weights *weights,
                    const uint8_t *matching, struct error *err)
{
    if (!reserve_columns(timings, nodes->length))
        return error_no_memory(err);
    timings->root_total = 0;
    sum_self(timings, nodes->of_sample, weights, matching);
    sum_total(timings, nodes);
    return 0;
}

static void free_columns(struct timings *timings)
{
    free(timings->self);
    free(timings->total);
    free(timings->alive);
    free(timings->rank);
}

void timings_destroy(struct timings *timings)
{
    free_columns(timings);
    for (int side = 0; timings->sides && side < PROFILE_SIDES; side++)
        free_columns(&timings->sides[side]);
    free(timings->sides);
    memset(timings, 0, sizeof(*timings));
}

/* ---- comparisons ---- */

static void subtract_base(struct timings *timings, const struct call_nodes *nodes)
{
    const struct timings *base = &timings->sides[SIDE_BASE], *new = &timings->sides[SIDE_NEW];
    for (size_t node = 0; node < timings->length; node++) {
        timings->self[node] = new->self[node] - base->self[node];
        timings->total[node] = new->total[node] - base->total[node];
        timings->alive[node] = new->alive[node] | base->alive[node];
        timings->rank[node] = fabs(timings->total[node]);
    }
    for (size_t node = timings->length; node-- > 0;) {
        uint32_t prefix = nodes->prefix[node];
        if (prefix != NODE_NONE)
            timings->rank[prefix] = fmax(timings->rank[prefix], timings->rank[node]);
    }
    timings->samples = base->samples + new->samples;
    timings->all_samples = base->all_samples + new->all_samples;
    timings->root_total = base->root_total > 0 ? base->root_total : new->root_total;
    timings->all_total = base->all_total > 0 ? base->all_total : new->all_total;
}

int timings_set_change(struct timings *timings, struct timings sides[PROFILE_SIDES], const struct call_nodes *nodes,
                       struct error *err)
{
    size_t length = nodes->length;
    struct timings made = {.self = malloc((length + 1) * sizeof(*made.self)),
                           .total = malloc((length + 1) * sizeof(*made.total)),
                           .alive = malloc((length + 1) * sizeof(*made.alive)),
                           .length = length,
                           .sides = malloc(PROFILE_SIDES * sizeof(*made.sides)),
                           .rank = malloc((length + 1) * sizeof(*made.rank))};
    bool enough = made.self && made.total && made.alive && made.sides && made.rank;
    timings_destroy(timings);
    for (int side = 0; side < PROFILE_SIDES; side++) {
        if (enough)
            made.sides[side] = sides[side];
        else
            timings_destroy(&sides[side]);
        sides[side] = (struct timings){0};
    }
    if (!enough) {
        free_columns(&made);
        free(made.sides);
        return error_no_memory(err);
    }
    subtract_base(&made, nodes);
    *timings = made;
    return 0;
}

/* ---- the function list ---- */

static void add_sides(struct func_timing *row, const struct timings *timings, uint32_t node, bool with_total)
{
    for (int side = 0; side < PROFILE_SIDES; side++) {
        row->sides[side].self += timings->sides[side].self[node];
        row->sides[side].total += with_total ? timings->sides[side].total[node] : 0;
    }
}

/*
 * Nodes are in depth-first order. So a node lies inside an earlier node of the same group (func, library, category) if
 * its number is below the end of the last outermost node of the group.
 */
static void sum_by_group(struct func_timing *row_of_group, uint8_t *seen, uint32_t *outermost_end,
                         const struct call_nodes *nodes, const struct timings *timings, const uint32_t *group_of_node)
{
    for (uint32_t node = 0; node < nodes->length; node++) {
        uint32_t group = group_of_node[node];
        if (!timings->alive[node])
            continue;
        seen[group] = 1;
        bool is_outermost = node >= outermost_end[group];
        if (is_outermost)
            outermost_end[group] = nodes->end[node];
        if (timings->sides)
            add_sides(&row_of_group[group], timings, node, is_outermost);
        row_of_group[group].self += timings->self[node];
        row_of_group[group].total += is_outermost ? timings->total[node] : 0;
    }
}

DEFINE_COMPARE(compare_by_self, struct func_timing,
               ORDER_THEN(fabs(b->self), fabs(a->self),
                          ORDER_THEN(fabs(b->total), fabs(a->total), ORDER(a->func, b->func))))

DEFINE_COMPARE(compare_by_total, struct func_timing,
               ORDER_THEN(fabs(b->total), fabs(a->total),
                          ORDER_THEN(fabs(b->self), fabs(a->self), ORDER(a->func, b->func))))

/* The change of a sum is computed as the difference of the sums, so equal sides give exactly 0 despite rounding. */
static struct func_timing subtract_sides(struct func_timing row, const struct timings *timings)
{
    if (timings->sides) {
        row.total = row.sides[SIDE_NEW].total - row.sides[SIDE_BASE].total;
        row.self = row.sides[SIDE_NEW].self - row.sides[SIDE_BASE].self;
    }
    return row;
}

int sum_node_groups(struct func_timings *rows, const struct call_nodes *nodes, const struct timings *timings,
                    const uint32_t *group_of_node, size_t groups, enum func_order order, struct error *err)
{
    struct func_timing *all = calloc(groups + 1, sizeof(*all));
    uint8_t *seen = calloc(groups + 1, sizeof(*seen));
    uint32_t *outermost_end = calloc(groups + 1, sizeof(*outermost_end));
    bool enough = all && seen && outermost_end;
    *rows = (struct func_timings){0};
    if (enough) {
        sum_by_group(all, seen, outermost_end, nodes, timings, group_of_node);
        for (uint32_t group = 0; group < groups; group++)
            if (seen[group]) {
                struct func_timing row = all[group];
                row.func = group;
                all[rows->length++] = subtract_sides(row, timings);
            }
        qsort(all, rows->length, sizeof(*all), order == FUNCS_BY_SELF ? compare_by_self : compare_by_total);
        rows->rows = all;
    } else {
        free(all);
    }
    free(seen);
    free(outermost_end);
    return enough ? 0 : error_no_memory(err);
}

int func_timings_compute(struct func_timings *rows, const struct call_nodes *nodes, const struct timings *timings,
                         enum func_order order, struct error *err)
{
    return sum_node_groups(rows, nodes, timings, nodes->func, nodes->func_count, order, err);
}

static uint32_t get_func_library(const struct profile *profile, uint32_t func)
{
    uint32_t resource =
        func < profile->funcs.length ? profile->funcs.resource[func] : func - get_resource_func(profile, 0);
    return resource < profile->resources.length ? resource : (uint32_t)profile->resources.length;
}

int group_timings_compute(struct func_timings *rows, const struct profile *profile, const struct call_nodes *nodes,
                          const struct timings *timings, bool are_libraries, uint32_t category_count, struct error *err)
{
    size_t none = profile->resources.length;
    uint32_t *group_of_node = malloc((nodes->length + 1) * sizeof(*group_of_node));
    *rows = (struct func_timings){0};
    if (!group_of_node)
        return error_no_memory(err);
    for (size_t node = 0; node < nodes->length; node++)
        group_of_node[node] = are_libraries ? get_func_library(profile, nodes->func[node]) : nodes->category[node];
    int code = sum_node_groups(rows, nodes, timings, group_of_node, are_libraries ? none + 1 : category_count,
                               FUNCS_BY_SELF, err);
    for (size_t i = 0; are_libraries && i < rows->length; i++)
        if (rows->rows[i].func == none)
            rows->rows[i].func = PROFILE_NONE;
    free(group_of_node);
    return code;
}

void func_timings_destroy(struct func_timings *rows)
{
    free(rows->rows);
    *rows = (struct func_timings){0};
}
