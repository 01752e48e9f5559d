/*
 * Exports for web/src/engine/tree.ts: the queries of the page's views. Later calls name a query by its slot. A new
 * query replaces the query in its slot, and reuses unchanged results. The slots bound the number of queries, and each
 * answer belongs to one query.
 */
#include "wasm/wasm_calls.h"
#include "wasm/wasm_session.h"

int session_read_transforms(struct session *session, const uint32_t *words, size_t count)
{
    enum { HEAD = 7, WORD = sizeof(*words) };
    session->querying.transforms.length = 0;
    for (size_t at = 0; at < count;) {
        const uint32_t *item = words + at;
        size_t left = count - at < HEAD ? 0 : count - at - HEAD;
        if (count - at < HEAD || item[0] >= TRANSFORM_KINDS || item[3] > left || item[4] > (left - item[3]) * WORD ||
            item[6] >= FILTERED_SIDES)
            return error_set(&session->err, EINVAL, "invalid list of transforms");
        const uint32_t *path = item + HEAD;
        struct transform transform = {(enum transform_kind)item[0],
                                      item[1],
                                      item[2] != 0,
                                      path,
                                      item[3],
                                      (const char *)(path + item[3]),
                                      item[4],
                                      item[5] / 1e9,
                                      (enum filtered_sides)item[6]};
        if (!array_push(&session->querying.transforms, transform))
            return error_no_memory(&session->err);
        at += HEAD + item[3] + item[4] / WORD + (item[4] % WORD != 0);
    }
    return 0;
}

static void close_query(struct session *session, struct open_query *open)
{
    if (open->id)
        session_forget_butterflies(session, open->id);
    open->id = 0;
    engine_free(open->engine);
    open->engine = NULL;
    open->stacks.length = 0;
}

void session_close_queries(struct session *session)
{
    for (size_t i = 0; i < MOST_QUERIES; i++)
        close_query(session, &session->querying.open[i]);
    close_query(session, &session->querying.graphs);
}

/* ---- threads and transforms ---- */

/* Returns whether the transformed stacks depend on the threads, as they do with marker transforms. */
static bool depend_on_threads(const struct session *session)
{
    for (size_t i = 0; i < session->querying.transforms.length; i++)
        if (session->querying.transforms.data[i].kind == TRANSFORM_FILTER_MARKERS)
            return true;
    return false;
}

static bool has_stacks_key(const struct open_query *open, const uint32_t *words, size_t count)
{
    return open->engine && array_equals(&open->stacks, words, count);
}

static int set_stacks_key(struct session *session, struct open_query *open, const uint32_t *words, size_t count)
{
    open->stacks.length = 0;
    if (!array_reserve(&open->stacks, count + 1))
        return error_no_memory(&session->err);
    memcpy(open->stacks.data, words, count * sizeof(*words));
    open->stacks.length = count;
    return 0;
}

static int open_engine(struct session *session, struct open_query *open)
{
    if (!open->engine)
        open->engine = engine_share(session->engine, &session->err);
    return open->engine ? 0 : error_no_memory(&session->err);
}

struct engine *session_get_stacks(struct session *session, const uint32_t *words, uint32_t thread_count,
                                  uint32_t transform_words)
{
    struct open_query *graphs = &session->querying.graphs;
    if (transform_words == 0)
        return session->engine;
    if (session_read_transforms(session, words + thread_count, transform_words))
        return NULL;
    size_t skipped = depend_on_threads(session) ? 0 : thread_count, count = thread_count - skipped + transform_words;
    for (size_t i = 0; i < MOST_QUERIES; i++)
        if (session->querying.open[i].id && has_stacks_key(&session->querying.open[i], words + skipped, count)) {
            close_query(session, graphs);
            return session->querying.open[i].engine;
        }
    if (has_stacks_key(graphs, words + skipped, count))
        return graphs->engine;
    const struct tree_query query = {.threads = words,
                                     .thread_count = thread_count,
                                     .transforms = session->querying.transforms.data,
                                     .transform_count = session->querying.transforms.length};
    if (open_engine(session, graphs) || engine_set_transforms(graphs->engine, &query, &session->err) ||
        set_stacks_key(session, graphs, words + skipped, count)) {
        close_query(session, graphs);
        return NULL;
    }
    return graphs->engine;
}

/* ---- queries ---- */

const struct weight_list *session_get_weights(struct session *session)
{
    bool is_known = session->querying.weights.length > 0 ||
                    !list_weights(&session->querying.weights, engine_get_profile(session->engine), &session->err);
    return is_known ? &session->querying.weights : NULL;
}

int session_find_weight(struct session *session, int index, const struct weight **weight)
{
    const struct weight_list *weights = session_get_weights(session);
    if (!weights)
        return error_no_memory(&session->err);
    if (index < 0 || (size_t)index >= weights->length)
        return error_set(&session->err, EINVAL, "the profile has no weight %d", index);
    *weight = &weights->data[index];
    return 0;
}

enum { MOST_IDS = INT32_MAX / MOST_QUERIES - 1 };

struct engine *session_get_engine(struct session *session, uint32_t query)
{
    struct open_query *open = &session->querying.open[query % MOST_QUERIES];
    if (query && open->id == query)
        return open->engine;
    session->querying.used_closed = true;
    error_set(&session->err, EINVAL, "this query is closed");
    return NULL;
}

/* Returns whether the last call failed because it referred to a closed object; resets this flag. */
int session_used_closed(struct session *session)
{
    bool asked = session->querying.used_closed;
    session->querying.used_closed = false;
    return asked;
}

/* The input is a struct query_request. Returns the number of the query, or a negative errno value; the slot is then
 * empty. */
int session_query(struct session *session)
{
    const struct query_request *request = (const void *)session->input.data;
    const uint32_t *words = request->words;
    uint32_t place = request->place, thread_count = request->thread_count, compared = request->compared;
    int code = session_read_transforms(session, words + thread_count, request->transform_words);
    if (code)
        return code;
    if (place >= MOST_QUERIES)
        return error_set(&session->err, EINVAL, "invalid query number %u", place);
    const struct weight *weighed;
    if ((code = session_find_weight(session, (int)request->weight, &weighed)) != 0)
        return code;
    struct open_query *open = &session->querying.open[place];
    const struct tree_query query = {
        .threads = words,
        .thread_count = thread_count,
        .range = {request->from, request->to},
        .transforms = session->querying.transforms.data,
        .transform_count = session->querying.transforms.length,
        .search = (const char *)(words + thread_count + request->transform_words),
        .search_length = request->search_length,
        .inverted = request->inverted != 0,
        .weight = weighed->kind,
        .table = weighed->table,
        .compared = compared == COMPARED_BASE || compared == COMPARED_NEW ? (enum compared)compared : COMPARED_CHANGE,
        .scale = request->scale > 0 && request->scale < INFINITY ? request->scale : 0};
    size_t skipped = depend_on_threads(session) ? 0 : thread_count;
    session_forget_butterflies(session, open->id);
    open->id = 0;
    code = open_engine(session, open);
    if (!code)
        code = engine_set_query(open->engine, &query, &session->err);
    if (!code)
        code = set_stacks_key(session, open, words + skipped, thread_count - skipped + request->transform_words);
    if (code) {
        close_query(session, open);
        return code;
    }
    session->querying.last = session->querying.last % MOST_IDS + 1;
    open->id = session->querying.last * MOST_QUERIES + place;
    return (int)open->id;
}

/* Closes a query, if it is open. */
void session_release(struct session *session, uint32_t query)
{
    struct open_query *open = &session->querying.open[query % MOST_QUERIES];
    if (query && open->id == query)
        close_query(session, open);
}
