/*
 * Finding functions by letters of their names: for web/src/engine/find.ts.
 */
#include "tree/wasm_calls.h"
#include "tree/wasm_session.h"

/* What the next finds order equally good names by: the totals of the current query. */
int session_find_begin(struct session *session)
{
    struct func_timings functions = {0};
    int code = 0;
    if (!session->finder.profile)
        code = name_finder_init(&session->finder, engine_profile(session->engine), &session->err);
    if (!code)
        code = engine_functions(session->engine, FUNCS_BY_TOTAL, &functions, &session->err);
    if (!code)
        name_finder_weigh(&session->finder, &functions);
    func_timings_destroy(&functions);
    return code;
}

/* The input holds what was typed. One column of struct found_name: two words. */
const struct view *session_find_names(struct session *session, uint32_t length, uint32_t limit)
{
    _Static_assert(sizeof(struct found_name) == 2 * sizeof(uint32_t), "layout");
    const char *text = (const char *)session->input.data;
    if (!session->finder.profile && session_find_begin(session))
        return NULL;
    if (name_finder_find(&session->finder, text, length, limit, &session->found, &session->err))
        return NULL;
    session->view = (struct view){(uint32_t)session->found.length, {session->found.data}};
    return &session->view;
}
