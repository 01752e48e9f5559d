/*
 * Searching markers: terms separated by commas, of which one has to match, and none of those that are excluded:
 *
 *     term           the marker's name, its category, the type or a field of its payload has it, as it is shown
 *     field:term     only this: name, cat, type, or the key of a field of some kind of marker
 *     "term"         the whole of it; /expression/ a regular expression; each also after a field
 *     -term          what matches it is left out; also before all of these
 *
 * Fields that are hidden are looked at too. Letters of ASCII match in either case.
 */
#pragma once

#include "tree/marker_text.h"

/* What can be found, made once for a list of markers: texts of payloads. Starts zeroed. */
struct marker_piece {
    uint32_t key; /* in `keys` */
    uint32_t offset, length;
};

struct marker_texts {
    struct text_buffer text;
    ARRAY(struct marker_piece) pieces;
    ARRAY(uint32_t) first; /* piece of each marker, and one past the last */
    struct strings keys;
};

int marker_texts_make(struct marker_texts *texts, const struct marker_context *context, const struct marker_list *list,
                      struct error *err);
void marker_texts_destroy(struct marker_texts *texts);

/* Sets matching[i] to whether marker i of the list is found. An empty search finds all. */
int marker_search(const struct marker_texts *texts, const struct marker_context *context,
                  const struct marker_list *list, const char *text, size_t length, uint8_t *matching,
                  struct error *err);
