/*
 * The butterfly, and lists of libraries, categories and threads: for web/src/engine/butterfly.ts.
 */
#include "tree/wasm_calls.h"
#include "tree/wasm_session.h"

#include <errno.h>

/* What is listed, in the order of butterfly.ts. */
enum { BY_LIBRARY, BY_CATEGORY, BY_THREAD };

/* One column of struct func_timing (24 bytes: u32 index, f64 total at 8, f64 self at 16). */
static const struct view *view_groups(struct session *session, int code)
{
    _Static_assert(sizeof(struct func_timing) == 24, "layout");
    if (code)
        return NULL;
    session->view = (struct view){(uint32_t)session->groups.length, {session->groups.rows}};
    return &session->view;
}

const struct view *session_groups(struct session *session, int by)
{
    func_timings_destroy(&session->groups);
    switch (by) {
    case BY_LIBRARY:
        return view_groups(session, engine_libraries(session->engine, &session->groups, &session->err));
    case BY_CATEGORY:
        return view_groups(session, engine_categories(session->engine, &session->groups, &session->err));
    default:
        return view_groups(session, engine_threads(session->engine, &session->groups, &session->err));
    }
}

const struct view *session_functions_weighed(struct session *session, int weight)
{
    func_timings_destroy(&session->groups);
    if (weight < 0 || weight >= WEIGH_KINDS) {
        error_set(&session->err, EINVAL, "samples cannot be weighed like this");
        return NULL;
    }
    return view_groups(session, engine_functions_weighed(session->engine, (enum sample_weight)weight, &session->groups,
                                                         &session->err));
}

int session_butterfly(struct session *session, int kind, uint32_t index)
{
    if (kind < BUTTERFLY_FUNCTION || kind > BUTTERFLY_CATEGORY)
        return error_set(&session->err, EINVAL, "there is no butterfly of this kind");
    return engine_butterfly(session->engine, (struct butterfly_focus){(enum butterfly_kind)kind, index}, &session->err);
}

double session_butterfly_total(struct session *session)
{
    const struct butterfly *butterfly = engine_last_butterfly(session->engine);
    return butterfly ? butterfly->total : 0;
}

double session_butterfly_self(struct session *session)
{
    const struct butterfly *butterfly = engine_last_butterfly(session->engine);
    return butterfly ? butterfly->self : 0;
}

/* The butterfly that a handle is of, or NULL with a message. */
static struct butterfly *current(struct session *session, int side)
{
    struct butterfly *butterfly = engine_last_butterfly(session->engine);
    if (butterfly && (side == BUTTERFLY_CALLERS || side == BUTTERFLY_CALLEES))
        return butterfly;
    error_set(&session->err, EINVAL, "the numbers have changed since this butterfly was made");
    return NULL;
}

const struct view *session_butterfly_children(struct session *session, int side, uint32_t node)
{
    struct butterfly *butterfly = current(session, side);
    return butterfly ? session_view_rows(session, butterfly_children(butterfly, (enum butterfly_side)side, node,
                                                                     &session->rows, &session->err))
                     : NULL;
}

const struct view *session_butterfly_descendants(struct session *session, int side, uint32_t node, uint32_t limit)
{
    struct butterfly *butterfly = current(session, side);
    return butterfly ? session_view_rows(session, butterfly_descendants(butterfly, (enum butterfly_side)side, node,
                                                                        limit, &session->rows, &session->err))
                     : NULL;
}
