/*
 * Exports for web/src/engine/waits.ts: waits of threads in groups.
 */
#include "wasm/wasm_calls.h"
#include "wasm/wasm_session.h"

#include <errno.h>

static const struct view *answer_groups(struct session *session, const struct engine *engine)
{
    session->waits.paths.length = session->waits.path_ends.length = 0;
    for (size_t i = 0; i < session->waits.groups.list.length; i++)
        if (!wait_group_path(engine, session->waits.groups.list.data[i].node, &session->waits.paths) ||
            !array_push(&session->waits.path_ends, (uint32_t)session->waits.paths.length))
            return no_memory(session);
    return ANSWER(session, session->waits.groups.list.length, session->waits.groups.list.data,
                  &session->waits.groups.totals, session->waits.path_ends.data, session->waits.paths.data);
}

/* `by`: enum wait_grouping. Answers with columns: struct wait_group; the numbers of struct wait_totals; the end of each
 * group's path in the last column; the funcs of the paths, root first. */
const struct view *session_wait_groups(struct session *session, uint32_t query, int by)
{
    struct engine *engine = session_engine(session, query);
    if (!engine)
        return NULL;
    if (by < 0 || by >= WAIT_GROUPINGS) {
        error_set(&session->err, EINVAL, "unknown grouping of waits");
        return NULL;
    }
    if (engine_wait_groups(engine, (enum wait_grouping)by, &session->waits.groups, &session->err))
        return NULL;
    return answer_groups(session, engine);
}
