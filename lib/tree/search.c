/*
 * A string is shared by many funcs (a library name by all of its functions), so each is looked at once per term.
 * Looking goes 16 bytes at a time: a place can only match where both the first and the last byte of the term do
 * (Mula, "SIMD-friendly algorithms for substring searching"); the compiler turns the vector type into SSE2, NEON or
 * WebAssembly SIMD.
 */
#include "tree/search.h"

#include <stdlib.h>
#include <string.h>

typedef uint8_t bytes16 __attribute__((vector_size(16)));

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static bool matches_here(const char *text, const char *term, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (lower(text[i]) != term[i])
            return false;
    return true;
}

/* The bit that, set in a byte of text, makes the two cases of this lower-case letter the same; 0 for other bytes. */
static uint8_t case_bit(char c)
{
    return c >= 'a' && c <= 'z' ? 0x20 : 0;
}

static bytes16 load16(const char *text)
{
    bytes16 bytes;
    memcpy(&bytes, text, sizeof(bytes));
    return bytes;
}

static bool any_byte(bytes16 bytes)
{
    uint64_t halves[2];
    memcpy(halves, &bytes, sizeof(halves));
    return (halves[0] | halves[1]) != 0;
}

/* Whether `text` has `term` (in lower case, not empty) somewhere. */
static bool contains(const char *text, size_t text_length, const char *term, size_t length)
{
    if (length > text_length)
        return false;
    size_t places = text_length - length + 1, at = 0;
    uint8_t first_bit = case_bit(term[0]), last_bit = case_bit(term[length - 1]);
    bytes16 first = (bytes16){0} + (uint8_t)term[0], last = (bytes16){0} + (uint8_t)term[length - 1];
    for (; places - at >= 16; at += 16) {
        bytes16 found = (bytes16)((load16(text + at) | first_bit) == first) &
                        (bytes16)((load16(text + at + length - 1) | last_bit) == last);
        if (!any_byte(found))
            continue;
        for (size_t i = 0; i < 16; i++)
            if (found[i] && matches_here(text + at + i, term, length))
                return true;
    }
    for (; at < places; at++)
        if (matches_here(text + at, term, length))
            return true;
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool add_term(struct search *search, const char *text, size_t length)
{
    while (length && is_blank(*text))
        text++, length--;
    while (length && is_blank(text[length - 1]))
        length--;
    if (!length || search->term_count == SEARCH_MAX_TERMS)
        return true;
    search->terms[search->term_count].offset = search->text.length;
    search->terms[search->term_count++].length = length;
    if (!array_reserve(&search->text, length))
        return false;
    for (size_t i = 0; i < length; i++)
        search->text.data[search->text.length++] = lower(text[i]);
    return true;
}

static bool split_terms(struct search *search, const char *text, size_t length)
{
    size_t start = 0;
    for (size_t i = 0; i <= length; i++) {
        if (i < length && text[i] != ',')
            continue;
        if (!add_term(search, text + start, i - start))
            return false;
        start = i + 1;
    }
    return true;
}

/* What is known of the strings: a string's mask is computed when a func first asks for it. */
struct string_masks {
    const struct search *search;
    const struct strings *strings;
    uint16_t *mask;
    uint8_t *known;
};

static uint16_t mask_of_string(struct string_masks *masks, uint32_t string)
{
    if (string >= masks->strings->entries.length)
        return 0;
    if (!masks->known[string]) {
        const struct string_entry *entry = &masks->strings->entries.data[string];
        const struct search *search = masks->search;
        uint16_t mask = 0;
        for (size_t t = 0; t < search->term_count; t++)
            if (contains(entry->text, entry->length, search->text.data + search->terms[t].offset,
                         search->terms[t].length))
                mask |= (uint16_t)(1u << t);
        masks->mask[string] = mask;
        masks->known[string] = 1;
    }
    return masks->mask[string];
}

static void match_funcs(struct search *search, const struct profile *profile, struct string_masks *masks)
{
    const struct func_table *funcs = &profile->funcs;
    for (uint32_t resource = 0; resource < profile->resources.length; resource++)
        search->func_mask[func_of_resource(profile, resource)] =
            mask_of_string(masks, profile->resources.data[resource].name);
    for (size_t func = 0; func < funcs->length; func++) {
        uint32_t resource = funcs->resource[func], source = funcs->source[func];
        uint16_t mask = mask_of_string(masks, funcs->name[func]);
        if (resource < profile->resources.length)
            mask |= mask_of_string(masks, profile->resources.data[resource].name);
        if (source < profile->sources.length)
            mask |= mask_of_string(masks, profile->sources.data[source].filename);
        search->func_mask[func] = mask;
    }
}

int search_init(struct search *search, const struct profile *profile, const char *text, size_t length,
                struct error *err)
{
    *search = (struct search){0};
    size_t string_count = profile->strings.entries.length;
    struct string_masks masks = {search, &profile->strings, NULL, NULL};
    masks.mask = malloc((string_count + 1) * sizeof(*masks.mask));
    masks.known = calloc(string_count + 1, 1);
    search->func_mask = malloc((profile->funcs.length + profile->resources.length + 1) * sizeof(*search->func_mask));
    bool enough = masks.mask && masks.known && search->func_mask && split_terms(search, text, length);
    if (enough)
        match_funcs(search, profile, &masks);
    else
        search_destroy(search);
    free(masks.mask);
    free(masks.known);
    return enough ? 0 : error_no_memory(err);
}

int search_nodes(const struct search *search, const struct call_nodes *nodes, uint8_t *kept, struct error *err)
{
    uint16_t all = (uint16_t)((1u << search->term_count) - 1);
    uint16_t *mask = malloc((nodes->length + 1) * sizeof(*mask));
    if (!mask)
        return error_no_memory(err);
    for (size_t node = 0; node < nodes->length; node++) {
        uint32_t prefix = nodes->prefix[node];
        mask[node] = search->func_mask[nodes->func[node]];
        if (prefix != NODE_NONE)
            mask[node] |= mask[prefix];
        kept[node] = mask[node] == all;
    }
    free(mask);
    return 0;
}

void search_destroy(struct search *search)
{
    array_free(&search->text);
    free(search->func_mask);
    *search = (struct search){0};
}
