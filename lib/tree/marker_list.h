/*
 * The markers of threads as the page shows them, sorted by start. An interval start and its end are one marker.
 */
#pragma once

#include "tree/marker_schema.h"
#include "base/text_buffer.h"
#include "tree/weights.h"

enum marker_kind {
    MARKER_INSTANT,
    MARKER_INTERVAL,
    MARKER_WITHOUT_START, /* has only an end: starts with the recording */
    MARKER_WITHOUT_END,   /* has only a start: lasts until the end of the recording */
};

struct marker {
    double start, end; /* ms; equal for instants, never NAN, start <= end */
    uint32_t thread;
    uint32_t row;     /* row of the marker, or of its start, in the thread's table */
    uint32_t end_row; /* row of the interval's end, whose payload has precedence, or PROFILE_NONE */
    uint32_t name;    /* string */
    uint32_t category;
    uint32_t schema; /* SCHEMA_NONE */
    uint8_t kind;    /* enum marker_kind */
};

ARRAY_TYPE(struct marker_list, struct marker);

/* Appends the markers of a thread by start time; markers with equal starts keep the order of the table. An end belongs
 * to the latest open start with the same name (profile-format: phases 2 and 3). `whole` bounds markers that lack a
 * start or an end. Markers without any time are omitted. */
int marker_list_add_thread(struct marker_list *list, const struct profile *profile,
                           const struct marker_schemas *schemas, uint32_t thread, struct time_range whole,
                           struct error *err);

/* Sorts the markers from `first` on by start time; markers with equal starts keep their order. */
int marker_list_sort(struct marker_list *list, size_t first, struct error *err);

/* Returns the `type` of a payload (JSON text), or NULL; the result points into the text, or into `decoded`, which the
 * caller frees. */
const char *find_payload_type(const char *text, size_t length, size_t *type_length, struct text_buffer *decoded);
