#include "tree/changes.h"

#include "tree/engine_state.h"
#include "tree/weight_list.h"

static const double least_share = 0.005; /* of a side */

static bool is_above_least_value(const struct timings *timings, const struct func_timing *row, enum func_order order)
{
    for (int side = 0; side < PROFILE_SIDES; side++) {
        double value = order == FUNCS_BY_SELF ? row->sides[side].self : row->sides[side].total;
        if (fabs(value) > least_share * timings->sides[side].root_total)
            return true;
    }
    return false;
}

/* Returns the standard deviation of the times of a side's runs. */
static double compute_standard_deviation(const double *runs, size_t count)
{
    double sum = 0, squares = 0, mean;
    for (size_t i = 0; i < count; i++)
        sum += runs[i];
    mean = sum / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (runs[i] - mean) * (runs[i] - mean);
    return count > 1 && mean != 0 ? sqrt(squares / (double)(count - 1)) / fabs(mean) : 0;
}

/* Wall time is the time that a user waits for a run; CPU time may differ. */
int estimate_wall_time_change(struct change_estimate *wall_time, const struct profile *profile, struct error *err)
{
    const uint32_t *runs = profile->meta.comparison.runs;
    bool are_runs = runs[SIDE_BASE] > 1 && runs[SIDE_NEW] > 1;
    double *times[PROFILE_SIDES];
    for (int side = 0; side < PROFILE_SIDES; side++)
        times[side] = measure_wall_times(profile, (enum profile_side)side);
    bool enough = times[SIDE_BASE] && times[SIDE_NEW];
    if (enough) {
        const struct noise_units base = {times[SIDE_BASE], runs[SIDE_BASE], are_runs, 0};
        const struct noise_units new = {times[SIDE_NEW], runs[SIDE_NEW], are_runs, 0};
        *wall_time = estimate_change(&base, &new);
    }
    free(times[SIDE_BASE]);
    free(times[SIDE_NEW]);
    return enough ? 0 : error_no_memory(err);
}

static int estimate_changes(struct func_changes *changes, const struct engine *engine, enum func_order order,
                            size_t groups, struct error *err)
{
    struct unit_weights weights = {0};
    int code = unit_weights_sum(&weights, engine, changes->group_of_func, groups, order, err);
    changes->estimates = code ? NULL : calloc(groups + 1, sizeof(*changes->estimates));
    if (!code && !changes->estimates)
        code = error_no_memory(err);
    for (size_t group = 0; !code && group < groups; group++)
        changes->estimates[group] = unit_weights_estimate_change(&weights, group);
    if (!code) {
        changes->length = groups;
        changes->are_runs = weights.are_runs;
        changes->are_intervals = weights.are_intervals;
        changes->all = unit_weights_estimate_change_of_all(&weights);
        for (int side = 0; changes->are_runs && side < PROFILE_SIDES; side++)
            changes->deviation[side] = compute_standard_deviation(weights.all[side], weights.count[side]);
        changes->has_wall_time = engine->weight == WEIGH_TIME || weight_needs_cpu_times(engine->weight);
        code = judge_function_changes(&changes->all, changes->estimates, groups, err);
    }
    if (!code && changes->has_wall_time)
        code = estimate_wall_time_change(&changes->wall_time, engine_get_profile(engine), err);
    unit_weights_destroy(&weights);
    return code;
}

int func_changes_find(struct func_changes *changes, struct engine *engine, enum func_order order, struct error *err)
{
    const struct timings *timings = engine_get_timings(engine);
    size_t funcs = engine_get_nodes(engine)->func_count, groups = 0;
    *changes = (struct func_changes){.group_of_func = malloc((funcs + 1) * sizeof(*changes->group_of_func))};
    if (!changes->group_of_func)
        return error_no_memory(err);
    if (!timings->sides)
        return error_set(err, EINVAL, "the query selects one side, and changes need both sides of the comparison");
    memset(changes->group_of_func, 0xff, (funcs + 1) * sizeof(*changes->group_of_func));
    int code = engine_list_functions(engine, order, &changes->functions, err);
    for (size_t i = 0; !code && i < changes->functions.length; i++)
        if (is_above_least_value(timings, &changes->functions.rows[i], order))
            changes->group_of_func[changes->functions.rows[i].func] = (uint32_t)groups++;
    return code ? code : estimate_changes(changes, engine, order, groups, err);
}

void func_changes_destroy(struct func_changes *changes)
{
    func_timings_destroy(&changes->functions);
    free(changes->group_of_func);
    free(changes->estimates);
    *changes = (struct func_changes){0};
}

const struct change_estimate *get_func_change(const struct func_changes *changes, uint32_t func)
{
    uint32_t group = changes->group_of_func[func];
    return group == PROFILE_NONE ? NULL : &changes->estimates[group];
}
