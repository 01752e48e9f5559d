/*
 * Searching markers: terms separated by commas. A marker must match one term, and no excluded term:
 *
 *     term           the marker's name, category, type, or a field of its payload contains the term
 *     field:term     only this field: name, cat, type, or the key of a field of any marker kind
 *     "term"         the whole text; /expression/ a regular expression; either may follow "field:"
 *     -term          excludes matching markers; may precede all other forms
 *
 * The search includes hidden fields and ignores ASCII case.
 */
#pragma once

#include "tree/marker_text.h"

/* A searchable text of a payload, computed once for a list of markers. Starts zeroed. */
struct marker_piece {
    uint32_t key; /* index in `keys` */
    uint32_t offset, length;
};

struct marker_texts {
    struct text_buffer text;
    ARRAY(struct marker_piece) pieces;
    ARRAY(uint32_t) first; /* first piece of each marker, and one past the last piece */
    struct strings keys;
};

int marker_texts_make(struct marker_texts *texts, const struct marker_context *context, const struct marker_list *list,
                      struct error *err);
void marker_texts_destroy(struct marker_texts *texts);

/* Sets matching[i] to whether marker i of the list is found. An empty search finds all markers. */
int marker_search(const struct marker_texts *texts, const struct marker_context *context,
                  const struct marker_list *list, const char *text, size_t length, uint8_t *matching,
                  struct error *err);
