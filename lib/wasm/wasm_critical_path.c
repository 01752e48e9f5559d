/*
 * Export for web/src/engine/critical_path.ts: the critical path of a thread.
 */
#include "tree/path_parts.h"
#include "wasm/wasm_calls.h"
#include "wasm/wasm_session.h"

static void write_func(struct session *session, const char *key, uint32_t func)
{
    const struct profile *profile = engine_get_profile(session->engine);
    if (func != PROFILE_NONE)
        json_member_text(&session->json, key, profile_text(profile, profile->funcs.name[func]));
}

static void write_part(struct session *session, const struct path_part *part)
{
    struct json_writer *json = &session->json;
    json_open(json, '{');
    json_member_double(json, "ms", part->ms);
    json_member_text(json, "state", get_path_state_name(part->state));
    json_member_double(json, "thread", part->thread);
    json_member_bool(json, "isEstimated", part->is_estimated);
    write_func(session, "func", part->func);
    write_func(session, "object", part->object);
    if (part->waiter != PROFILE_NONE)
        json_member_double(json, "waiter", part->waiter);
    write_func(session, "waitedFor", part->waited_for);
    json_close(json, '}');
}

static int write_row(struct session *session, const struct critical_path *path, size_t first, size_t end)
{
    const struct path_segment *segment = find_row_segment(engine_get_profile(session->engine), path, first, end);
    struct json_writer *json = &session->json;
    struct text_buffer where = {0};
    int code = path_segment_append_text(&where, engine_get_profile(session->engine), segment, &session->err);
    json_open(json, '{');
    json_member_double(json, "from", path->data[first].from);
    json_member_double(json, "to", path->data[end - 1].to);
    json_member_double(json, "thread", segment->thread);
    json_member_text(json, "state", get_path_state_name(segment->state));
    json_key(json, "where");
    json_text(json, where.data ? where.data : "", where.length);
    json_close(json, '}');
    array_free(&where);
    return code;
}

static int write_sentence(struct session *session, const struct path_parts *parts, uint32_t thread)
{
    struct text_buffer text = {0};
    int code = path_parts_append_sentence(&text, session->engine, parts, thread, PATH_PARTS_USUAL, &session->err);
    json_key(&session->json, "sentence");
    json_text(&session->json, text.data ? text.data : "", text.length);
    array_free(&text);
    return code;
}

static int write_path(struct session *session, const struct critical_path *path, const struct path_parts *parts,
                      uint32_t thread)
{
    struct json_writer *json = &session->json;
    json_open(json, '{');
    int code = write_sentence(session, parts, thread);
    json_member_open(json, "parts", '[');
    for (size_t i = 0; i < parts->length; i++)
        write_part(session, &parts->data[i]);
    json_close(json, ']');
    json_member_open(json, "rows", '[');
    for (size_t i = 0, end; !code && i < path->length; i = end) {
        end = find_row_end(engine_get_profile(session->engine), path, i);
        code = write_row(session, path, i, end);
    }
    json_close(json, ']');
    json_close(json, '}');
    return code;
}

/* Returns CriticalPath of critical_path.ts, as JSON, for one range or more. Without wakers, the path stops at
 * each wait. */
static const struct view *answer_paths(struct session *session, const struct path_range *ranges, size_t count)
{
    struct critical_path path = {0};
    struct path_parts parts = {0};
    session_begin_json(session);
    int code = critical_paths_find(&path, engine_get_profile(session->engine), ranges, count, &session->err);
    if (!code)
        code = find_critical_path_parts(session->engine, &path, ranges->thread, &parts, &session->err);
    if (!code)
        code = write_path(session, &path, &parts, ranges->thread);
    array_free(&path);
    array_free(&parts);
    return session_answer_json(session, code);
}

/* Returns the path of a range: see answer_paths(). */
const struct view *session_critical_path(struct session *session, uint32_t thread, double from, double to)
{
    if (thread < engine_get_profile(session->engine)->threads.length)
        return answer_paths(session, &(struct path_range){thread, {from, to}}, 1);
    error_set(&session->err, EINVAL, "unknown thread");
    return NULL;
}

/* Returns the paths of the slowest intervals that a query selects: see answer_paths(). */
const struct view *session_slowest_paths(struct session *session, uint32_t query)
{
    const struct engine *engine = session_get_engine(session, query);
    struct path_ranges ranges = {0};
    const struct view *answer = NULL;
    if (!engine)
        return NULL;
    int code = engine_list_slowest_ranges(engine, &ranges, &session->err);
    if (!code && !ranges.length)
        error_set(&session->err, EINVAL, "no interval matches the query");
    else if (!code)
        answer = answer_paths(session, ranges.data, ranges.length);
    array_free(&ranges);
    return answer;
}
