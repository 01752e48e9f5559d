/*
 * Text of searches: ASCII case is ignored, and commas separate terms.
 */
#pragma once

#include "base/text_buffer.h"
#include "tree/pattern.h"

struct span {
    const char *at, *end;
};

static inline char to_lower_ascii(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static inline bool text_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Returns the span without blanks at its ends. */
struct span trim_span(struct span span);

/* Returns whether the span is `name`, ignoring case. */
bool span_equals_ignoring_case(struct span span, const char *name);

/* ---- terms ---- */

enum { SEARCH_MAX_TERMS = 16 };

struct search_term {
    struct span whole;        /* the term as typed, without the minus of an excluded term */
    struct span written;      /* the term as typed, without its field and quotes or slashes */
    struct span field;        /* the name before a colon; NULL: none */
    struct text_buffer lower; /* the term in lower case */
    bool excluded, exact, has_pattern;
    struct pattern pattern;
};

struct search_terms {
    struct search_term items[SEARCH_MAX_TERMS];
    size_t count; /* terms after the sixteenth are ignored */
};

/* Returns whether the name of "name:term" is a field. */
typedef bool search_is_field(struct span name, const void *context);

/* Splits a search into terms, whose spans point into `text`. Sets *terms. Fails only if memory runs out. Call
 * search_terms_destroy() also after a failure. */
int search_terms_parse(struct search_terms *terms, const char *text, size_t length, search_is_field *is_field,
                       const void *context, struct error *err);

/* Returns whether the text contains the term, equals an exact term, or matches the pattern of the term. */
bool search_term_matches(const struct search_term *term, const char *text, size_t length);
void search_terms_destroy(struct search_terms *terms);
