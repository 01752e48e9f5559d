/*
 * Text of searches: ASCII case is ignored, and commas separate terms.
 */
#pragma once

#include "base/standard.h"

struct span {
    const char *at, *end;
};

static inline char text_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static inline bool text_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Returns whether `text` starts with the `length` bytes of `term`, which is in lower case. */
bool text_starts_with(const char *text, const char *term, size_t length);

/* Returns whether `text` contains `term` (in lower case, not empty). */
bool text_contains(const char *text, size_t text_length, const char *term, size_t length);

/* Returns the span without blanks at its ends. */
struct span trim_span(struct span span);

/* Returns whether the span has `quote` at both ends and text between. */
bool span_is_enclosed(struct span span, char quote);

/* Finds the end of the term at `rest.at`: a comma, or the closing quote or slash of a term that begins with a quote or
 * slash. `skip_field` skips a prefix such as "lib:". */
const char *find_search_term_end(struct span rest, void (*skip_field)(struct span *span, const void *context),
                                 const void *context);
