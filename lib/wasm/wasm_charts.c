/*
 * Exports for web/src/engine/charts.ts: the flame graph and the stack chart, whose rects are one column of structs,
 * and the heat map.
 */
#include "wasm/wasm_calls.h"
#include "wasm/wasm_session.h"

/* The input holds the funcs of a path. One column: from, to. */
const struct view *session_flame_find(struct session *session, uint32_t query, uint32_t length)
{
    struct engine *engine = session_get_engine(session, query);
    if (!engine ||
        engine_find_flame_part(engine, session_get_words(session), length, &session->charts.flame_part, &session->err))
        return NULL;
    return ANSWER(session, 2, &session->charts.flame_part);
}

/* Returns one column of struct flame_rect: 80 bytes, six doubles and eight words. */
const struct view *session_flame(struct session *session, uint32_t query, double from, double to, double least)
{
    struct engine *engine = session_get_engine(session, query);
    struct flame_request request = {.part = {from, to}, .least = least};
    if (!engine || engine_compute_flame(engine, &request, &session->charts.flame, &session->err))
        return NULL;
    return ANSWER_ARRAY(session, &session->charts.flame);
}

/* Returns one column of struct stack_rect: 48 bytes, two doubles and eight words. */
const struct view *session_stack_chart(struct session *session, uint32_t query, uint32_t thread, double from, double to,
                                       uint32_t columns, int same_widths)
{
    struct engine *engine = session_get_engine(session, query);
    struct stack_chart_request request = {
        .thread = thread, .range = {from, to}, .columns = columns, .same_widths = same_widths != 0};
    if (!engine || engine_compute_stack_chart(engine, &request, &session->charts.stack_chart, &session->err))
        return NULL;
    return ANSWER_ARRAY(session, &session->charts.stack_chart);
}

/* Returns a thread's totals in `count` consecutive ranges, the first from `from` to `to`. */
const struct view *session_totals_over_time(struct session *session, uint32_t query, uint32_t thread, double from,
                                            double to, uint32_t count)
{
    const struct engine *engine = session_get_engine(session, query);
    if (!engine)
        return NULL;
    session->charts.totals.length = 0;
    if (!array_reserve(&session->charts.totals, count))
        return no_memory(session);
    session->charts.totals.length = count;
    memset(session->charts.totals.data, 0, count * sizeof(double));
    engine_add_thread_totals(engine, thread, (struct time_range){from, to}, count, session->charts.totals.data);
    return ANSWER_ARRAY(session, &session->charts.totals);
}
