#include "tree/engine.h"

#include "tree/engine_state.h"

#include "tree/name_order.h"
#include "tree/transform_stacks.h"
#include "tree/weight_list.h"

/* ---- life ---- */

/* Adds the func "(not running)", for time in which the thread did not run. */
static int add_not_running(struct engine_base *base, struct error *err)
{
    struct profile *profile = &base->profile;
    base->not_running = PROFILE_NONE;
    if (!profile_has_weight(profile, WEIGH_OFF_CPU_TIME))
        return 0;
    uint32_t name = strings_add_z(&profile->strings, "(not running)");
    uint32_t func = name == PROFILE_NONE ? name : profile_add_func(profile, name, PROFILE_NONE);
    uint32_t frame = func == PROFILE_NONE ? func : profile_add_frame(profile, func, PROFILE_NONE, -1);
    if (frame == PROFILE_NONE)
        return error_no_memory(err);
    if (base->idle_category != PROFILE_NONE) {
        profile->frames.category[frame] = base->idle_category;
        profile->frames.subcategory[frame] = 0;
    }
    base->not_running = profile_add_stack(profile, PROFILE_NONE, frame);
    return base->not_running == PROFILE_NONE ? error_no_memory(err) : 0;
}

static void base_free(struct engine_base *base)
{
    call_nodes_destroy(&base->whole_nodes);
    stack_view_destroy(&base->whole);
    free(base->name_ranks);
    state_cache_destroy(&base->states, base->profile.threads.length);
    slices_by_cpu_destroy(&base->slices);
    profile_destroy(&base->profile);
    free(base);
}

struct engine *engine_share(const struct engine *engine, struct error *err)
{
    struct engine *other = calloc(1, sizeof(*other));
    if (!other) {
        error_no_memory(err);
        return NULL;
    }
    other->base = engine->base;
    other->base->users++;
    other->stacks = &other->base->whole;
    other->nodes = &other->base->whole_nodes;
    return other;
}

struct engine *engine_new(struct profile *profile, struct error *err)
{
    struct engine_base *base = calloc(1, sizeof(*base));
    if (!base) {
        error_no_memory(err);
        profile_destroy(profile);
        return NULL;
    }
    base->profile = *profile;
    *profile = (struct profile){0};
    base->idle_category = find_idle_category(&base->profile);
    base->has_waits = profile_has_waits(&base->profile);
    int code = add_not_running(base, err);
    if (!code)
        code = stack_view_init(&base->whole, &base->profile, err);
    if (!code)
        code = call_nodes_init(&base->whole_nodes, &base->whole, err);
    const struct engine first = {.base = base};
    struct engine *engine = code ? NULL : engine_share(&first, err);
    if (!engine)
        base_free(base);
    return engine;
}

static void destroy_transformed_stacks(struct engine *engine)
{
    call_nodes_destroy(&engine->transformed_nodes);
    stack_view_destroy(&engine->transformed);
}

void engine_free(struct engine *engine)
{
    if (!engine)
        return;
    inverted_destroy(&engine->inverted);
    timings_destroy(&engine->timings);
    matching_nodes_destroy(&engine->query_search);
    matching_nodes_destroy(&engine->activity_search);
    matching_path_destroy(&engine->activity_path);
    stack_weights_destroy(&engine->weights);
    for (int side = 0; side < PROFILE_SIDES; side++)
        stack_weights_destroy(&engine->sides[side]);
    array_free(&engine->threads);
    destroy_transformed_stacks(engine);
    sample_filter_destroy(&engine->filter);
    transform_list_destroy(&engine->transforms);
    if (--engine->base->users == 0)
        base_free(engine->base);
    free(engine);
}

void engine_return_profile(struct engine *engine, struct profile *profile)
{
    struct engine_base *base = engine->base;
    if (base->not_running != PROFILE_NONE) { /* the last rows, which add_not_running() added */
        base->profile.stacks.length--;
        base->profile.frames.length--;
        base->profile.funcs.length--;
    }
    state_cache_destroy(&base->states, base->profile.threads.length);
    slices_by_cpu_destroy(&base->slices);
    *profile = base->profile;
    profile_init(&base->profile);
    engine_free(engine);
}

const struct profile *engine_get_profile(const struct engine *engine)
{
    return &engine->base->profile;
}

const struct sample_table *engine_get_samples(const struct engine *engine, uint32_t thread)
{
    return sample_filter_get_samples(&engine->filter, &engine->base->profile, thread);
}

const struct stack_view *engine_get_stacks(const struct engine *engine)
{
    return engine->stacks;
}

const struct call_nodes *engine_get_nodes(const struct engine *engine)
{
    return engine->nodes;
}

const struct timings *engine_get_timings(const struct engine *engine)
{
    return &engine->timings;
}

bool engine_has_waits(const struct engine *engine)
{
    return engine->base->has_waits;
}

uint32_t engine_get_idle_category(const struct engine *engine)
{
    return engine->base->idle_category;
}

static void extend_range(struct time_range *range, double from, double to)
{
    range->from = fmin(range->from, from); /* fmin() and fmax() ignore a NAN */
    range->to = fmax(range->to, to);
}

/* Widens the range by the markers and, as the Firefox Profiler does, by one interval: a thread without samples has
 * the range of its markers. */
static void extend_range_by_markers(struct time_range *range, const struct marker_table *markers, double interval)
{
    enum { INTERVAL = 1, END = 3 }; /* phases */
    for (size_t i = 0; i < markers->length; i++) {
        if (markers->phase[i] != END)
            extend_range(range, markers->start[i], markers->start[i] + interval);
        if (markers->phase[i] == INTERVAL || markers->phase[i] == END)
            extend_range(range, markers->end[i], markers->end[i] + interval);
    }
}

struct time_range engine_get_full_range(const struct engine *engine)
{
    const struct profile_meta *meta = &engine->base->profile.meta;
    struct time_range range = {INFINITY, -INFINITY};
    for (size_t i = 0; i < engine->base->profile.threads.length; i++) {
        const struct thread *thread = &engine->base->profile.threads.data[i];
        if (thread->samples.length == 0)
            extend_range_by_markers(&range, &thread->markers, meta->interval);
        for (int kind = TABLE_SAMPLES; kind < SAMPLE_TABLES; kind++) {
            const struct sample_table *table = thread_samples(thread, (enum sample_table_kind)kind);
            if (table->length)
                extend_range(&range, table->time[0], table->time[table->length - 1] + meta->interval);
        }
    }
    if (!isnan(meta->profiling_start) && !isnan(meta->profiling_end) && meta->profiling_start < meta->profiling_end)
        range = (struct time_range){meta->profiling_start, meta->profiling_end};
    return range.from < range.to ? range : (struct time_range){0, meta->interval > 0 ? meta->interval : 1};
}

struct time_range engine_get_queried_range(const struct engine *engine)
{
    const struct time_range full = engine_get_full_range(engine);
    return (struct time_range){fmax(full.from, engine->range.from), fmin(full.to, engine->range.to)};
}

/* ---- the transforms ---- */

/* The inverted tree grows from the timings as the user expands it. */
static void forget_inverted(struct engine *engine)
{
    if (engine->has_inverted)
        inverted_destroy(&engine->inverted);
    engine->has_inverted = false;
}

/* Drops the results of earlier queries that refer to nodes by number. */
static void forget_nodes(struct engine *engine)
{
    forget_inverted(engine);
    engine->has_timings = false;
    matching_nodes_destroy(&engine->query_search);
    matching_nodes_destroy(&engine->activity_search);
    matching_path_destroy(&engine->activity_path);
    engine->stacks = &engine->base->whole;
    engine->nodes = &engine->base->whole_nodes;
}

/* Computes the stacks after all transforms. Starts from engine->transformed if its stacks have the first `done`
 * transforms, else from the profile. */
static int transform_stacks(struct engine *engine, size_t done, struct error *err)
{
    int code = 0;
    call_nodes_destroy(&engine->transformed_nodes);
    if (done == 0) {
        stack_view_destroy(&engine->transformed);
        code = stack_view_derive(&engine->transformed, &engine->base->whole, err);
    }
    for (size_t i = done; !code && i < engine->transforms.items.length; i++)
        code =
            stack_view_transform(&engine->transformed, &engine->base->profile, &engine->transforms.items.data[i], err);
    if (!code)
        code = stack_view_find_used(&engine->transformed, err);
    if (!code)
        code = call_nodes_init(&engine->transformed_nodes, &engine->transformed, err);
    return code;
}

static int update_stacks(struct engine *engine, const struct transform *transforms, size_t count, struct error *err)
{
    size_t before = engine->transforms.items.length;
    size_t common = transform_list_measure_common(&engine->transforms, transforms, count);
    if (common == before && common == count)
        return 0;
    forget_nodes(engine);
    int code = transform_list_replace(&engine->transforms, common, transforms, count, err);
    if (!code && count)
        code = transform_stacks(engine, common == before ? common : 0, err);
    if (code || !count) {
        destroy_transformed_stacks(engine);
        transform_list_destroy(&engine->transforms);
        return code;
    }
    engine->stacks = &engine->transformed;
    engine->nodes = &engine->transformed_nodes;
    return 0;
}

static int update_filter(struct engine *engine, const struct tree_query *query, const struct transform *transforms,
                         size_t count, struct error *err)
{
    const struct filter_request request = {
        transforms,  count, query->threads, query->thread_count, count ? engine_get_full_range(engine) : whole_time,
        query->range};
    bool changed = false;
    int code = sample_filter_update(&engine->filter, &engine->base->profile, &request, &changed, err);
    if (changed)
        engine->has_weights = false;
    return code;
}

/* Marker transforms select samples independently of stacks, so the sample filter applies them. */
int engine_set_transforms(struct engine *engine, const struct tree_query *query, struct error *err)
{
    size_t of_stacks = 0, of_markers = query->transform_count;
    struct transform *transforms = malloc((query->transform_count + 1) * sizeof(*transforms));
    if (!transforms)
        return error_no_memory(err);
    for (size_t i = 0; i < query->transform_count; i++)
        if (query->transforms[i].kind == TRANSFORM_FILTER_MARKERS)
            transforms[--of_markers] = query->transforms[i];
        else
            transforms[of_stacks++] = query->transforms[i];
    int code = update_stacks(engine, transforms, of_stacks, err);
    if (!code)
        code = update_filter(engine, query, transforms + of_markers, query->transform_count - of_markers, err);
    free(transforms);
    return code;
}

/* ---- the query ---- */

struct weighing engine_get_weighing(const struct engine *engine)
{
    return (struct weighing){.threads = engine->threads.data,
                             .thread_count = engine->threads.length,
                             .range = engine->range,
                             .weight = engine->weight,
                             .table = engine->table,
                             .samples = (const struct sample_table(*)[SAMPLE_TABLES])engine->filter.samples,
                             .not_running = engine->base->not_running};
}

size_t engine_count_intervals(const struct engine *engine, enum profile_side side)
{
    return engine->filter.intervals[side];
}

struct compared_request engine_get_compared_request(const struct engine *engine)
{
    const struct profile *profile = &engine->base->profile;
    struct compared_request request = {.is_comparison = profile_is_comparison(profile),
                                       .compared = engine->compared,
                                       .scale = engine->scale > 0 ? engine->scale : profile->meta.comparison.scale};
    for (int side = 0; side < PROFILE_SIDES; side++)
        request.parts[side] = engine->filter.intervals[side] ? (double)engine->filter.intervals[side]
                                                             : profile->meta.comparison.runs[side];
    return request;
}

static int update_weights(struct engine *engine, const struct tree_query *query, struct error *err)
{
    if (engine->has_weights && array_equals(&engine->threads, query->threads, query->thread_count) &&
        engine->range.from == query->range.from && engine->range.to == query->range.to &&
        engine->weight == query->weight && engine->table == query->table && engine->compared == query->compared &&
        engine->scale == query->scale)
        return 0;
    engine->has_weights = engine->has_timings = false;
    engine->threads.length = 0;
    if (!array_reserve(&engine->threads, query->thread_count))
        return error_no_memory(err);
    for (size_t i = 0; i < query->thread_count; i++)
        engine->threads.data[engine->threads.length++] = query->threads[i];
    engine->range = query->range;
    engine->weight = query->weight;
    engine->table = query->table;
    engine->compared = query->compared;
    engine->scale = query->scale;
    const struct weighing weighing = engine_get_weighing(engine);
    const struct compared_request request = engine_get_compared_request(engine);
    int code = sum_compared_weights(&engine->weights, engine->sides, &engine->base->profile, &weighing, &request, err);
    engine->has_weights = code == 0;
    return code;
}

static int update_search(struct engine *engine, const struct tree_query *query, struct error *err)
{
    bool searching = query->search_length > 0;
    if (searching == engine->is_searching &&
        (!searching || matching_nodes_belong_to(&engine->query_search, query->search, query->search_length)))
        return 0;
    engine->has_timings = false;
    engine->is_searching = searching;
    return searching ? matching_nodes_update(&engine->query_search, &engine->base->profile, engine->nodes,
                                             query->search, query->search_length, err)
                     : 0;
}

const uint8_t *engine_get_matching_nodes(const struct engine *engine)
{
    return engine->is_searching ? engine->query_search.matching : NULL;
}

bool engine_func_matches(const struct engine *engine, uint32_t func)
{
    return !engine->is_searching || engine->query_search.matched_func[func];
}

int engine_get_name_ranks(struct engine *engine, const uint32_t **ranks, struct error *err)
{
    int code =
        engine->base->name_ranks ? 0 : rank_funcs_by_name(&engine->base->profile, &engine->base->name_ranks, err);
    *ranks = engine->base->name_ranks;
    return code;
}

static int update_timings(struct engine *engine, struct error *err)
{
    if (engine->has_timings)
        return 0;
    forget_inverted(engine);
    const struct compared_request request = engine_get_compared_request(engine);
    int code = compute_compared_timings(&engine->timings, engine->nodes, &engine->weights, engine->sides,
                                        engine_get_matching_nodes(engine), &request, err);
    engine->has_timings = code == 0;
    return code;
}

int engine_set_query(struct engine *engine, const struct tree_query *query, struct error *err)
{
    engine->is_inverted = false;
    int code = engine_set_transforms(engine, query, err);
    if (!code)
        code = update_weights(engine, query, err);
    if (!code)
        code = update_search(engine, query, err);
    if (!code)
        code = update_timings(engine, err);
    if (!code && query->inverted && !engine->has_inverted) {
        code = inverted_init(&engine->inverted, engine->nodes, &engine->timings, engine->stacks->default_category, err);
        engine->has_inverted = code == 0;
    }
    engine->is_inverted = !code && query->inverted;
    return code;
}

size_t engine_count_nodes(const struct engine *engine)
{
    if (engine->is_inverted)
        return engine->inverted.root_count;
    size_t count = 0;
    for (size_t node = 0; node < engine->timings.length; node++)
        count += engine->timings.alive[node];
    return count;
}

/* ---- details, functions ---- */

struct counted_stacks engine_get_counted_stacks(const struct engine *engine)
{
    return (struct counted_stacks){engine->stacks, engine->nodes, &engine->weights, engine_get_matching_nodes(engine)};
}

struct counted_stacks engine_get_counted_stacks_of_side(const struct engine *engine, enum profile_side side)
{
    struct counted_stacks counted = engine_get_counted_stacks(engine);
    counted.weights = &engine->sides[side];
    return counted;
}

int engine_compute_details(struct engine *engine, uint32_t node, struct node_details *details, struct error *err)
{
    int code = engine_check_handle(engine, node, err);
    if (code)
        return code;
    struct counted_stacks counted = engine_get_counted_stacks(engine);
    struct node_path path = {0};
    if (engine->is_inverted)
        code = engine_read_path(engine, node, &path, err);
    const struct details_subject subject = {.path = path.data, .path_length = path.length, .node = node};
    if (!code)
        code = node_details_compute(details, &engine->base->profile, &counted, &subject, err);
    array_free(&path);
    return code;
}

int engine_compute_function_details(struct engine *engine, uint32_t func, struct node_details *details,
                                    struct error *err)
{
    struct counted_stacks counted = engine_get_counted_stacks(engine);
    const struct details_subject subject = {.node = NODE_NONE, .func = func};
    return node_details_compute(details, &engine->base->profile, &counted, &subject, err);
}

int engine_compute_butterfly(const struct engine *engine, struct butterfly_focus focus, struct butterfly *butterfly,
                             struct error *err)
{
    return butterfly_init(butterfly, &engine->base->profile, engine->nodes, &engine->timings,
                          engine->stacks->default_category, focus, err);
}

enum recursion engine_find_recursion(const struct engine *engine, uint32_t func)
{
    const struct call_nodes *nodes = engine->nodes;
    enum recursion found = RECURSION_NONE;
    uint32_t outermost_end = 0;
    for (uint32_t node = 0; node < nodes->length; node++) {
        if (nodes->func[node] != func || !engine->timings.alive[node])
            continue;
        if (node >= outermost_end)
            outermost_end = nodes->end[node];
        else if (nodes->func[nodes->prefix[node]] == func)
            return RECURSION_DIRECT;
        else
            found = RECURSION_INDIRECT;
    }
    return found;
}
