/*
 * Exports for web/src/engine/tree.ts: the call tree, the function list and names.
 */
#include "tree/runtime_frames.h"
#include "wasm/wasm_calls.h"
#include "wasm/wasm_session.h"

/* Returns one column: struct query_summary. */
const struct view *session_summary(struct session *session, uint32_t query)
{
    const struct engine *engine = session_get_engine(session, query);
    if (!engine)
        return NULL;
    const struct timings *timings = engine_get_timings(engine);
    session->tree.summary = (struct query_summary){timings->root_total,
                                                   (double)timings->samples,
                                                   timings->all_total,
                                                   (double)timings->all_samples,
                                                   (double)engine_count_nodes(engine),
                                                   0,
                                                   0,
                                                   (double)engine_count_intervals(engine, SIDE_BASE),
                                                   (double)engine_count_intervals(engine, SIDE_NEW)};
    if (timings->sides) {
        session->tree.summary.base_total = timings->sides[SIDE_BASE].root_total;
        session->tree.summary.new_total = timings->sides[SIDE_NEW].root_total;
    }
    return ANSWER(session, sizeof(session->tree.summary) / sizeof(double), &session->tree.summary);
}

enum entry { ENTRY_UNKNOWN, ENTRY_NO, ENTRY_YES };

/* Fills the column of entry frames. Many rows have the same func, so the session keeps the answer for each func. */
static bool find_entries(struct session *session)
{
    const struct tree_rows *rows = &session->tree.rows;
    const struct profile *profile = engine_get_profile(session->engine);
    size_t known = session->tree.entry_funcs.length, funcs = profile->funcs.length;
    if (known < funcs) {
        if (!array_reserve(&session->tree.entry_funcs, funcs - known))
            return false;
        memset(session->tree.entry_funcs.data + known, ENTRY_UNKNOWN, funcs - known);
        session->tree.entry_funcs.length = funcs;
    }
    session->tree.entries.length = 0;
    if (!array_reserve(&session->tree.entries, rows->length))
        return false;
    for (size_t i = 0; i < rows->length; i++) {
        uint8_t of_library = ENTRY_UNKNOWN; /* a transform has made the func of a library */
        uint8_t *entry = rows->func[i] < funcs ? &session->tree.entry_funcs.data[rows->func[i]] : &of_library;
        if (*entry == ENTRY_UNKNOWN)
            *entry = is_entry_frame(profile, rows->func[i]) ? ENTRY_YES : ENTRY_NO;
        session->tree.entries.data[i] = *entry == ENTRY_YES;
    }
    return true;
}

/* The last four columns are NULL unless the query covers both sides of a comparison. */
const struct view *session_get_row_view(struct session *session, int code)
{
    const struct tree_rows *rows = &session->tree.rows;
    if (code)
        return NULL;
    if (!find_entries(session))
        return no_memory(session);
    bool has_sides = rows->length > 0 && rows->is_compared;
    return ANSWER(session, rows->length, rows->node, rows->depth, rows->func, rows->category, rows->total, rows->self,
                  rows->has_children, session->tree.entries.data, has_sides ? rows->base_total : NULL,
                  has_sides ? rows->base_self : NULL, has_sides ? rows->new_total : NULL,
                  has_sides ? rows->new_self : NULL);
}

const struct view *session_children(struct session *session, uint32_t query, uint32_t node)
{
    struct engine *engine = session_get_engine(session, query);
    return !engine
               ? NULL
               : session_get_row_view(session, engine_list_children(engine, node, &session->tree.rows, &session->err));
}

const struct view *session_descendants(struct session *session, uint32_t query, uint32_t node, uint32_t limit)
{
    struct engine *engine = session_get_engine(session, query);
    return !engine ? NULL
                   : session_get_row_view(
                         session, engine_list_descendants(engine, node, limit, &session->tree.rows, &session->err));
}

const struct view *session_row(struct session *session, uint32_t query, uint32_t node)
{
    struct engine *engine = session_get_engine(session, query);
    return !engine ? NULL
                   : session_get_row_view(session, engine_read_row(engine, node, &session->tree.rows, &session->err));
}

static const struct view *answer_path(struct session *session, int code)
{
    if (code)
        return NULL;
    return ANSWER_ARRAY(session, &session->tree.path);
}

const struct view *session_path(struct session *session, uint32_t query, uint32_t node)
{
    struct engine *engine = session_get_engine(session, query);
    return !engine ? NULL : answer_path(session, engine_read_path(engine, node, &session->tree.path, &session->err));
}

const struct view *session_heaviest_path(struct session *session, uint32_t query, uint32_t depth, double share)
{
    struct engine *engine = session_get_engine(session, query);
    return !engine ? NULL
                   : answer_path(session,
                                 engine_find_heaviest_path(engine, depth, share, &session->tree.path, &session->err));
}

/* The input holds the funcs of the path. Returns NODE_NONE if no such node exists, or if the query is closed. */
uint32_t session_find(struct session *session, uint32_t query, uint32_t length, int nearest)
{
    struct engine *engine = session_get_engine(session, query);
    const uint32_t *path = session_get_words(session);
    uint32_t node = NODE_NONE;
    int code = !engine ? -EINVAL : engine_find_node(engine, path, length, nearest != 0, &node, &session->err);
    return code ? NODE_NONE : node;
}

/* The input holds the words of one transform and the funcs of a path of the current tree. */
const struct view *session_rewrite_path(struct session *session, uint32_t query, uint32_t transform_words,
                                        uint32_t length)
{
    struct engine *engine = session_get_engine(session, query);
    const uint32_t *words = session_get_words(session);
    size_t left = length;
    session->tree.path.length = 0;
    int code = engine ? session_read_transforms(session, words, transform_words) : -EINVAL;
    if (!code && (session->querying.transforms.length != 1 || !array_reserve(&session->tree.path, left)))
        code = error_set(&session->err, EINVAL, "give one transform");
    if (code)
        return NULL;
    if (left)
        memcpy(session->tree.path.data, words + transform_words, left * sizeof(*words));
    code =
        engine_rewrite_path(engine, session->querying.transforms.data, session->tree.path.data, &left, &session->err);
    session->tree.path.length = left;
    return answer_path(session, code);
}

/* Returns enum recursion; negative if the query is not open */
int session_recursion(struct session *session, uint32_t query, uint32_t func)
{
    const struct engine *engine = session_get_engine(session, query);
    return engine ? (int)engine_find_recursion(engine, func) : -EINVAL;
}

/* ---- functions ---- */

/* In a comparison, fills the columns base total, base self, new total and new self of the functions; else they stay
 * empty.
 */
static bool set_side_columns(struct session *session, size_t length)
{
    if (!profile_is_comparison(engine_get_profile(session->engine)))
        return true;
    for (int i = 0; i < 2 * PROFILE_SIDES; i++) {
        session->tree.side_figures[i].length = 0;
        if (!array_reserve(&session->tree.side_figures[i], length))
            return false;
        for (size_t at = 0; at < length; at++) {
            const struct side_figures *side = &session->tree.functions.rows[at].sides[i / 2];
            session->tree.side_figures[i].data[at] = i % 2 ? side->self : side->total;
        }
    }
    return true;
}

/* Returns columns: func, total, self, and the columns of set_side_columns(). */
const struct view *session_functions(struct session *session, uint32_t query, int by_total)
{
    struct engine *engine = session_get_engine(session, query);
    func_timings_destroy(&session->tree.functions);
    enum func_order order = by_total ? FUNCS_BY_TOTAL : FUNCS_BY_SELF;
    if (!engine || engine_list_functions(engine, order, &session->tree.functions, &session->err))
        return NULL;
    size_t length = session->tree.functions.length;
    session->tree.funcs.length = session->tree.totals.length = session->tree.selfs.length = 0;
    if (!array_reserve(&session->tree.funcs, length) || !array_reserve(&session->tree.totals, length) ||
        !array_reserve(&session->tree.selfs, length))
        return no_memory(session);
    for (size_t i = 0; i < length; i++) {
        session->tree.funcs.data[i] = session->tree.functions.rows[i].func;
        session->tree.totals.data[i] = session->tree.functions.rows[i].total;
        session->tree.selfs.data[i] = session->tree.functions.rows[i].self;
    }
    if (!set_side_columns(session, length))
        return no_memory(session);
    return ANSWER(session, length, session->tree.funcs.data, session->tree.totals.data, session->tree.selfs.data,
                  session->tree.side_figures[0].data, session->tree.side_figures[1].data,
                  session->tree.side_figures[2].data, session->tree.side_figures[3].data);
}

/* Returns strings and numbers of a func, as one column: name, library, library path, file, line, resource. */
const struct view *session_func(struct session *session, uint32_t func)
{
    const struct profile *profile = engine_get_profile(session->engine);
    session->tree.names = get_func_names(profile, func);
    library_paths_find(&session->tree.library_paths, profile, &session->tree.names);
    return ANSWER(session, sizeof(session->tree.names) / sizeof(uint32_t), &session->tree.names);
}

/* Returns whether calls of a func are inlined in the profile: enum inlining. INLINED_NEVER if memory ran out. */
int session_func_inlining(struct session *session, uint32_t func)
{
    struct error ignored;
    if (func_inlining_compute(&session->tree.inlining, engine_get_profile(session->engine), &ignored))
        return INLINED_NEVER;
    return func < session->tree.inlining.length ? session->tree.inlining.data[func] : INLINED_NEVER;
}

/* ---- details: call session_details() or session_function_details(), then read the parts ---- */

int session_details(struct session *session, uint32_t query, uint32_t node)
{
    struct engine *engine = session_get_engine(session, query);
    node_details_destroy(&session->tree.details);
    session->tree.details = (struct node_details){0};
    return !engine ? -EINVAL : engine_compute_details(engine, node, &session->tree.details, &session->err);
}

int session_function_details(struct session *session, uint32_t query, uint32_t func)
{
    struct engine *engine = session_get_engine(session, query);
    node_details_destroy(&session->tree.details);
    session->tree.details = (struct node_details){0};
    return !engine ? -EINVAL : engine_compute_function_details(engine, func, &session->tree.details, &session->err);
}

double session_truncated(const struct session *session)
{
    return session->tree.details.truncated;
}

/* Returns one column of struct category_weight. */
const struct view *session_categories(struct session *session, int self)
{
    const struct category_weights *weights =
        self ? &session->tree.details.categories_self : &session->tree.details.categories_total;
    return ANSWER_ARRAY(session, weights);
}

/* Returns one column of struct line_weight. */
const struct view *session_lines(struct session *session)
{
    return ANSWER_ARRAY(session, &session->tree.details.lines);
}

int session_inlining(const struct session *session)
{
    return session->tree.details.inlining;
}

uint32_t session_inlined_into(const struct session *session)
{
    return session->tree.details.inlined_into;
}
