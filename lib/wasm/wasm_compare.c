/*
 * Comparisons made on the page: of two profiles loaded in turn, or of two ranges or groups of threads of one profile.
 * Also the confidence of the changes of any comparison.
 */
#include "profile/compare.h"
#include "profile/match_funcs.h"
#include "tree/changes.h"
#include "wasm/wasm_calls.h"
#include "wasm/wasm_session.h"

static void drop_side(struct session *session, uint32_t side)
{
    if (session->comparing.has_side[side])
        profile_destroy(&session->comparing.sides[side]);
    session->comparing.has_side[side] = false;
}

/* Works as session_finish(), for a profile that becomes a side (enum profile_side) of the next comparison. */
int session_finish_side(struct session *session, uint32_t side)
{
    struct profile profile;
    if (side >= PROFILE_SIDES)
        return error_set(&session->err, EINVAL, "unknown side of a comparison");
    int code = session_take_import(session, &profile);
    if (code)
        return code;
    if (profile.meta.added_from != 0) {
        profile_destroy(&profile);
        return session_refuse_part(session);
    }
    drop_side(session, side);
    session->comparing.sides[side] = profile;
    session->comparing.has_side[side] = true;
    return 0;
}

/* Selects the threads of a side for the next comparison. The input has a byte for each thread, which is 0 to omit the
 * thread. Empty input selects all threads. */
int session_keep_threads(struct session *session, uint32_t side, uint32_t size)
{
    if (side >= PROFILE_SIDES || size > session->input.capacity)
        return error_set(&session->err, EINVAL, "unknown side of a comparison");
    session->comparing.kept[side].length = 0;
    if (!array_reserve(&session->comparing.kept[side], size + 1))
        return error_no_memory(&session->err);
    if (size)
        memcpy(session->comparing.kept[side].data, session->input.data, size);
    session->comparing.kept[side].length = size;
    return 0;
}

static bool fits_threads(const struct session *session, enum profile_side side, const struct profile *profile)
{
    return !session->comparing.kept[side].length || session->comparing.kept[side].length == profile->threads.length;
}

/* Replaces the loaded profile by the comparison of the two sides. The input holds the names of the sides, each with its
 * NUL; the ranges are in ms after the start of each side. With `forgives`, functions match without template arguments
 * and compiler suffixes. */
int session_compare(struct session *session, uint32_t size, double base_from, double base_to, double new_from,
                    double new_to, int forgives)
{
    const char *names = (const char *)session->input.data;
    const char *end = size ? memchr(names, 0, size) : NULL;
    if (!session->comparing.has_side[SIDE_BASE] || !session->comparing.has_side[SIDE_NEW] || !end || names[size - 1])
        return error_set(&session->err, EINVAL, "a comparison needs two profiles");
    const char *new_name = end + 1 < names + size ? end + 1 : "";
    struct profile before, compared;
    struct compare_input inputs[] = {{.profile = &session->comparing.sides[SIDE_BASE],
                                      .name = names,
                                      .side = SIDE_BASE,
                                      .from = base_from,
                                      .to = base_to},
                                     {.profile = &session->comparing.sides[SIDE_NEW],
                                      .name = new_name,
                                      .side = SIDE_NEW,
                                      .from = new_from,
                                      .to = new_to}};
    bool fits = true;
    for (int side = 0; side < PROFILE_SIDES; side++) {
        fits = fits && fits_threads(session, (enum profile_side)side, inputs[side].profile);
        inputs[side].kept = session->comparing.kept[side].length ? session->comparing.kept[side].data : NULL;
    }
    if (!fits)
        return error_set(&session->err, EINVAL, "the selected threads belong to another profile");
    unsigned forgiven = forgives ? FORGIVE_TEMPLATES | FORGIVE_SUFFIXES : 0;
    int code = profile_compare(&compared, inputs, PROFILE_SIDES, forgiven, &session->err);
    for (int side = 0; side < PROFILE_SIDES; side++) {
        session->comparing.has_side[side] = false;
        session->comparing.kept[side].length = 0;
    }
    if (code)
        return code;
    if (session->engine) {
        session_return_profile(session, &before);
        profile_destroy(&before);
    }
    session->engine = engine_new(&compared, &session->err);
    return session->engine ? 0 : -ENOMEM;
}

/* Returns the factor for the new side that makes a quantity equal on both sides. `by` is an enum compare_by; the
 * input holds the name of a function with its NUL, `size` bytes. */
const struct view *session_scale(struct session *session, int by, uint32_t size)
{
    const char *func = (const char *)session->input.data;
    bool has_func = by == COMPARE_BY_FUNCTION;
    if (!session->engine || by < COMPARE_BY_NONE || by > COMPARE_BY_FUNCTION ||
        (has_func && (size < 2 || func[size - 1]))) {
        error_set(&session->err, EINVAL, "unknown kind of normalization");
        return NULL;
    }
    int code = comparison_find_scale(engine_get_profile(session->engine), (enum compare_by)by, has_func ? func : NULL,
                                     &session->comparing.scale, &session->err);
    return code ? NULL : ANSWER(session, 1, &session->comparing.scale);
}

/* Returns one column of struct known_change: the change of the total, then the changes of the query's functions,
 * heaviest first. With `by_total`, changes of the functions' total, else of their self. */
const struct view *session_changes(struct session *session, uint32_t query, int by_total)
{
    struct engine *engine = session_get_engine(session, query);
    struct func_changes changes;
    if (!engine)
        return NULL;
    int code = func_changes_find(&changes, engine, by_total ? FUNCS_BY_TOTAL : FUNCS_BY_SELF, &session->err);
    session->comparing.changes.length = 0;
    if (!code && !array_reserve(&session->comparing.changes, changes.length + 1))
        code = error_no_memory(&session->err);
    if (!code)
        session->comparing.changes.data[session->comparing.changes.length++] =
            (struct known_change){PROFILE_NONE, changes.all.is_noise, changes.all.low, changes.all.high};
    for (size_t i = 0; !code && i < changes.functions.length; i++) {
        uint32_t func = changes.functions.rows[i].func;
        const struct change_estimate *change = get_func_change(&changes, func);
        if (change)
            session->comparing.changes.data[session->comparing.changes.length++] =
                (struct known_change){func, change->is_noise, change->low, change->high};
    }
    func_changes_destroy(&changes);
    return code ? NULL : ANSWER_ARRAY(session, &session->comparing.changes);
}
