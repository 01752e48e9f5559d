/*
 * Exports for web/src/engine/waits.ts (waits of threads in groups) and for findings.ts.
 */
#include "wasm/wasm_calls.h"
#include "wasm/wasm_session.h"

#include "tree/compared_waits.h"
#include "tree/findings.h"
#include "tree/findings_json.h"
#include "tree/object_waits.h"
#include "tree/runtime_frames.h"

static const struct view *answer_groups(struct session *session, const struct engine *engine, bool has_objects)
{
    struct session_waits *waits = &session->waits;
    waits->paths.length = waits->path_ends.length = waits->runtime_callers.length = 0;
    for (size_t i = 0; i < waits->groups.list.length; i++) {
        size_t first = waits->paths.length;
        if (!append_call_path(engine, waits->groups.list.data[i].node, &waits->paths))
            return no_memory(session);
        size_t length = waits->paths.length - first, callers = length - (has_objects && length);
        uint32_t runtime = count_runtime_frames(engine_get_profile(engine), waits->paths.data + first, callers);
        if (!array_push(&waits->path_ends, (uint32_t)waits->paths.length) ||
            !array_push(&waits->runtime_callers, runtime))
            return no_memory(session);
    }
    return ANSWER(session, waits->groups.list.length, waits->groups.list.data, &waits->groups.totals,
                  waits->path_ends.data, waits->paths.data, waits->runtime_callers.data);
}

/* `by`: enum wait_grouping. Returns columns: struct wait_group; the numbers of struct wait_totals; the end of each
 * group's path in the last column; the funcs of the paths, root first; the number of innermost callers of each path in
 * a runtime (tree/runtime_frames.h). */
const struct view *session_wait_groups(struct session *session, uint32_t query, int by)
{
    struct engine *engine = session_get_engine(session, query);
    if (!engine)
        return NULL;
    if (by < 0 || by >= WAIT_GROUPINGS) {
        error_set(&session->err, EINVAL, "unknown grouping of waits");
        return NULL;
    }
    if (engine_group_waits(engine, (enum wait_grouping)by, &session->waits.groups, &session->err))
        return NULL;
    return answer_groups(session, engine, by != WAITS_BY_STACK);
}

static void write_compared(struct json_writer *json, const struct compared_waits *waits, const struct engine *engine)
{
    json_open(json, '{');
    json_member_open(json, "all", '{');
    json_member_double(json, "base", waits->all.base);
    json_member_double(json, "new", waits->all.new);
    change_estimate_write(json, &waits->all);
    json_close(json, '}');
    json_member_open(json, "waits", '[');
    for (size_t i = 0; i < waits->list.length; i++)
        compared_wait_write(json, waits, &waits->list.data[i], engine);
    json_close(json, ']');
    json_close(json, '}');
}

/* Returns ComparedAnswer of waits.ts, as JSON. `by`: enum wait_grouping. */
const struct view *session_compared_waits(struct session *session, uint32_t query, int by)
{
    struct engine *engine = session_get_engine(session, query);
    struct compared_waits waits = {0};
    if (!engine)
        return NULL;
    session_begin_json(session);
    int code = compared_waits_find(&waits, engine, (enum wait_grouping)by, &session->err);
    if (!code)
        write_compared(&session->json, &waits, engine);
    compared_waits_destroy(&waits);
    return session_answer_json(session, code);
}

/* Returns ObjectWaits of waits.ts, as JSON. `object`: the func of a wait. */
const struct view *session_object_waits(struct session *session, uint32_t query, uint32_t object)
{
    struct engine *engine = session_get_engine(session, query);
    struct object_waits waits = {0};
    if (!engine)
        return NULL;
    session_begin_json(session);
    int code = object_waits_find(&waits, engine, object, &session->err);
    object_waits_write(&session->json, engine, &waits);
    object_waits_destroy(&waits);
    return session_answer_json(session, code);
}

/* Returns Findings of findings.ts, as JSON. */
const struct view *session_findings(struct session *session, uint32_t query)
{
    enum { MOST_FINDINGS = 6, LONGEST_NAME = 128 };
    struct engine *engine = session_get_engine(session, query);
    struct findings findings = {0};
    if (!engine)
        return NULL;
    session_begin_json(session);
    int code = findings_find_of_threads(&findings, engine, &session->err);
    json_open(&session->json, '{');
    write_findings(&session->json, engine, &findings, MOST_FINDINGS, LONGEST_NAME);
    json_close(&session->json, '}');
    findings_destroy(&findings);
    return session_answer_json(session, code);
}
