/*
 * The graphs of the timeline, and the sample under the mouse: for web/src/engine/timeline.ts.
 */
#include "wasm/wasm_calls.h"
#include "wasm/wasm_session.h"

static const struct view *activity_view(struct session *session)
{
    return ANSWER(session, session->timeline.activity.row_count, session->timeline.activity.categories,
                  session->timeline.activity.shares, session->timeline.activity.strip);
}

/* Of all samples of the threads in the input, their sum. Columns: categories, shares (length * width), and enum
 * strip_pixel of each of `width` pixels. */
const struct view *session_activity(struct session *session, uint32_t drawn_count, double from, double to,
                                    uint32_t width)
{
    const struct activity_query query = {
        .threads = session_words(session), .thread_count = drawn_count, .range = {from, to}, .width = width};
    activity_destroy(&session->timeline.activity);
    if (engine_activity_of_all(session->engine, &query, &session->timeline.activity, &session->err))
        return NULL;
    return activity_view(session);
}

/* The activity of the drawn threads after the transforms, a search and a path. The input is a matching_request.
 * Columns as those of session_activity(). */
const struct view *session_activity_matching(struct session *session)
{
    const struct matching_request *request = (const void *)session->input.data;
    const uint32_t *drawn = request->words, *words = drawn + request->drawn_count;
    const uint32_t *funcs = words + request->thread_count + request->transform_words;
    const struct tree_path path = {funcs, request->path_length, request->inverted != 0};
    const struct activity_query query = {.threads = drawn,
                                         .thread_count = request->drawn_count,
                                         .range = {request->from, request->to},
                                         .width = request->width,
                                         .search = (const char *)(funcs + request->path_length),
                                         .search_length = request->search_length,
                                         .path = request->path_length ? &path : NULL};
    struct engine *engine = session_stacks(session, words, request->thread_count, request->transform_words);
    activity_destroy(&session->timeline.activity);
    if (!engine || engine_activity(engine, &query, &session->timeline.activity, &session->err))
        return NULL;
    return activity_view(session);
}

/* Columns: the activity of each thread in a range, ms. */
const struct view *session_thread_times(struct session *session, double from, double to)
{
    size_t count = engine_profile(session->engine)->threads.length;
    session->timeline.thread_times.length = 0;
    if (!array_reserve(&session->timeline.thread_times, count + 1))
        return no_memory(session);
    for (uint32_t i = 0; i < count; i++)
        session->timeline.thread_times.data[session->timeline.thread_times.length++] =
            engine_thread_time(session->engine, i, (struct time_range){from, to});
    return ANSWER(session, count, session->timeline.thread_times.data);
}

/* Columns: the path (length funcs), then one entry each: time, CPU percent (NAN: unknown), category, whether a
 * transform has dropped it (then the path is empty); at last the start and end of the time in which the thread did
 * not run (NAN: it ran). NULL without a sample there (session_error() is then empty). The input holds threads and
 * transforms as above. */
const struct view *session_sample_at(struct session *session, uint32_t thread, double time, uint32_t thread_count,
                                     uint32_t transform_words)
{
    struct engine *engine = session_stacks(session, session_words(session), thread_count, transform_words);
    struct sample_place *place = &session->timeline.place;
    if (!engine)
        return NULL;
    session->err.text[0] = '\0';
    if (engine_sample_at(engine, thread, time, place, &session->tree.path, &session->err) || !place->is_known)
        return NULL;
    return ANSWER(session, session->tree.path.length, session->tree.path.data, &place->time, &place->cpu_percent,
                  &place->category, &place->is_dropped, &place->wait);
}
