/*
 * Exports for web/src/engine/timeline.ts: graphs of the timeline, and the sample under the mouse.
 */
#include "tree/runtime_frames.h"
#include "wasm/wasm_calls.h"
#include "wasm/wasm_session.h"

static const struct view *answer_activity(struct session *session)
{
    return ANSWER(session, session->timeline.activity.row_count, session->timeline.activity.categories,
                  session->timeline.activity.shares, session->timeline.activity.strip);
}

/* Returns the summed activity of the threads in the input, from all samples. Columns: categories, shares (length *
 * width), and enum strip_pixel per pixel (width). */
const struct view *session_activity(struct session *session, uint32_t drawn_count, double from, double to,
                                    uint32_t width)
{
    const struct activity_query query = {
        .threads = session_get_words(session), .thread_count = drawn_count, .range = {from, to}, .width = width};
    activity_destroy(&session->timeline.activity);
    if (engine_compute_unfiltered_activity(session->engine, &query, &session->timeline.activity, &session->err))
        return NULL;
    return answer_activity(session);
}

/* Returns the activity of the drawn threads after the transforms, a search and a path. The input is a struct
 * matching_request. The columns are those of session_activity(). */
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
    struct engine *engine = session_get_stacks(session, words, request->thread_count, request->transform_words);
    activity_destroy(&session->timeline.activity);
    if (!engine || engine_compute_activity(engine, &query, &session->timeline.activity, &session->err))
        return NULL;
    return answer_activity(session);
}

/* Returns the activity of each thread in a range, ms. */
const struct view *session_thread_times(struct session *session, double from, double to)
{
    size_t count = engine_get_profile(session->engine)->threads.length;
    session->timeline.thread_times.length = 0;
    if (!array_reserve(&session->timeline.thread_times, count + 1))
        return no_memory(session);
    for (uint32_t i = 0; i < count; i++)
        session->timeline.thread_times.data[session->timeline.thread_times.length++] =
            engine_measure_thread_activity(session->engine, i, (struct time_range){from, to});
    return ANSWER(session, count, session->timeline.thread_times.data);
}

/* Writes the sample at a time. The call path comes first: its length, then its funcs. Columns of one entry follow:
 * time, CPU percent (NAN: unknown), category, and whether a transform dropped the sample, which leaves the path empty.
 * For a wait, the next columns are start and end (NAN: the thread ran), reason, waker, and the time of the unseen
 * waits. The last column is the number of innermost callers in a runtime. Returns NULL without a sample at the time
 * (session_error() is then empty). The input holds threads and transforms, as for session_get_stacks(). */
const struct view *session_sample_at(struct session *session, uint32_t thread, double time, uint32_t thread_count,
                                     uint32_t transform_words)
{
    struct engine *engine = session_get_stacks(session, session_get_words(session), thread_count, transform_words);
    struct sample_place *place = &session->timeline.place;
    if (!engine)
        return NULL;
    session->err.text[0] = '\0';
    if (engine_find_sample(engine, thread, time, place, &session->tree.path, &session->err) || !place->is_known)
        return NULL;
    bool is_wait = place->reason != PROFILE_NONE && session->tree.path.length > 0;
    session->timeline.runtime_callers =
        is_wait
            ? count_runtime_frames(engine_get_profile(engine), session->tree.path.data, session->tree.path.length - 1)
            : 0;
    return ANSWER(session, session->tree.path.length, session->tree.path.data, &place->time, &place->cpu_percent,
                  &place->category, &place->is_dropped, &place->wait, &place->reason, &place->waker, &place->unseen,
                  &session->timeline.runtime_callers);
}

/* Returns the states of threads per pixel. The input holds the threads of all lanes, and the ends of the threads
 * of each lane. Columns: struct state_row per row, shares (length * width). */
const struct view *session_state_lanes(struct session *session, uint32_t thread_count, uint32_t lane_count, double from,
                                       double to, uint32_t width)
{
    const uint32_t *threads = session_get_words(session);
    const struct state_lanes_query query = {threads, threads + thread_count, lane_count, {from, to}, width};
    struct state_lanes *lanes = &session->timeline.lanes;
    if (engine_compute_state_lanes(session->engine, &query, lanes, &session->err))
        return NULL;
    return ANSWER(session, lanes->rows.length, lanes->rows.data, lanes->shares.data);
}

/* Returns, for each pixel, the threads on the CPUs that the input lists. Columns as of session_state_lanes(). */
const struct view *session_cpu_lanes(struct session *session, uint32_t cpu_count, double from, double to,
                                     uint32_t width)
{
    struct state_lanes *lanes = &session->timeline.lanes;
    if (engine_compute_cpu_lanes(session->engine, session_get_words(session), cpu_count, (struct time_range){from, to},
                                 width, lanes, &session->err))
        return NULL;
    return ANSWER(session, lanes->rows.length, lanes->rows.data, lanes->shares.data);
}

/* Returns the work of a CPU at a time. Columns of one entry: the four times of struct cpu_place, then thread and
 * previous CPU. */
const struct view *session_cpu_at(struct session *session, uint32_t cpu, double time)
{
    struct cpu_place *place = &session->timeline.cpu_place;
    if (engine_find_cpu_slice(session->engine, cpu, time, place, &session->err))
        return NULL;
    return ANSWER(session, 1, &place->start, &place->thread);
}

/* Returns the time of the threads in the input in each state, ms. */
const struct view *session_state_sums(struct session *session, uint32_t thread_count, double from, double to)
{
    uint32_t count = count_thread_states(engine_get_profile(session->engine));
    session->timeline.thread_times.length = 0;
    if (!array_reserve(&session->timeline.thread_times, count))
        return no_memory(session);
    if (engine_sum_states(session->engine, session_get_words(session), thread_count, (struct time_range){from, to},
                          session->timeline.thread_times.data, &session->err))
        return NULL;
    return ANSWER(session, count, session->timeline.thread_times.data);
}

/* Returns a time during the longest wait of a thread in a state and a range, ms, or NAN for none. */
double session_longest_wait(const struct session *session, uint32_t thread, uint32_t state, double from, double to)
{
    return engine_find_longest_wait(session->engine, thread, state, (struct time_range){from, to});
}
