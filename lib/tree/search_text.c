/*
 * The search compares 16 bytes at a time: the term can match only at a position where its first and last bytes match
 * (Mula, "SIMD-friendly algorithms for substring searching"). The compiler turns the vector type into SSE2, NEON or
 * WebAssembly SIMD.
 */
#include "tree/search_text.h"

typedef uint8_t bytes16 __attribute__((vector_size(16)));

/* Returns whether `text` starts with the `length` bytes of `term`, which is in lower case. */
static bool text_starts_with(const char *text, const char *term, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (to_lower_ascii(text[i]) != term[i])
            return false;
    return true;
}

/* Returns the bit that distinguishes upper and lower case of this letter, or 0 for other bytes. */
static uint8_t get_case_bit(char c)
{
    return c >= 'a' && c <= 'z' ? 0x20 : 0;
}

static bytes16 load16(const char *text)
{
    bytes16 bytes;
    memcpy(&bytes, text, sizeof(bytes));
    return bytes;
}

static bool has_any_byte(bytes16 bytes)
{
    uint64_t halves[2];
    memcpy(halves, &bytes, sizeof(halves));
    return (halves[0] | halves[1]) != 0;
}

static bool text_contains(const char *text, size_t text_length, const char *term, size_t length)
{
    if (length > text_length)
        return false;
    size_t places = text_length - length + 1, at = 0;
    uint8_t first_bit = get_case_bit(term[0]), last_bit = get_case_bit(term[length - 1]);
    bytes16 first = (bytes16){0} + (uint8_t)term[0], last = (bytes16){0} + (uint8_t)term[length - 1];
    for (; places - at >= 16; at += 16) {
        bytes16 found = (bytes16)((load16(text + at) | first_bit) == first) &
                        (bytes16)((load16(text + at + length - 1) | last_bit) == last);
        if (!has_any_byte(found))
            continue;
        for (size_t i = 0; i < 16; i++)
            if (found[i] && text_starts_with(text + at + i, term, length))
                return true;
    }
    for (; at < places; at++)
        if (text_starts_with(text + at, term, length))
            return true;
    return false;
}

/* ---- terms ---- */

struct span trim_span(struct span span)
{
    while (span.at < span.end && text_is_blank(*span.at))
        span.at++;
    while (span.at < span.end && text_is_blank(span.end[-1]))
        span.end--;
    return span;
}

bool span_equals_ignoring_case(struct span span, const char *name)
{
    size_t length = strlen(name);
    if ((size_t)(span.end - span.at) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (to_lower_ascii(span.at[i]) != to_lower_ascii(name[i]))
            return false;
    return true;
}

/* Returns whether the span has `quote` at both ends and text between. */
static bool is_enclosed(struct span span, char quote)
{
    return span.end - span.at > 2 && *span.at == quote && span.end[-1] == quote;
}

struct term_parser {
    struct search_terms *terms;
    search_is_field *is_field;
    const void *context;
};

/* Removes "field:" from the front. A word that names no field, or is followed by two colons, is text. */
static struct span split_field(const struct term_parser *parser, struct span *span)
{
    const struct span none = {NULL, NULL};
    const char *colon = span->at < span->end ? memchr(span->at, ':', (size_t)(span->end - span->at)) : NULL;
    if (!colon || colon == span->at || colon + 1 == span->end || colon[1] == ':')
        return none;
    struct span field = {span->at, colon};
    if (!parser->is_field(field, parser->context))
        return none;
    *span = trim_span((struct span){colon + 1, span->end});
    return field;
}

/* Finds the end of the term at `rest.at`: a comma, or the closing quote or slash of a term that begins with a quote or
 * slash. */
static const char *find_term_end(const struct term_parser *parser, struct span rest)
{
    const char *comma = memchr(rest.at, ',', (size_t)(rest.end - rest.at));
    struct span term = trim_span(rest);
    if (term.at < term.end && *term.at == '-')
        term.at++;
    split_field(parser, &term);
    if (term.at < term.end && (*term.at == '"' || *term.at == '/'))
        for (const char *at = term.at + 2; at < rest.end; at++) {
            if (*at != *term.at || (at[-1] == '\\' && *at == '/'))
                continue;
            const char *after = at + 1;
            while (after < rest.end && text_is_blank(*after))
                after++;
            if (after == rest.end || *after == ',')
                return after;
        }
    return comma ? comma : rest.end;
}

static bool add_term(const struct term_parser *parser, struct span span)
{
    struct search_terms *terms = parser->terms;
    span = trim_span(span);
    if (span.at == span.end || terms->count == SEARCH_MAX_TERMS)
        return true;
    struct search_term *term = &terms->items[terms->count++];
    term->excluded = *span.at == '-' && span.end - span.at > 1;
    span.at += term->excluded;
    term->whole = span;
    term->field = split_field(parser, &span);
    term->exact = is_enclosed(span, '"');
    if (is_enclosed(span, '/')) {
        struct error err;
        int code = pattern_init(&term->pattern, span.at + 1, (size_t)(span.end - span.at) - 2, &err);
        term->has_pattern = code == 0;
        if (code == -ENOMEM)
            return false;
    }
    bool has_quotes = term->exact || term->has_pattern;
    term->written = (struct span){span.at + has_quotes, span.end - has_quotes};
    for (const char *at = term->written.at; at < term->written.end; at++)
        if (!array_push(&term->lower, to_lower_ascii(*at)))
            return false;
    return true;
}

int search_terms_parse(struct search_terms *terms, const char *text, size_t length, search_is_field *is_field,
                       const void *context, struct error *err)
{
    const struct term_parser parser = {terms, is_field, context};
    *terms = (struct search_terms){.count = 0};
    for (struct span rest = {text, length ? text + length : text}; rest.at < rest.end;) {
        const char *end = find_term_end(&parser, rest);
        if (!add_term(&parser, (struct span){rest.at, end}))
            return error_no_memory(err);
        rest.at = end + (end < rest.end);
    }
    return 0;
}

bool search_term_matches(const struct search_term *term, const char *text, size_t length)
{
    if (term->has_pattern)
        return pattern_matches(&term->pattern, text, length);
    if (term->exact)
        return length == term->lower.length && text_starts_with(text, term->lower.data, length);
    return text_contains(text, length, term->lower.data, term->lower.length);
}

void search_terms_destroy(struct search_terms *terms)
{
    for (size_t i = 0; i < terms->count; i++) {
        pattern_destroy(&terms->items[i].pattern);
        array_free(&terms->items[i].lower);
    }
    terms->count = 0;
}
