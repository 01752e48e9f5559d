/*
 * Exports for web/src/engine/find.ts: finding functions and other texts of the page by typed text, and the terms of a
 * search.
 */
#include "tree/fuzzy.h"
#include "wasm/wasm_calls.h"
#include "wasm/wasm_session.h"

/* Orders names with equal scores by the totals of a query. While a newer query is computed, the totals of the previous
 * query apply, so typing never waits. */
static int weigh_names(struct session *session, uint32_t query)
{
    struct func_timings functions = {0};
    const struct open_query *open = &session->querying.open[query % MOST_QUERIES];
    int code = 0;
    if (!session->finding.finder.profile)
        code = name_finder_init(&session->finding.finder, engine_get_profile(session->engine), &session->err);
    if (code || query == 0 || open->id != query || session->finding.query == query)
        return code;
    code = engine_list_all_functions(open->engine, FUNCS_BY_TOTAL, &functions, &session->err);
    if (!code)
        name_finder_weigh(&session->finding.finder, &functions);
    func_timings_destroy(&functions);
    session->finding.query = code ? 0 : query;
    return code;
}

/* The input holds the typed text. Returns one column of struct found_name. */
const struct view *session_find_names(struct session *session, uint32_t query, uint32_t length, uint32_t limit)
{
    const char *text = (const char *)session->input.data;
    if (weigh_names(session, query) ||
        name_finder_find(&session->finding.finder, text, length, limit, &session->finding.found, &session->err))
        return NULL;
    return ANSWER_ARRAY(session, &session->finding.found);
}

/* The input holds the typed text, then texts, each NUL-terminated. Returns columns: per text, an int16 with the
 * score of each typed word; per byte of the texts, including NULs, a bit for each word that matches the byte; and the
 * number of words. `length`: of the texts. */
const struct view *session_find_texts(struct session *session, uint32_t typed, uint32_t length)
{
    struct fuzzy_word words[FUZZY_WORDS];
    const char *text = (const char *)session->input.data + typed, *end = text + length;
    size_t count = split_fuzzy_words(words, (const char *)session->input.data, typed), texts = 0;
    session->finding.text_scores.length = 0;
    session->finding.text_marks.length = 0;
    if (!array_reserve(&session->finding.text_marks, (size_t)length + 1))
        return no_memory(session);
    memset(session->finding.text_marks.data, 0, length);
    for (const char *next; text < end; text = next + 1, texts++) {
        next = memchr(text, '\0', (size_t)(end - text));
        next = next ? next : end;
        uint8_t *marks = session->finding.text_marks.data + (length - (size_t)(end - text));
        size_t size = (size_t)(next - text);
        struct fuzzy_text looked = {text, size < FUZZY_LONGEST ? size : FUZZY_LONGEST};
        for (size_t i = 0; i < count; i++) {
            int score = fuzzy_mark_matches(looked, &words[i], marks, (uint8_t)(1u << i));
            if (!array_push(&session->finding.text_scores, (int16_t)score))
                return no_memory(session);
        }
    }
    session->finding.typed_words = (uint32_t)count;
    return ANSWER(session, texts, session->finding.text_scores.data, session->finding.text_marks.data,
                  &session->finding.typed_words);
}

/* Returns the terms of the search in the input, as JSON: a list of {text, kind, excluded}. */
const struct view *session_search_terms(struct session *session, uint32_t length)
{
    struct search search;
    struct json_writer *json = &session->json;
    if (search_parse(&search, (const char *)session->input.data, length, &session->err))
        return no_memory(session);
    session_begin_json(session);
    json_open(json, '[');
    for (size_t t = 0; t < search.terms.count; t++) {
        const struct search_term *term = &search.terms.items[t];
        json_open(json, '{');
        json_key(json, "text");
        json_text(json, term->written.at, (size_t)(term->written.end - term->written.at));
        json_member_text(json, "kind", term->exact ? "exact" : term->has_pattern ? "expression" : "part");
        json_member_bool(json, "excluded", term->excluded);
        json_close(json, '}');
    }
    json_close(json, ']');
    search_destroy(&search);
    return session_answer_json(session, 0);
}
