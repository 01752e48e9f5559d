#include "tree/marker_search.h"

#include "tree/search_text.h"

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

struct search {
    const struct marker_context *context;
    const struct marker_texts *texts;
    struct search_terms terms;
};

static bool is_field(struct span name, const void *context)
{
    const struct search *search = context;
    if (span_equals_ignoring_case(name, "name") || span_equals_ignoring_case(name, "cat") ||
        span_equals_ignoring_case(name, "category") || span_equals_ignoring_case(name, "type"))
        return true;
    const struct marker_schemas *schemas = search->context->schemas;
    for (size_t i = 0; i < schemas->fields.length; i++)
        if (span_equals_ignoring_case(name, schemas->fields.data[i].key))
            return true;
    for (size_t i = 0; i < search->texts->keys.entries.length; i++)
        if (span_equals_ignoring_case(name, search->texts->keys.entries.data[i].text))
            return true;
    return false;
}

/* ---- matching ---- */

static bool searches_field(const struct search_term *term, const char *field)
{
    return !term->field.at || span_equals_ignoring_case(term->field, field);
}

static bool matches_string(const struct search *search, const struct search_term *term, uint32_t string)
{
    const struct string_entry *entry = &search->context->values.profile->strings.entries.data[string];
    return search_term_matches(term, entry->text, entry->length);
}

static bool matches_marker(const struct search *search, const struct search_term *term, const struct marker *marker,
                           size_t at)
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
            search_term_matches(term, texts->text.data + piece->offset, piece->length))
            return true;
    }
    return false;
}

static bool matches_search(const struct search *search, const struct marker *marker, size_t at)
{
    bool has_wanted = false, found = false;
    for (size_t t = 0; t < search->terms.count; t++) {
        const struct search_term *term = &search->terms.items[t];
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
    int code = search_terms_parse(&search.terms, text, length, is_field, &search, err);
    for (size_t i = 0; !code && i < list->length; i++)
        matching[i] = matches_search(&search, &list->data[i], i);
    search_terms_destroy(&search.terms);
    return code;
}
