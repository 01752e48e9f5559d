/*
 * The call tree, the function list and names: for web/src/engine/tree.ts.
 */
#include "wasm/wasm_calls.h"
#include "wasm/wasm_session.h"

#include <errno.h>
#include <string.h>

/* One column: struct query_summary. */
const struct view *session_summary(struct session *session, uint32_t query)
{
    const struct engine *engine = session_engine(session, query);
    if (!engine)
        return NULL;
    const struct timings *timings = engine_timings(engine);
    session->summary = (struct query_summary){timings->root_total,
                                              (double)timings->samples,
                                              timings->all_total,
                                              (double)timings->all_samples,
                                              (double)engine_node_count(engine),
                                              0,
                                              0};
    if (timings->sides) {
        session->summary.base_total = timings->sides[SIDE_BASE].root_total;
        session->summary.new_total = timings->sides[SIDE_NEW].root_total;
    }
    return ANSWER(session, sizeof(session->summary) / sizeof(double), &session->summary);
}

/* The last four columns are NULL unless the query is about both sides of a comparison. */
const struct view *session_view_rows(struct session *session, int code)
{
    const struct tree_rows *rows = &session->rows;
    if (code)
        return NULL;
    bool has_sides = rows->length > 0 && rows->is_compared;
    return ANSWER(session, rows->length, rows->node, rows->depth, rows->func, rows->category, rows->total, rows->self,
                  rows->has_children, has_sides ? rows->base_total : NULL, has_sides ? rows->base_self : NULL,
                  has_sides ? rows->new_total : NULL, has_sides ? rows->new_self : NULL);
}

const struct view *session_children(struct session *session, uint32_t query, uint32_t node)
{
    struct engine *engine = session_engine(session, query);
    return !engine ? NULL : session_view_rows(session, engine_children(engine, node, &session->rows, &session->err));
}

const struct view *session_descendants(struct session *session, uint32_t query, uint32_t node, uint32_t limit)
{
    struct engine *engine = session_engine(session, query);
    return !engine ? NULL
                   : session_view_rows(session, engine_descendants(engine, node, limit, &session->rows, &session->err));
}

const struct view *session_row(struct session *session, uint32_t query, uint32_t node)
{
    struct engine *engine = session_engine(session, query);
    return !engine ? NULL : session_view_rows(session, engine_row(engine, node, &session->rows, &session->err));
}

static const struct view *answer_path(struct session *session, int code)
{
    if (code)
        return NULL;
    return ANSWER_ARRAY(session, &session->path);
}

const struct view *session_path(struct session *session, uint32_t query, uint32_t node)
{
    struct engine *engine = session_engine(session, query);
    return !engine ? NULL : answer_path(session, engine_path(engine, node, &session->path, &session->err));
}

const struct view *session_heaviest_path(struct session *session, uint32_t query, uint32_t depth, double share)
{
    struct engine *engine = session_engine(session, query);
    return !engine ? NULL
                   : answer_path(session, engine_heaviest_path(engine, depth, share, &session->path, &session->err));
}

/* The input holds the funcs of the path. NODE_NONE if no such node exists, or the query is closed. */
uint32_t session_find(struct session *session, uint32_t query, uint32_t length, int nearest)
{
    struct engine *engine = session_engine(session, query);
    const uint32_t *path = session_words(session);
    uint32_t node = NODE_NONE;
    int code = !engine ? -EINVAL : engine_find(engine, path, length, nearest != 0, &node, &session->err);
    return code ? NODE_NONE : node;
}

/* The input holds the words of one transform and the funcs of a path of the current tree. */
const struct view *session_rewrite_path(struct session *session, uint32_t query, uint32_t transform_words,
                                        uint32_t length)
{
    struct engine *engine = session_engine(session, query);
    const uint32_t *words = session_words(session);
    size_t left = length;
    session->path.length = 0;
    int code = engine ? session_read_transforms(session, words, transform_words) : -EINVAL;
    if (!code && (session->transforms.length != 1 || !array_reserve(&session->path, left)))
        code = error_set(&session->err, EINVAL, "give one transform");
    if (code)
        return NULL;
    if (left)
        memcpy(session->path.data, words + transform_words, left * sizeof(*words));
    code = engine_rewrite_path(engine, session->transforms.data, session->path.data, &left, &session->err);
    session->path.length = left;
    return answer_path(session, code);
}

/* enum recursion; negative if the query is not open */
int session_recursion(struct session *session, uint32_t query, uint32_t func)
{
    const struct engine *engine = session_engine(session, query);
    return engine ? (int)engine_recursion(engine, func) : -EINVAL;
}

/* ---- functions ---- */

/* Of a comparison, base total, base self, new total and new self of the functions; else these columns stay empty. */
static bool set_side_columns(struct session *session, size_t length)
{
    if (!profile_is_comparison(engine_profile(session->engine)))
        return true;
    for (int i = 0; i < 2 * PROFILE_SIDES; i++) {
        session->function_sides[i].length = 0;
        if (!array_reserve(&session->function_sides[i], length))
            return false;
        for (size_t at = 0; at < length; at++) {
            const struct side_figures *side = &session->functions.rows[at].sides[i / 2];
            session->function_sides[i].data[at] = i % 2 ? side->self : side->total;
        }
    }
    return true;
}

/* Columns: func, total, self, and as in set_side_columns(). */
const struct view *session_functions(struct session *session, uint32_t query, int by_total)
{
    struct engine *engine = session_engine(session, query);
    func_timings_destroy(&session->functions);
    enum func_order order = by_total ? FUNCS_BY_TOTAL : FUNCS_BY_SELF;
    if (!engine || engine_functions(engine, order, &session->functions, &session->err))
        return NULL;
    size_t length = session->functions.length;
    session->function_funcs.length = session->function_totals.length = session->function_selfs.length = 0;
    if (!array_reserve(&session->function_funcs, length) || !array_reserve(&session->function_totals, length) ||
        !array_reserve(&session->function_selfs, length))
        return no_memory(session);
    for (size_t i = 0; i < length; i++) {
        session->function_funcs.data[i] = session->functions.rows[i].func;
        session->function_totals.data[i] = session->functions.rows[i].total;
        session->function_selfs.data[i] = session->functions.rows[i].self;
    }
    if (!set_side_columns(session, length))
        return no_memory(session);
    return ANSWER(session, length, session->function_funcs.data, session->function_totals.data,
                  session->function_selfs.data, session->function_sides[0].data, session->function_sides[1].data,
                  session->function_sides[2].data, session->function_sides[3].data);
}

/* Strings and numbers of a func, as one column: name, library, library path, file, line, resource. */
const struct view *session_func(struct session *session, uint32_t func)
{
    const struct profile *profile = engine_profile(session->engine);
    session->names = func_names_of(profile, func);
    library_paths_find(&session->library_paths, profile, &session->names);
    return ANSWER(session, sizeof(session->names) / sizeof(uint32_t), &session->names);
}

/* Whether calls of a func are inlined in the whole profile: enum inlining. INLINED_NEVER if memory ran out. */
int session_func_inlining(struct session *session, uint32_t func)
{
    struct error ignored;
    if (func_inlining_fill(&session->inlining, engine_profile(session->engine), &ignored))
        return INLINED_NEVER;
    return func < session->inlining.length ? session->inlining.data[func] : INLINED_NEVER;
}

/* ---- details: session_details() or session_function_details() first, then its parts ---- */

int session_details(struct session *session, uint32_t query, uint32_t node)
{
    struct engine *engine = session_engine(session, query);
    node_details_destroy(&session->details);
    session->details = (struct node_details){0};
    return !engine ? -EINVAL : engine_details(engine, node, &session->details, &session->err);
}

int session_function_details(struct session *session, uint32_t query, uint32_t func)
{
    struct engine *engine = session_engine(session, query);
    node_details_destroy(&session->details);
    session->details = (struct node_details){0};
    return !engine ? -EINVAL : engine_function_details(engine, func, &session->details, &session->err);
}

double session_truncated(const struct session *session)
{
    return session->details.truncated;
}

/* One column of struct category_weight. */
const struct view *session_categories(struct session *session, int self)
{
    const struct category_weights *weights =
        self ? &session->details.categories_self : &session->details.categories_total;
    return ANSWER_ARRAY(session, weights);
}

/* One column of struct line_weight. */
const struct view *session_lines(struct session *session)
{
    return ANSWER_ARRAY(session, &session->details.lines);
}

int session_inlining(const struct session *session)
{
    return session->details.inlining;
}

uint32_t session_inlined_into(const struct session *session)
{
    return session->details.inlined_into;
}
