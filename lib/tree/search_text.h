/*
 * Text as searches look at it: letters of ASCII match in either case, terms are separated by commas.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

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

/* Whether the `length` bytes at `text` are those of `term`, which is in lower case. */
bool text_starts_with(const char *text, const char *term, size_t length);

/* Whether `text` has `term` (in lower case, not empty) somewhere. */
bool text_contains(const char *text, size_t text_length, const char *term, size_t length);

/* Without blanks at its ends. */
struct span span_trimmed(struct span span);

/* Whether it is something between two of these. */
bool span_is_enclosed(struct span span, char quote);

/* Where a term ends that begins at `rest.at`: at a comma, or if it begins with a quote (or a slash) that is closed
 * before a comma or the end, there. `skip_field` moves past a prefix like "lib:". */
const char *search_term_end(struct span rest, void (*skip_field)(struct span *span, const void *context),
                            const void *context);
