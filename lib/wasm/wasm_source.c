/*
 * Exports for web/src/engine/source.ts: costs of lines and instructions, and keys to request source text and machine
 * code.
 */
#include "wasm/wasm_calls.h"
#include "wasm/wasm_session.h"

enum { MOST_PLACES = 4 };

/* ---- source files ---- */

/* Returns PROFILE_NONE if the source of the func is unknown. */
uint32_t session_func_source(const struct session *session, uint32_t func)
{
    const struct profile *profile = engine_get_profile(session->engine);
    uint32_t source = func < profile->funcs.length ? profile->funcs.source[func] : PROFILE_NONE;
    return source < profile->sources.length ? source : PROFILE_NONE;
}

static const struct view *answer_words(struct session *session, const struct source_words *words, uint32_t length)
{
    session->source.words = *words;
    return ANSWER(session, length, session->source.words.words);
}

/* Returns strings: name and text of the source file. */
const struct view *session_source(struct session *session, uint32_t source)
{
    const struct profile *profile = engine_get_profile(session->engine);
    struct source_words words = {{PROFILE_NONE, PROFILE_NONE}};
    if (source < profile->sources.length)
        words = (struct source_words){{profile->sources.data[source].filename, profile->sources.data[source].content}};
    return answer_words(session, &words, 2);
}

/* Returns one column of struct code_address. */
const struct view *session_source_places(struct session *session, uint32_t source)
{
    const struct profile *profile = engine_get_profile(session->engine);
    if (list_source_places(&session->source.places, profile, source, MOST_PLACES, &session->err))
        return NULL;
    return ANSWER_ARRAY(session, &session->source.places);
}

/* Returns strings of a library: name, debug name, breakpad id, code id. */
const struct view *session_library(struct session *session, uint32_t lib)
{
    const struct profile *profile = engine_get_profile(session->engine);
    struct source_words words = {{PROFILE_NONE, PROFILE_NONE, PROFILE_NONE, PROFILE_NONE}};
    if (lib < profile->libs.length) {
        const struct library *row = &profile->libs.data[lib];
        words = (struct source_words){{row->name, row->debug_name, row->breakpad_id, row->code_id}};
    }
    return answer_words(session, &words, 4);
}

/* Returns words: library, name (string), size; and with the address as a double. */
const struct view *session_symbol(struct session *session, uint32_t symbol)
{
    const struct profile *profile = engine_get_profile(session->engine);
    struct source_words words = {{PROFILE_NONE, PROFILE_NONE, 0}};
    session->source.symbol_address = -1;
    if (symbol < profile->native_symbols.length) {
        const struct native_symbol *row = &profile->native_symbols.data[symbol];
        words = (struct source_words){{row->lib, row->name, row->size}};
        session->source.symbol_address = (double)row->address;
    }
    answer_words(session, &words, 3);
    session->view.columns[1] = &session->source.symbol_address;
    return &session->view;
}

/* Returns one column of struct address_line. */
const struct view *session_address_lines(struct session *session, uint32_t symbol)
{
    if (list_address_lines(&session->source.address_lines, engine_get_profile(session->engine), symbol, &session->err))
        return NULL;
    return ANSWER_ARRAY(session, &session->source.address_lines);
}

/* ---- costs: the input holds the funcs of the path, or the func ---- */

static struct frame_selection read_selection(const struct session *session, int kind, uint32_t length,
                                             struct tree_path *path)
{
    *path = (struct tree_path){session_get_words(session), length, kind == SELECT_INVERTED_PATH};
    if (kind == SELECT_PATH || kind == SELECT_INVERTED_PATH)
        return (struct frame_selection){path, PROFILE_NONE};
    return (struct frame_selection){NULL, kind == SELECT_FUNC && length == 1 ? path->funcs[0] : PROFILE_NONE};
}

/* Counts all frames of the file, or only frames of one func. In a query of both sides of a comparison, `side` selects
 * one (enum profile_side). -1 selects the weight of the query. Returns columns: struct line_cost, and two doubles,
 * the total and self of all lines. */
const struct view *session_line_costs(struct session *session, uint32_t query, uint32_t source, uint32_t func, int kind,
                                      uint32_t length, int side)
{
    const struct engine *engine = session_get_engine(session, query);
    if (!engine)
        return NULL;
    bool is_side = side >= 0 && side < PROFILE_SIDES && engine_get_timings(engine)->sides;
    struct counted_stacks counted = is_side ? engine_get_counted_stacks_of_side(engine, (enum profile_side)side)
                                            : engine_get_counted_stacks(engine);
    struct tree_path path;
    struct line_request request = {source, func, read_selection(session, kind, length, &path)};
    line_costs_destroy(&session->source.line_costs);
    if (line_costs_compute(&session->source.line_costs, engine_get_profile(session->engine), &counted, &request,
                           &session->err))
        return NULL;
    return ANSWER(session, session->source.line_costs.lines.length, session->source.line_costs.lines.data,
                  &session->source.line_costs.total);
}

/* Returns the calls inlined into the lines of session_line_costs(): struct inlined_cost. */
const struct view *session_inlined_costs(struct session *session)
{
    return ANSWER_ARRAY(session, &session->source.line_costs.inlined);
}

/* Returns columns: struct hot_line, and one double, the self of all lines. */
const struct view *session_hot_lines(struct session *session, uint32_t query, uint32_t limit)
{
    const struct engine *engine = session_get_engine(session, query);
    if (!engine)
        return NULL;
    struct counted_stacks counted = engine_get_counted_stacks(engine);
    hot_lines_destroy(&session->source.hot_lines);
    if (hot_lines_compute(&session->source.hot_lines, engine_get_profile(session->engine), &counted, limit,
                          &session->err))
        return NULL;
    return ANSWER(session, session->source.hot_lines.rows.length, session->source.hot_lines.rows.data,
                  &session->source.hot_lines.known);
}

/* After the selection, the input holds the starts of instructions (see struct address_request). Returns columns:
 * struct address_cost, and two doubles, the total and self of the symbol. */
const struct view *session_address_costs(struct session *session, uint32_t query, uint32_t symbol, int kind,
                                         uint32_t length, uint32_t start_count)
{
    const struct engine *engine = session_get_engine(session, query);
    if (!engine)
        return NULL;
    struct counted_stacks counted = engine_get_counted_stacks(engine);
    struct tree_path path;
    struct address_request request = {symbol, session_get_words(session) + length, start_count,
                                      read_selection(session, kind, length, &path)};
    address_costs_destroy(&session->source.address_costs);
    if (address_costs_compute(&session->source.address_costs, engine_get_profile(session->engine), &counted, &request,
                              &session->err))
        return NULL;
    return ANSWER(session, session->source.address_costs.rows.length, session->source.address_costs.rows.data,
                  &session->source.address_costs.total);
}

/* Returns one column of struct symbol_cost. */
const struct view *session_symbol_costs(struct session *session, uint32_t query, uint32_t func, int kind,
                                        uint32_t length)
{
    const struct engine *engine = session_get_engine(session, query);
    if (!engine)
        return NULL;
    struct counted_stacks counted = engine_get_counted_stacks(engine);
    struct tree_path path;
    if (symbol_costs_compute(&session->source.symbol_costs, engine_get_profile(session->engine), &counted, func,
                             read_selection(session, kind, length, &path), &session->err))
        return NULL;
    return ANSWER_ARRAY(session, &session->source.symbol_costs);
}
