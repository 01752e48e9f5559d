/*
 * Any bytes as two profiles to compare: the first byte chooses the options, a byte 0x1e separates them; without one a
 * profile is compared with itself. A comparison satisfies the invariants of a profile; the runs or blocks of its
 * verdicts add up to the total of each side; and a profile compared with itself has no changes.
 */
#include "profile/compare.h"
#include "profile/match_funcs.h"
#include "support/profile_text.h"
#include "tree/changes.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct error err;

static void must(bool is_so)
{
    if (!is_so)
        abort();
}

static bool is_near(double value, double wanted)
{
    return !isfinite(value) || !isfinite(wanted) || fabs(value - wanted) <= 1e-6 * (1 + fabs(wanted));
}

static void check_units(struct engine *engine)
{
    const struct timings *timings = engine_get_timings(engine);
    size_t funcs = engine_get_nodes(engine)->func_count;
    uint32_t *group_of_func = calloc(funcs + 1, sizeof(*group_of_func)); /* all in one */
    struct unit_weights weights;
    struct func_changes changes;
    must(group_of_func && unit_weights_sum(&weights, engine, group_of_func, 1, FUNCS_BY_TOTAL, &err) == 0);
    for (int side = 0; side < PROFILE_SIDES; side++) {
        double sum = 0, magnitude = 0;
        for (size_t i = 0; i < weights.count[side]; i++) {
            sum += weights.all[side][i];
            magnitude += fabs(weights.all[side][i]);
        }
        if (weights.are_runs)
            sum /= (double)weights.count[side];
        must(magnitude > 1e9 || is_near(sum, timings->sides[side].root_total));
    }
    unit_weights_destroy(&weights);
    free(group_of_func);
    for (int order = FUNCS_BY_SELF; order <= FUNCS_BY_TOTAL; order++) {
        must(func_changes_find(&changes, engine, (enum func_order)order, &err) == 0);
        func_changes_destroy(&changes);
    }
}

static void check_comparison(struct profile *compared, bool is_same)
{
    struct engine *engine = engine_new(compared, &err);
    must(engine != NULL);
    const struct profile *profile = engine_get_profile(engine);
    uint32_t *threads = malloc((profile->threads.length + 1) * sizeof(*threads));
    must(threads != NULL);
    for (uint32_t i = 0; i < profile->threads.length; i++)
        threads[i] = i;
    const struct tree_query query = {.threads = threads,
                                     .thread_count = profile->threads.length,
                                     .range = whole_time,
                                     .search = "",
                                     .weight = WEIGH_RECORDED};
    must(engine_set_query(engine, &query, &err) == 0);
    const struct timings *timings = engine_get_timings(engine);
    must(timings->sides != NULL);
    for (size_t i = 0; is_same && i < timings->length; i++)
        must(is_near(timings->self[i], 0));
    check_units(engine);
    free(threads);
    engine_free(engine);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 2)
        return 0;
    const uint8_t *at[PROFILE_SIDES] = {bytes + 1, bytes + 1}, *separator = memchr(bytes + 1, 0x1e, size - 1);
    size_t lengths[PROFILE_SIDES] = {size - 1, size - 1};
    if (separator) {
        lengths[SIDE_BASE] = (size_t)(separator - at[SIDE_BASE]);
        at[SIDE_NEW] = separator + 1;
        lengths[SIDE_NEW] = (size_t)(bytes + size - at[SIDE_NEW]);
    }
    struct profile profiles[PROFILE_SIDES] = {{.meta = {0}}, {.meta = {0}}}, compared;
    struct compare_input inputs[PROFILE_SIDES];
    bool is_cut = bytes[0] & 4;
    for (int side = 0; side < PROFILE_SIDES; side++) {
        if (lengths[side] && read_bytes((const char *)at[side], lengths[side], 4096, &profiles[side], &err) == 0) {
            inputs[side] = (struct compare_input){
                &profiles[side], "x", (enum profile_side)side, -INFINITY, is_cut && side ? bytes[0] : INFINITY, NULL};
            continue;
        }
        if (side)
            profile_destroy(&profiles[SIDE_BASE]);
        return 0;
    }
    if (profile_compare(&compared, inputs, PROFILE_SIDES, bytes[0] % 4, &err)) {
        must(err.text[0] != '\0');
        return 0;
    }
    must(profile_check(&compared, &err) == 0);
    if (comparison_set_scale(&compared, (enum compare_by)((bytes[0] >> 3) % (COMPARE_BY_FUNCTION + 1)), "a", &err))
        comparison_set_scale(&compared, COMPARE_BY_NONE, NULL, &err);
    check_comparison(&compared, !separator && !is_cut);
    return 0;
}
