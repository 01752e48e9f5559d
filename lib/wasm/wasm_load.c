/*
 * Exports that create a session, return its input buffer, and load a profile from bytes.
 */
#include "base/hash.h"
#include "profile/append.h"
#include "wasm/wasm_calls.h"
#include "wasm/wasm_session.h"

/* The seed is a random number of 64 bits, for the hash tables (base/hash.h). */
struct session *session_new(uint32_t seed_low, uint32_t seed_high)
{
    hash_set_seed((uint64_t)seed_high << 32 | seed_low);
    struct session *session = calloc(1, sizeof(*session));
    if (session)
        session_begin(session);
    return session;
}

/* Returns a buffer of `size` bytes for the next input, or NULL if memory ran out. */
unsigned char *session_input(struct session *session, uint32_t size)
{
    session->input.length = 0;
    return array_reserve(&session->input, size) ? session->input.data : NULL;
}

const char *session_error(const struct session *session)
{
    return session->err.text;
}

int session_feed(struct session *session, uint32_t size)
{
    if (!session->import)
        return error_no_memory(&session->err);
    return import_feed(session->import, session->input.data, size, &session->err);
}

/* Begins another load: the current profile stays until the load is finished. */
int session_begin(struct session *session)
{
    import_free(session->import);
    session->import = import_new();
    session->loading.runs_known = 0;
    if (!session->import)
        return error_no_memory(&session->err);
    import_accept_parts(session->import);
    return 0;
}

void session_return_profile(struct session *session, struct profile *profile)
{
    session_close_queries(session);
    marker_view_free(session->markers.view);
    session->markers.view = NULL;
    name_finder_destroy(&session->finding.finder);
    session->finding.finder = (struct name_finder){0};
    session->finding.query = 0;
    array_free(&session->querying.weights);
    array_free(&session->tree.inlining);
    array_free(&session->tree.entry_funcs);
    library_paths_destroy(&session->tree.library_paths);
    engine_return_profile(session->engine, profile);
    session->engine = NULL;
}

int session_refuse_part(struct session *session)
{
    return error_set(&session->err, EINVAL, "the update lacks the start of its profile");
}

/* Replaces the current profile by the loaded profile, or continues the current profile if its next part was loaded. If
 * the continuation fails, parts of the current profile stay until the page loads a whole profile. */
static int set_profile(struct session *session, struct profile *profile)
{
    struct profile before;
    struct error ignored;
    bool is_part = profile->meta.added_from != 0, has_before = session->engine != NULL;
    int code = is_part && !has_before ? session_refuse_part(session) : 0;
    if (has_before)
        session_return_profile(session, &before);
    if (has_before && is_part)
        code = profile_continue(profile, &before, &session->err);
    if (code) {
        profile_destroy(profile);
        if (has_before)
            session->engine = engine_new(&before, &ignored);
        return code;
    }
    if (has_before)
        profile_destroy(&before);
    session->engine = engine_new(profile, &session->err);
    return session->engine ? 0 : -ENOMEM;
}

int session_take_import(struct session *session, struct profile *profile)
{
    if (!session->import)
        return error_no_memory(&session->err);
    profile_init(profile);
    int code = import_finish(session->import, profile, &session->err);
    import_free(session->import);
    session->import = NULL;
    if (code)
        profile_destroy(profile);
    return code;
}

int session_finish(struct session *session)
{
    struct profile profile;
    int code = session_take_import(session, &profile);
    return code ? code : set_profile(session, &profile);
}

/* ---- columns of numbers, which the sessions of helper workers parse ---- */

/* Makes the session defer runs of numbers of at least `least` bytes (profile/read.h), starting at the next piece. With
 * 0, it defers none. */
void session_defer(struct session *session, uint32_t least)
{
    if (session->import)
        import_defer_numbers(session->import, least);
}

/* Returns the runs deferred since the last call, all in the last piece: for each run, the position of its text,
 * the sizes of text and elements in bytes, and the type of the elements. */
const struct view *session_deferred(struct session *session)
{
    size_t count = 0;
    const struct deferred_column *deferred =
        session->import ? profile_reader_get_deferred_columns(import_get_reader(session->import), &count) : NULL;
    session->loading.runs.length = 0;
    for (size_t i = session->loading.runs_known; i < count; i++) {
        const struct deferred_column *run = &deferred[i];
        if (!array_push(&session->loading.runs,
                        (struct deferred_run){(uint32_t)i, (uint32_t)(run->text - (const char *)session->input.data),
                                              (uint32_t)run->size,
                                              (uint32_t)(run->count * column_get_element_size(run->type)), run->type}))
            return no_memory(session);
    }
    session->loading.runs_known = count;
    return ANSWER_ARRAY(session, &session->loading.runs);
}

/* Returns the memory to which the page writes the elements of a run, or NULL if the run has its elements. The memory is
 * valid until the next call. */
unsigned char *session_deferred_elements(struct session *session, uint32_t run)
{
    return session->import ? profile_reader_get_deferred_elements(import_get_reader(session->import), run) : NULL;
}

/* Parses the JSON array in the input as a column of `type`. Returns the elements as bytes, or NULL if the array
 * contains other values. */
const struct view *session_numbers(struct session *session, uint32_t type, uint32_t size)
{
    const struct column *numbers =
        numbers_read(&session->loading.numbers, type, (const char *)session->input.data, size);
    if (!numbers) {
        error_set(&session->err, EINVAL, "the column contains values of another type");
        return NULL;
    }
    size_t bytes = numbers->length * column_get_element_size(type);
    return ANSWER(session, bytes, numbers->data);
}

/* Returns a string of the profile, in UTF-8. */
const struct view *session_string(struct session *session, uint32_t string)
{
    const struct strings *strings = &engine_get_profile(session->engine)->strings;
    const struct string_entry *entry = string < strings->entries.length ? &strings->entries.data[string] : NULL;
    return ANSWER(session, entry ? entry->length : 0, entry ? entry->text : "");
}
