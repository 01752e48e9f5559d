/*
 * The activity of threads over time, for the tracks of the timeline.
 */
#include "tree/engine.h"

#include "tree/engine_state.h"

static int check_thread(const struct engine *engine, uint32_t thread, struct error *err)
{
    return thread < engine->base->profile.threads.length
               ? 0
               : error_set(err, EINVAL, "this profile has no thread %u", thread);
}

double engine_measure_thread_activity(const struct engine *engine, uint32_t thread, struct time_range range)
{
    const struct profile *profile = &engine->base->profile;
    if (thread >= profile->threads.length)
        return 0;
    const struct sample_table *samples = &profile->threads.data[thread].samples;
    return samples->cpu_delta ? sum_thread_cpu_time(profile, thread, range)
                              : count_thread_activity(samples, range, &engine->base->whole,
                                                      engine_get_idle_category(engine), &profile->meta);
}

/* Computes the activity of threads over all samples, or over the samples in the query. activity.h describes
 * `matching`. */
static int compute_activity(struct engine *engine, bool is_all, const struct activity_request *wanted,
                            const uint32_t *threads, struct activity *activity, struct error *err)
{
    struct activity_request request = *wanted;
    const struct profile *profile = &engine->base->profile;
    const struct sample_table **samples = calloc(request.thread_count + 1, sizeof(*samples));
    struct wait_rows *waits = calloc(request.thread_count + 1, sizeof(*waits));
    int code = samples && waits ? 0 : error_no_memory(err);
    for (size_t i = 0; !code && i < request.thread_count; i++) {
        code = check_thread(engine, threads[i], err);
        if (code)
            break;
        samples[i] = is_all ? &profile->threads.data[threads[i]].samples : engine_get_samples(engine, threads[i]);
        waits[i] = get_wait_rows(profile, threads[i]);
    }
    request.samples = samples;
    request.waits = waits;
    request.interval = profile->meta.interval;
    if (!code)
        code = activity_compute(activity, is_all ? &engine->base->whole : engine->stacks,
                                is_all ? &engine->base->whole_nodes : engine->nodes, &request, err);
    free(samples);
    free(waits);
    return code;
}

int engine_compute_unfiltered_activity(struct engine *engine, const struct activity_query *query,
                                       struct activity *activity, struct error *err)
{
    const struct activity_request request = {
        .thread_count = query->thread_count, .from = query->range.from, .to = query->range.to, .width = query->width};
    *activity = (struct activity){0};
    return compute_activity(engine, true, &request, query->threads, activity, err);
}

int engine_compute_activity(struct engine *engine, const struct activity_query *query, struct activity *activity,
                            struct error *err)
{
    struct activity_request request = {.thread_count = query->thread_count,
                                       .from = query->range.from,
                                       .to = query->range.to,
                                       .width = query->width,
                                       .is_filtered = engine->filter.samples != NULL};
    *activity = (struct activity){0};
    int code = 0;
    if (query->search_length) {
        code = matching_nodes_update(&engine->activity_search, &engine->base->profile, engine->nodes, query->search,
                                     query->search_length, err);
        request.matching[0] = engine->activity_search.matching;
    }
    if (!code && query->path) {
        code = matching_path_update(&engine->activity_path, engine->nodes, query->path, err);
        request.matching[1] = engine->activity_path.matching;
    }
    return code ? code : compute_activity(engine, false, &request, query->threads, activity, err);
}
