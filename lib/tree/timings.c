#include "tree/timings.h"

#include "base/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* False if memory ran out. */
static bool reserve(struct timings *timings, size_t length)
{
    if (timings->length == length && timings->self)
        return true;
    timings_destroy(timings);
    timings->self = malloc((length + 1) * sizeof(*timings->self));
    timings->total = malloc((length + 1) * sizeof(*timings->total));
    timings->alive = malloc((length + 1) * sizeof(*timings->alive));
    if (!timings->self || !timings->total || !timings->alive) {
        timings_destroy(timings);
        return false;
    }
    timings->length = length;
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
    if (!reserve(timings, nodes->length))
        return error_no_memory(err);
    timings->root_total = 0;
    sum_self(timings, nodes->of_sample, weights, matching);
    sum_total(timings, nodes);
    return 0;
}

void timings_destroy(struct timings *timings)
{
    free(timings->self);
    free(timings->total);
    free(timings->alive);
    *timings = (struct timings){0};
}

/* ---- the function list ---- */

/*
 * Nodes are in depth-first order, so a node lies inside an earlier node of the same group (func, library, category)
 * exactly if its number is below the end of the last outermost node of that group.
 */
static void sum_by_group(struct func_timing *row_of_group, uint8_t *seen, uint32_t *outermost_end,
                         const struct call_nodes *nodes, const struct timings *timings, const uint32_t *group_of_node)
{
    for (uint32_t node = 0; node < nodes->length; node++) {
        uint32_t group = group_of_node[node];
        if (!timings->alive[node])
            continue;
        seen[group] = 1;
        row_of_group[group].self += timings->self[node];
        if (node >= outermost_end[group]) {
            outermost_end[group] = nodes->end[node];
            row_of_group[group].total += timings->total[node];
        }
    }
}

static int compare_magnitudes(double a, double b)
{
    return (fabs(a) < fabs(b)) - (fabs(a) > fabs(b));
}

static int compare_by_self(const void *left, const void *right)
{
    const struct func_timing *a = left, *b = right;
    int self = compare_magnitudes(a->self, b->self), total = compare_magnitudes(a->total, b->total);
    return self ? self : total ? total : ORDER(a->func, b->func);
}

static int compare_by_total(const void *left, const void *right)
{
    const struct func_timing *a = left, *b = right;
    int total = compare_magnitudes(a->total, b->total);
    return total ? total : compare_by_self(left, right);
}

static int sum_groups(struct func_timings *rows, const struct call_nodes *nodes, const struct timings *timings,
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
            if (seen[group])
                all[rows->length++] = (struct func_timing){group, all[group].total, all[group].self};
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
    return sum_groups(rows, nodes, timings, nodes->func, nodes->func_count, order, err);
}

static uint32_t library_of(const struct profile *profile, uint32_t func)
{
    uint32_t resource =
        func < profile->funcs.length ? profile->funcs.resource[func] : func - func_of_resource(profile, 0);
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
        group_of_node[node] = are_libraries ? library_of(profile, nodes->func[node]) : nodes->category[node];
    int code =
        sum_groups(rows, nodes, timings, group_of_node, are_libraries ? none + 1 : category_count, FUNCS_BY_SELF, err);
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
