#include "tree/marker_search.h"

#include "tree/pattern.h"
#include "tree/search_text.h"

enum { MOST_TERMS = 16 };

/* ---- searchable texts ---- */

static bool add_piece(struct marker_texts *texts, const char *key, size_t key_length, size_t offset)
{
    uint32_t index = strings_add(&texts->keys, key, key_length);
    struct marker_piece piece = {index, (uint32_t)offset, (uint32_t)(texts->text.length - offset)};
    return index != STRING_NONE && array_push(&texts->pieces, piece);
}

static bool add_type(struct marker_texts *texts, const struct marker_context *context, const struct payload *payload)
{
    const struct payload_value *type = payload_find(payload, "type");
    size_t offset = texts->text.length;
    return !type || (value_text_append(&texts->text, &context->values, "string", type->json, type->length) &&
                     add_piece(texts, "type", 4, offset));
}

static bool add_marker(struct marker_texts *texts, const struct marker_context *context, const struct payload *payload,
                       const struct marker_field_list *fields)
{
    bool done = array_push(&texts->first, (uint32_t)texts->pieces.length) && add_type(texts, context, payload);
    for (size_t i = 0; done && i < fields->length; i++) {
        const struct payload_value *value = fields->data[i].value;
        size_t offset = texts->text.length;
        done = marker_field_append(&texts->text, context, &fields->data[i]) &&
               add_piece(texts, value->key, value->key_length, offset);
    }
    return done && texts->text.length < UINT32_MAX;
}

int marker_texts_make(struct marker_texts *texts, const struct marker_context *context, const struct marker_list *list,
                      struct error *err)
{
    struct payload payload = {0};
    struct marker_field_list fields = {0};
    int code = array_reserve(&texts->text, 1) ? 0 : error_no_memory(err); /* not NULL, even if all texts are empty */
    texts->text.length = texts->pieces.length = texts->first.length = 0;
    for (size_t i = 0; !code && i < list->length; i++) {
        code = payload_read(&payload, context->values.profile, &list->data[i], err);
        if (!code)
            code = list_marker_fields(&fields, context, &list->data[i], &payload, err);
        if (!code && !add_marker(texts, context, &payload, &fields))
            code = error_no_memory(err);
    }
    if (!code && !array_push(&texts->first, (uint32_t)texts->pieces.length))
        code = error_no_memory(err);
    array_free(&fields);
    payload_destroy(&payload);
    return code;
}

void marker_texts_destroy(struct marker_texts *texts)
{
    array_free(&texts->text);
    array_free(&texts->pieces);
    array_free(&texts->first);
    strings_destroy(&texts->keys);
    *texts = (struct marker_texts){0};
}

/* ---- the terms ---- */

struct term {
    struct text_buffer text; /* in lower case */
    struct span field;       /* field to search, in the search's text; empty: all fields */
    bool excluded, exact, has_pattern;
    struct pattern pattern;
};

struct search {
    const struct marker_context *context;
    const struct marker_texts *texts;
    struct term terms[MOST_TERMS];
    size_t count;
};

static bool equals_ignoring_case(struct span span, const char *name)
{
    size_t length = strlen(name);
    if ((size_t)(span.end - span.at) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (text_lower(span.at[i]) != text_lower(name[i]))
            return false;
    return true;
}

static bool is_field(struct span name, const struct search *search)
{
    if (equals_ignoring_case(name, "name") || equals_ignoring_case(name, "cat") ||
        equals_ignoring_case(name, "category") || equals_ignoring_case(name, "type"))
        return true;
    const struct marker_schemas *schemas = search->context->schemas;
    for (size_t i = 0; i < schemas->fields.length; i++)
        if (equals_ignoring_case(name, schemas->fields.data[i].key))
            return true;
    for (size_t i = 0; i < search->texts->keys.entries.length; i++)
        if (equals_ignoring_case(name, search->texts->keys.entries.data[i].text))
            return true;
    return false;
}

/* Removes "field:" from the front. A word that names no field, or is followed by two colons, is text. */
static struct span split_field(struct span *span, const struct search *search)
{
    struct span none = {NULL, NULL};
    const char *colon = span->at < span->end ? memchr(span->at, ':', (size_t)(span->end - span->at)) : NULL;
    if (!colon || colon == span->at || colon + 1 == span->end || colon[1] == ':')
        return none;
    struct span field = {span->at, colon};
    if (!is_field(field, search))
        return none;
    span->at = colon + 1;
    *span = trim_span(*span);
    return field;
}

static void skip_field(struct span *span, const void *context)
{
    split_field(span, context);
}

/* False if memory ran out. */
static bool add_term(struct search *search, struct span span)
{
    span = trim_span(span);
    if (span.at == span.end || search->count == MOST_TERMS)
        return true;
    struct term *term = &search->terms[search->count];
    term->excluded = *span.at == '-' && span.end - span.at > 1;
    span.at += term->excluded;
    term->field = split_field(&span, search);
    term->exact = span_is_enclosed(span, '"');
    if (span_is_enclosed(span, '/')) {
        struct error err;
        int code = pattern_init(&term->pattern, span.at + 1, (size_t)(span.end - span.at) - 2, &err);
        term->has_pattern = code == 0;
        if (code == -ENOMEM)
            return false;
    }
    span.at += term->exact;
    span.end -= term->exact;
    for (; span.at < span.end; span.at++)
        if (!array_push(&term->text, text_lower(*span.at)))
            return false;
    search->count++;
    return true;
}

static bool split_terms(struct search *search, const char *text, size_t length)
{
    struct span rest = {text, length ? text + length : text};
    while (rest.at < rest.end) {
        const char *end = find_search_term_end(rest, skip_field, search);
        if (!add_term(search, (struct span){rest.at, end}))
            return false;
        rest.at = end + (end < rest.end);
    }
    return true;
}

/* ---- matching ---- */

static bool matches_text(const struct term *term, const char *text, size_t length)
{
    if (term->has_pattern)
        return pattern_finds(&term->pattern, text, length);
    if (term->exact)
        return length == term->text.length && text_starts_with(text, term->text.data, length);
    return text_contains(text, length, term->text.data, term->text.length);
}

static bool searches_field(const struct term *term, const char *field)
{
    return !term->field.at || equals_ignoring_case(term->field, field);
}

static bool matches_string(const struct search *search, const struct term *term, uint32_t string)
{
    const struct string_entry *entry = &search->context->values.profile->strings.entries.data[string];
    return matches_text(term, entry->text, entry->length);
}

static bool matches_marker(const struct search *search, const struct term *term, const struct marker *marker, size_t at)
{
    const struct category *category = &search->context->values.profile->categories.data[marker->category];
    if (searches_field(term, "name") && matches_string(search, term, marker->name))
        return true;
    if ((searches_field(term, "cat") || searches_field(term, "category")) &&
        matches_string(search, term, category->name))
        return true;
    const struct marker_texts *texts = search->texts;
    for (uint32_t i = texts->first.data[at]; i < texts->first.data[at + 1]; i++) {
        const struct marker_piece *piece = &texts->pieces.data[i];
        if (searches_field(term, strings_text(&texts->keys, piece->key)) &&
            matches_text(term, texts->text.data + piece->offset, piece->length))
            return true;
    }
    return false;
}

static bool matches_search(const struct search *search, const struct marker *marker, size_t at)
{
    bool has_wanted = false, found = false;
    for (size_t t = 0; t < search->count; t++) {
        const struct term *term = &search->terms[t];
        if (term->excluded && matches_marker(search, term, marker, at))
            return false;
        has_wanted |= !term->excluded;
        if (!term->excluded && !found)
            found = matches_marker(search, term, marker, at);
    }
    return found || !has_wanted;
}

int marker_search(const struct marker_texts *texts, const struct marker_context *context,
                  const struct marker_list *list, const char *text, size_t length, uint8_t *matching, struct error *err)
{
    struct search search = {.context = context, .texts = texts};
    bool enough = split_terms(&search, text, length);
    for (size_t i = 0; enough && i < list->length; i++)
        matching[i] = matches_search(&search, &list->data[i], i);
    for (size_t t = 0; t < MOST_TERMS; t++) {
        pattern_destroy(&search.terms[t].pattern);
        array_free(&search.terms[t].text);
    }
    return enough ? 0 : error_no_memory(err);
}
