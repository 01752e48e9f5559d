/*
 * The graphs of the timeline, and what is under the mouse there: for web/src/engine/timeline.ts.
 */
#include "tree/wasm_calls.h"
#include "tree/wasm_session.h"

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

/* Of what the transforms of threads, a search and a path (of length 0: any) leave. The input holds the threads, the
 * words of the transforms, the funcs of the path, then the bytes of the search. Columns as those of session_activity().
 */
const struct view *session_activity_matching(struct session *session, uint32_t thread, double from, double to,
                                             uint32_t width, uint32_t thread_count, uint32_t transform_words,
                                             uint32_t path_length, int inverted, uint32_t search_length)
{
    const uint32_t *words = session_words(session), *funcs = words + thread_count + transform_words;
    const struct tree_path path = {funcs, path_length, inverted != 0};
    struct engine *engine = session_stacks(session, words, thread_count, transform_words);
    activity_destroy(&session->activity);
    if (!engine || engine_activity(engine, thread, from, to, width, (const char *)(funcs + path_length), search_length,
                                   path_length ? &path : NULL, &session->activity, &session->err))
        return NULL;
    session->view = (struct view){session->activity.row_count,
                                  {session->activity.categories, session->activity.shares, session->activity.strip}};
    return &session->view;
}

/* Columns: the path (length funcs), then of one entry each: time, CPU percent (NAN unknown), category, whether a
 * transform has dropped it (then the path is empty); at last from when to when the thread did not run (NAN: it did).
 * NULL if there is nothing there (session_error() is then empty). The input holds threads and transforms as above. */
const struct view *session_sample_at(struct session *session, uint32_t thread, double time, uint32_t thread_count,
                                     uint32_t transform_words)
{
    struct engine *engine = session_stacks(session, session_words(session), thread_count, transform_words);
    struct sample_place *place = &session->place;
    if (!engine)
        return NULL;
    session->err.text[0] = '\0';
    if (engine_sample_at(engine, thread, time, place, &session->path, &session->err) || !place->is_known)
        return NULL;
    session->view = (struct view){
        (uint32_t)session->path.length,
        {session->path.data, &place->time, &place->cpu_percent, &place->category, &place->is_dropped, &place->wait}};
    return &session->view;
}
