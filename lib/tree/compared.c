#include "tree/compared.h"

#include "base/utf8.h"
#include "tree/weight_list.h"

double get_side_factor(const struct compared_request *request, enum profile_side side)
{
    return (side == SIDE_NEW ? request->scale : 1) / request->parts[side];
}

double get_compared_factor(const struct profile *profile, const struct compared_request *request, uint32_t thread)
{
    if (!request->is_comparison || thread >= profile->threads.length)
        return 1;
    enum profile_side side = profile->threads.data[thread].side;
    double factor = get_side_factor(request, side);
    if (side == SIDE_NEW)
        return request->compared == COMPARED_BASE ? 0 : factor;
    return request->compared == COMPARED_NEW ? 0 : request->compared == COMPARED_BASE ? factor : -factor;
}

static int sum_side(struct stack_weights *weights, const struct profile *profile, const struct weighing *weighing,
                    enum profile_side side, const struct compared_request *request, struct error *err)
{
    uint32_t *threads = malloc((weighing->thread_count + 1) * sizeof(*threads));
    if (!threads)
        return error_no_memory(err);
    struct weighing part = *weighing;
    part.threads = threads;
    part.thread_count = 0;
    part.counts_apart = true;
    for (size_t i = 0; i < weighing->thread_count; i++)
        if (weighing->threads[i] < profile->threads.length && profile->threads.data[weighing->threads[i]].side == side)
            threads[part.thread_count++] = weighing->threads[i];
    int code = stack_weights_sum(weights, profile, &part, err);
    double factor = get_side_factor(request, side);
    for (size_t stack = 0; !code && factor != 1 && stack < weights->length; stack++)
        weights->of_stack[stack] *= factor;
    free(threads);
    return code;
}

/* Reuses the memory of `weights`. */
static int subtract_base(struct stack_weights *weights, const struct stack_weights sides[PROFILE_SIDES],
                         struct error *err)
{
    const struct stack_weights *base = &sides[SIDE_BASE], *new = &sides[SIDE_NEW];
    if (weights->length != base->length || !weights->of_stack || !weights->samples) {
        stack_weights_destroy(weights);
        weights->of_stack = malloc((base->length + 1) * sizeof(*weights->of_stack));
        weights->samples = malloc((base->length + 1) * sizeof(*weights->samples));
        if (!weights->of_stack || !weights->samples) {
            stack_weights_destroy(weights);
            return error_no_memory(err);
        }
        weights->length = base->length;
    }
    for (size_t stack = 0; stack < base->length; stack++) {
        weights->of_stack[stack] = new->of_stack[stack] - base->of_stack[stack];
        weights->samples[stack] = new->samples[stack] + base->samples[stack];
    }
    return 0;
}

int sum_compared_weights(struct stack_weights *weights, struct stack_weights sides[PROFILE_SIDES],
                         const struct profile *profile, const struct weighing *weighing,
                         const struct compared_request *request, struct error *err)
{
    if (!request->is_comparison)
        return stack_weights_sum(weights, profile, weighing, err);
    if (request->compared != COMPARED_CHANGE)
        return sum_side(weights, profile, weighing, request->compared == COMPARED_BASE ? SIDE_BASE : SIDE_NEW, request,
                        err);
    int code = 0;
    for (int side = 0; !code && side < PROFILE_SIDES; side++)
        code = sum_side(&sides[side], profile, weighing, (enum profile_side)side, request, err);
    return code ? code : subtract_base(weights, sides, err);
}

int compute_compared_timings(struct timings *timings, const struct call_nodes *nodes,
                             const struct stack_weights *weights, const struct stack_weights sides[PROFILE_SIDES],
                             const uint8_t *matching, const struct compared_request *request, struct error *err)
{
    if (!request->is_comparison || request->compared != COMPARED_CHANGE)
        return timings_compute(timings, nodes, weights, matching, err);
    struct timings of_sides[PROFILE_SIDES] = {{0}, {0}};
    int code = 0;
    for (int side = 0; !code && side < PROFILE_SIDES; side++)
        code = timings_compute(&of_sides[side], nodes, &sides[side], matching, err);
    if (!code)
        return timings_set_change(timings, of_sides, nodes, err);
    for (int side = 0; side < PROFILE_SIDES; side++)
        timings_destroy(&of_sides[side]);
    return code;
}

/* ---- the scale ---- */

double *measure_wall_times(const struct profile *profile, enum profile_side side)
{
    uint32_t runs = profile->meta.comparison.runs[side];
    double *ends = calloc((size_t)runs + 1, sizeof(*ends));
    for (size_t i = 0; ends && i < profile->threads.length; i++) {
        const struct thread *thread = &profile->threads.data[i];
        size_t length = thread->samples.length;
        double last = length ? thread->samples.time[length - 1] : 0;
        bool is_cut_off = thread->start > thread->end; /* -1: the thread lived outside the compared range */
        if (thread->side == side && thread->run < runs && !is_cut_off)
            ends[thread->run] = fmax(ends[thread->run], fmax(last, thread->end));
    }
    return ends;
}

/* The mean wall time of one run of a side, ms. */
static int compute_mean_wall_time(const struct profile *profile, enum profile_side side, double *mean,
                                  struct error *err)
{
    uint32_t runs = profile->meta.comparison.runs[side];
    double *times = measure_wall_times(profile, side), sum = 0;
    if (!times)
        return error_no_memory(err);
    for (uint32_t run = 0; run < runs; run++)
        sum += times[run];
    free(times);
    *mean = sum / runs;
    return 0;
}

enum { MOST_NAMED = 6 };

static bool is_listed(const char *const names[MOST_NAMED], size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Fails with an error that lists some of the function names that contain `part`. */
static int fail_ambiguous(const struct profile *profile, const char *part, struct error *err)
{
    const char *names[MOST_NAMED];
    char list[512] = "";
    size_t length = 0, named = 0, more = 0;
    for (size_t i = 0; i < profile->funcs.length; i++) {
        const char *own = profile_text(profile, profile->funcs.name[i]);
        if (!strcasestr(own, part) || is_listed(names, named, own))
            continue;
        if (named == MOST_NAMED) {
            more++;
            continue;
        }
        length +=
            (size_t)snprintf(list + length, sizeof(list) - length, "%s%.*s", named ? ", " : "", utf8_cut(own, 60), own);
        names[named++] = own;
    }
    if (more)
        snprintf(list + length, sizeof(list) - length, " and %zu more", more);
    return error_set(err, EINVAL, "several functions match '%s': %s; use the full name", part, list);
}

static int find_function(const struct profile *profile, const char *wanted, const char **name, struct error *err)
{
    const char *fitting = NULL;
    bool are_several = false;
    for (size_t i = 0; i < profile->funcs.length; i++) {
        const char *own = profile_text(profile, profile->funcs.name[i]);
        if (strcmp(own, wanted) == 0) {
            *name = own;
            return 0;
        }
        if (!strcasestr(own, wanted))
            continue;
        are_several |= fitting && strcmp(fitting, own) != 0;
        fitting = own;
    }
    if (are_several)
        return fail_ambiguous(profile, wanted, err);
    *name = fitting;
    return fitting ? 0 : error_set(err, EINVAL, "no function has the name '%s'", wanted);
}

/* Sums the weights of a side; with `is_named`, only the weights of stacks with a marked function. */
static int sum_side_weights(const struct profile *profile, const struct weighing *weighing, enum profile_side side,
                            const uint8_t *is_named, double *sum, struct error *err)
{
    struct stack_weights weights = {0};
    uint8_t *counts = malloc(profile->stacks.length + 1);
    const uint32_t *runs = profile->meta.comparison.runs;
    const struct compared_request request = {true, COMPARED_CHANGE, 1, {runs[SIDE_BASE], runs[SIDE_NEW]}};
    int code = counts ? sum_side(&weights, profile, weighing, side, &request, err) : error_no_memory(err);
    *sum = 0;
    for (size_t stack = 0; !code && stack < weights.length; stack++) {
        uint32_t prefix = profile->stacks.prefix[stack];
        counts[stack] = !is_named || is_named[profile->frames.func[profile->stacks.frame[stack]]] ||
                        (prefix != PROFILE_NONE && counts[prefix]);
        *sum += counts[stack] ? weights.of_stack[stack] : 0;
    }
    stack_weights_destroy(&weights);
    free(counts);
    return code;
}

/* The weight that the page shows first. */
static int find_first_weight(const struct profile *profile, struct weight *weight, struct error *err)
{
    struct weight_list weights = {0};
    int code = list_weights(&weights, profile, err);
    if (!code)
        *weight = weights.data[0];
    array_free(&weights);
    return code;
}

static int sum_both_sides(const struct profile *profile, enum compare_by by, const uint8_t *is_named,
                          double sums[PROFILE_SIDES], struct error *err)
{
    struct weight weight = {.kind = by == COMPARE_BY_CPU_TIME ? WEIGH_CPU_TIME : WEIGH_SAMPLES, .table = TABLE_SAMPLES};
    uint32_t *threads = malloc((profile->threads.length + 1) * sizeof(*threads));
    int code = threads ? 0 : error_no_memory(err);
    if (!code && by == COMPARE_BY_FUNCTION)
        code = find_first_weight(profile, &weight, err);
    for (uint32_t i = 0; !code && i < profile->threads.length; i++)
        threads[i] = i;
    const struct weighing weighing = {.threads = threads,
                                      .thread_count = profile->threads.length,
                                      .range = whole_time,
                                      .weight = weight.kind,
                                      .table = weight.table,
                                      .not_running = PROFILE_NONE};
    for (int side = 0; !code && side < PROFILE_SIDES; side++)
        code = sum_side_weights(profile, &weighing, (enum profile_side)side, is_named, &sums[side], err);
    free(threads);
    return code;
}

static int sum_function(const struct profile *profile, const char *func, double sums[PROFILE_SIDES], struct error *err)
{
    const char *name = NULL;
    uint8_t *is_named = calloc(profile->funcs.length + 1, 1);
    int code = is_named ? find_function(profile, func, &name, err) : error_no_memory(err);
    for (size_t i = 0; !code && i < profile->funcs.length; i++)
        is_named[i] = strcmp(profile_text(profile, profile->funcs.name[i]), name) == 0;
    if (!code)
        code = sum_both_sides(profile, COMPARE_BY_FUNCTION, is_named, sums, err);
    free(is_named);
    return code;
}

static const char *const by_names[] = {[COMPARE_BY_SAMPLES] = "samples",
                                       [COMPARE_BY_CPU_TIME] = "CPU time",
                                       [COMPARE_BY_WALL_TIME] = "wall time",
                                       [COMPARE_BY_FUNCTION] = "function"};

int comparison_find_scale(const struct profile *profile, enum compare_by by, const char *func, double *scale,
                          struct error *err)
{
    double sums[PROFILE_SIDES] = {0, 0};
    int code = 0;
    *scale = 1;
    if (by == COMPARE_BY_NONE)
        return 0;
    if (by == COMPARE_BY_CPU_TIME && !profile_has_weight(profile, WEIGH_CPU_TIME))
        return error_set(err, EINVAL, "the profiles have no CPU times");
    for (int side = 0; !code && by == COMPARE_BY_WALL_TIME && side < PROFILE_SIDES; side++)
        code = compute_mean_wall_time(profile, (enum profile_side)side, &sums[side], err);
    if (by == COMPARE_BY_FUNCTION)
        code = sum_function(profile, func, sums, err);
    else if (by != COMPARE_BY_WALL_TIME)
        code = sum_both_sides(profile, by, NULL, sums, err);
    if (!code && (!(sums[SIDE_BASE] > 0) || !(sums[SIDE_NEW] > 0)))
        code = error_set(err, EINVAL, "cannot scale: the %s side has no %s", sums[SIDE_BASE] > 0 ? "new" : "base",
                         by_names[by]);
    if (!code)
        *scale = sums[SIDE_BASE] / sums[SIDE_NEW];
    return code;
}

int comparison_set_scale(struct profile *profile, enum compare_by by, const char *func, struct error *err)
{
    struct profile_comparison *comparison = &profile->meta.comparison;
    char text[256];
    comparison->scaled_by = PROFILE_NONE;
    int code = by == COMPARE_BY_FUNCTION ? find_function(profile, func, &func, err) : 0;
    if (!code)
        code = comparison_find_scale(profile, by, func, &comparison->scale, err);
    if (code || by == COMPARE_BY_NONE)
        return code;
    snprintf(text, sizeof(text), "%s%s%.*s", by_names[by], func ? " " : "", func ? utf8_cut(func, 200) : 0,
             func ? func : "");
    comparison->scaled_by = strings_add_z(&profile->strings, text);
    return comparison->scaled_by == STRING_NONE ? error_no_memory(err) : 0;
}
