/*
 * Loading: the life of a session, its input buffer, and the bytes of a profile.
 */
#include "tree/wasm_calls.h"
#include "tree/wasm_session.h"

#include <errno.h>
#include <stdlib.h>

struct session *session_new(void)
{
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

/* The bytes of a string of the profile, UTF-8. */
const struct view *session_string(struct session *session, uint32_t string)
{
    const struct strings *strings = &engine_profile(session->engine)->strings;
    const struct string_entry *entry = string < strings->entries.length ? &strings->entries.data[string] : NULL;
    session->view = (struct view){entry ? entry->length : 0, {entry ? entry->text : ""}};
    return &session->view;
}
