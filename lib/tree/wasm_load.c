/*
 * Loading: the life of a session, its input buffer, and the bytes of a profile.
 */
#include "base/hash.h"
#include "tree/wasm_calls.h"
#include "tree/wasm_session.h"

#include <errno.h>
#include <stdlib.h>

/* The seed is a random number of 64 bits, for the hash tables (base/hash.h). */
struct session *session_new(uint32_t seed_low, uint32_t seed_high)
{
    hash_set_seed((uint64_t)seed_high << 32 | seed_low);
    struct session *session = calloc(1, sizeof(*session));
    if (session)
        session->reader = profile_reader_new();
    return session;
}

/* A buffer of `size` bytes to write the next input into; NULL if memory ran out. */
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
    if (!session->reader)
        return error_no_memory(&session->err);
    return profile_reader_feed(session->reader, session->input.data, size, &session->err);
}

int session_finish(struct session *session)
{
    struct profile profile;
    if (!session->reader)
        return error_no_memory(&session->err);
    profile_init(&profile);
    int code = profile_reader_finish(session->reader, &profile, &session->err);
    profile_reader_free(session->reader);
    session->reader = NULL;
    if (code) {
        profile_destroy(&profile);
        return code;
    }
    session->engine = engine_new(&profile, &session->err);
    return session->engine ? 0 : -ENOMEM;
}

/* ---- numbers that other sessions read ---- */

/* From the next piece on, runs of numbers of `least` bytes or more are deferred; 0: none (see profile/read.h). */
void session_defer(struct session *session, uint32_t least)
{
    if (session->reader)
        profile_reader_defer(session->reader, least);
}

/* The runs that were deferred since the last call of this, all in the last piece: where the text of each is in it, how
 * many bytes it and its elements have, and of which type these are. */
const struct view *session_deferred(struct session *session)
{
    size_t count = 0;
    const struct deferred_column *deferred = session->reader ? profile_reader_deferred(session->reader, &count) : NULL;
    session->runs.length = 0;
    for (size_t i = session->runs_known; i < count; i++) {
        const struct deferred_column *run = &deferred[i];
        if (!array_push(&session->runs,
                        (struct deferred_run){(uint32_t)i, (uint32_t)(run->text - (const char *)session->input.data),
                                              (uint32_t)run->size,
                                              (uint32_t)(run->count * column_element_size(run->type)), run->type}))
            return no_memory(session);
    }
    session->runs_known = count;
    return ANSWER_ARRAY(session, &session->runs);
}

/* Where the elements of a run belong, before the next call; NULL if it has them already. */
unsigned char *session_deferred_elements(struct session *session, uint32_t run)
{
    return session->reader ? profile_reader_deferred_elements(session->reader, run) : NULL;
}

/* The elements of a column of `type`, as bytes, from the JSON array in the input; NULL if anything else is in it. */
const struct view *session_numbers(struct session *session, uint32_t type, uint32_t size)
{
    const struct column *numbers = numbers_read(&session->numbers, type, (const char *)session->input.data, size);
    if (!numbers) {
        error_set(&session->err, EINVAL, "these are no numbers of that type");
        return NULL;
    }
    size_t bytes = numbers->length * column_element_size(type);
    return ANSWER(session, bytes, numbers->data);
}

/* The bytes of a string of the profile, UTF-8. */
const struct view *session_string(struct session *session, uint32_t string)
{
    const struct strings *strings = &engine_profile(session->engine)->strings;
    const struct string_entry *entry = string < strings->entries.length ? &strings->entries.data[string] : NULL;
    return ANSWER(session, entry ? entry->length : 0, entry ? entry->text : "");
}
