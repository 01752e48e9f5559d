/*
 * The search compares 16 bytes at a time: the term can match only at a position where its first and last bytes match
 * (Mula, "SIMD-friendly algorithms for substring searching"). The compiler turns the vector type into SSE2, NEON or
 * WebAssembly SIMD.
 */
#include "tree/search_text.h"

typedef uint8_t bytes16 __attribute__((vector_size(16)));

bool text_starts_with(const char *text, const char *term, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text_lower(text[i]) != term[i])
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

bool text_contains(const char *text, size_t text_length, const char *term, size_t length)
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

bool span_is_enclosed(struct span span, char quote)
{
    return span.end - span.at > 2 && *span.at == quote && span.end[-1] == quote;
}

const char *find_search_term_end(struct span rest, void (*skip_field)(struct span *span, const void *context),
                                 const void *context)
{
    const char *comma = memchr(rest.at, ',', (size_t)(rest.end - rest.at));
    struct span term = trim_span(rest);
    if (term.at < term.end && *term.at == '-')
        term.at++;
    skip_field(&term, context);
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
