/*
 * Exports for web/src/engine/butterfly.ts: the butterfly, and lists of libraries, categories and threads.
 */
#include "tree/func_groups.h"
#include "wasm/wasm_calls.h"
#include "wasm/wasm_session.h"

/* Returns one column of struct func_timing. */
static const struct view *answer_groups(struct session *session, int code)
{
    if (code)
        return NULL;
    return ANSWER(session, session->butterflies.groups.length, session->butterflies.groups.rows);
}

const struct view *session_groups(struct session *session, uint32_t query, int by)
{
    struct engine *engine = session_get_engine(session, query);
    func_timings_destroy(&session->butterflies.groups);
    if (!engine)
        return NULL;
    return answer_groups(session,
                         engine_list_groups(engine, (enum group_kind)by, &session->butterflies.groups, &session->err));
}

static int write_func_groups(struct session *session, const struct engine *engine, enum func_grouping by)
{
    struct func_groups groups = {.of_func = {0}};
    struct func_timings rows = {0};
    const struct profile *profile = engine_get_profile(engine);
    int code = func_groups_find(&groups, profile, by, (const char *)session->input.data, &session->err);
    if (!code)
        code = func_groups_sum(&rows, &groups, engine_get_nodes(engine), engine_get_timings(engine), &session->err);
    json_open(&session->json, '[');
    for (size_t i = 0; !code && i < rows.length; i++) {
        uint32_t group = rows.rows[i].func;
        json_open(&session->json, '{');
        json_member_text(&session->json, "name",
                         group < groups.names.entries.length ? strings_text(&groups.names, group) : "(library)");
        json_member_double(&session->json, "total", rows.rows[i].total);
        json_member_double(&session->json, "self", rows.rows[i].self);
        json_close(&session->json, '}');
    }
    json_close(&session->json, ']');
    func_timings_destroy(&rows);
    func_groups_destroy(&groups);
    return code;
}

/* Input: the terms of FUNCS_BY_TERM, with a NUL. Returns JSON: [{"name", "total", "self"}], heaviest by total first. */
const struct view *session_func_groups(struct session *session, uint32_t query, int by)
{
    const struct engine *engine = session_get_engine(session, query);
    if (!engine)
        return NULL;
    session_begin_json(session);
    return session_answer_json(session, write_func_groups(session, engine, (enum func_grouping)by));
}

const struct view *session_functions_weighed(struct session *session, uint32_t query, int weight)
{
    struct engine *engine = session_get_engine(session, query);
    const struct weight *weighed;
    func_timings_destroy(&session->butterflies.groups);
    if (!engine || session_find_weight(session, weight, &weighed))
        return NULL;
    return answer_groups(session, engine_list_functions_by_weight(engine, weighed->kind, weighed->table,
                                                                  &session->butterflies.groups, &session->err));
}

/* ---- butterflies ---- */

static void close_butterfly(struct open_butterfly *open)
{
    if (open->id)
        butterfly_destroy(&open->butterfly);
    *open = (struct open_butterfly){0};
}

void session_forget_butterflies(struct session *session, uint32_t query)
{
    for (size_t i = 0; i < MOST_BUTTERFLIES; i++)
        if (session->butterflies.open[i].query == query)
            close_butterfly(&session->butterflies.open[i]);
}

/* Returns the number of the butterfly, or a negative errno value. The butterfly stays open as long as its query, or
 * until MOST_BUTTERFLIES newer butterflies exist. */
int session_butterfly(struct session *session, uint32_t query, int kind, uint32_t index)
{
    struct engine *engine = session_get_engine(session, query);
    struct open_butterfly *open = &session->butterflies.open[session->butterflies.next];
    if (!engine)
        return -EINVAL;
    if (kind < BUTTERFLY_FUNCTION || kind > BUTTERFLY_CATEGORY)
        return error_set(&session->err, EINVAL, "unknown kind of butterfly");
    close_butterfly(open);
    int code = engine_compute_butterfly(engine, (struct butterfly_focus){(enum butterfly_kind)kind, index},
                                        &open->butterfly, &session->err);
    if (code)
        return code;
    session->butterflies.next = (session->butterflies.next + 1) % MOST_BUTTERFLIES;
    session->butterflies.last = session->butterflies.last % INT32_MAX + 1;
    open->id = session->butterflies.last;
    open->query = query;
    return (int)open->id;
}

static struct butterfly *find_butterfly(struct session *session, uint32_t id)
{
    for (size_t i = 0; id && i < MOST_BUTTERFLIES; i++)
        if (session->butterflies.open[i].id == id)
            return &session->butterflies.open[i].butterfly;
    session->querying.used_closed = true;
    error_set(&session->err, EINVAL, "this butterfly is closed");
    return NULL;
}

/* Returns one column: total and self; in a comparison, then total and self of the base and of the new side. */
const struct view *session_butterfly_weights(struct session *session, uint32_t id)
{
    const struct butterfly *butterfly = find_butterfly(session, id);
    if (!butterfly)
        return NULL;
    session->butterflies.weights[0] = butterfly->total;
    session->butterflies.weights[1] = butterfly->self;
    for (int side = 0; side < PROFILE_SIDES; side++) {
        session->butterflies.weights[2 + 2 * side] = butterfly->side_figures[side].total;
        session->butterflies.weights[3 + 2 * side] = butterfly->side_figures[side].self;
    }
    return ANSWER(session, sizeof(session->butterflies.weights) / sizeof(double), session->butterflies.weights);
}

static bool check_side(struct session *session, int side)
{
    if (side == BUTTERFLY_CALLERS || side == BUTTERFLY_CALLEES)
        return true;
    error_set(&session->err, EINVAL, "unknown side of a butterfly");
    return false;
}

const struct view *session_butterfly_children(struct session *session, uint32_t id, int side, uint32_t node)
{
    struct butterfly *butterfly = find_butterfly(session, id);
    if (!butterfly || !check_side(session, side))
        return NULL;
    return session_get_row_view(session, butterfly_list_children(butterfly, (enum butterfly_side)side, node,
                                                                 &session->tree.rows, &session->err));
}

const struct view *session_butterfly_descendants(struct session *session, uint32_t id, int side, uint32_t node,
                                                 uint32_t limit)
{
    struct butterfly *butterfly = find_butterfly(session, id);
    if (!butterfly || !check_side(session, side))
        return NULL;
    return session_get_row_view(session, butterfly_list_descendants(butterfly, (enum butterfly_side)side, node, limit,
                                                                    &session->tree.rows, &session->err));
}
