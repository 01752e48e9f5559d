/*
 * The graphs of the timeline, and what is under the mouse there: for web/src/engine/timeline.ts.
 */
#include "tree/wasm_calls.h"
#include "tree/wasm_session.h"

/* Whether the current query has transforms. */
int session_is_transformed(const struct session *session)
{
    return session->is_transformed;
}

/* Of all samples. Columns: categories, shares (length * width), and enum strip_pixel of each of `width` pixels. */
const struct view *session_activity(struct session *session, uint32_t thread, double from, double to, uint32_t width)
{
    activity_destroy(&session->activity);
    if (engine_activity_of_all(session->engine, thread, from, to, width, &session->activity, &session->err))
        return NULL;
    session->view = (struct view){session->activity.row_count,
                                  {session->activity.categories, session->activity.shares, session->activity.strip}};
    return &session->view;
}

/* Of what transforms, a search and a path (of length 0: any) leave. The input holds the funcs of the path, then the
 * bytes of the search. Columns as those of session_activity(). */
const struct view *session_activity_matching(struct session *session, uint32_t thread, double from, double to,
                                             uint32_t width, uint32_t path_length, int inverted, uint32_t search_length)
{
    const uint32_t *funcs = session_words(session);
    const struct tree_path path = {funcs, path_length, inverted != 0};
    activity_destroy(&session->activity);
    if (engine_activity(session->engine, thread, from, to, width, (const char *)(funcs + path_length), search_length,
                        path_length ? &path : NULL, &session->activity, &session->err))
        return NULL;
    session->view = (struct view){session->activity.row_count,
                                  {session->activity.categories, session->activity.shares, session->activity.strip}};
    return &session->view;
}

/* Columns: the path (length funcs), then of one entry each: time, CPU percent (NAN unknown), category, whether a
 * transform has dropped it (then the path is empty). NULL if there is no sample there (session_error() is then empty).
 */
const struct view *session_sample_at(struct session *session, uint32_t thread, double time)
{
    const struct profile *profile = engine_profile(session->engine);
    const struct stack_view *stacks = engine_stacks(session->engine);
    session->err.text[0] = '\0';
    if (thread >= profile->threads.length)
        return NULL;
    const struct sample_table *samples = &profile->threads.data[thread].samples;
    size_t sample = sample_at(samples, profile->meta.interval, time, &session->sample_cpu);
    if (sample == SIZE_MAX)
        return NULL;
    uint32_t stack = samples->stack[sample];
    session->sample_time = samples->time[sample];
    session->sample_category = stack == PROFILE_NONE ? stacks->default_category : stacks->category[stack];
    uint32_t left = engine_samples(session->engine, thread)->stack[sample];
    uint32_t node = left == PROFILE_NONE ? NODE_NONE : engine_nodes(session->engine)->of_sample[left];
    session->sample_dropped = stack != PROFILE_NONE && node == NODE_NONE;
    session->path.length = 0;
    for (; node != NODE_NONE; node = engine_nodes(session->engine)->prefix[node])
        if (!array_push(&session->path, engine_nodes(session->engine)->func[node])) {
            error_no_memory(&session->err);
            return NULL;
        }
    for (size_t i = 0, j = session->path.length; i + 1 < j; i++) {
        uint32_t swap = session->path.data[--j];
        session->path.data[j] = session->path.data[i];
        session->path.data[i] = swap;
    }
    session->view = (struct view){(uint32_t)session->path.length,
                                  {session->path.data, &session->sample_time, &session->sample_cpu,
                                   &session->sample_category, &session->sample_dropped}};
    return &session->view;
}
