/*
 * Texts of a marker: the fields of its payload, and its labels. Labels are templates of the marker kind:
 * "{marker.name}", "{marker.start}", "{marker.end}", "{marker.duration}", "{marker.category}", "{marker.data.KEY}", and
 * "{marker.data.KEY ? 'yes' : 'no'}".
 */
#pragma once

#include "tree/marker_list.h"
#include "tree/value_text.h"

struct marker_context {
    struct value_context values;
    const struct marker_schemas *schemas;
};

struct payload_value {
    const char *key; /* not NUL-terminated; text in the payload's own `keys` */
    size_t key_length;
    const char *json; /* value, a text in the payload */
    size_t length;
};

/* The JSON members of a marker. An interval has all members of the payload at its end, then the other members of the
 * payload at its start. The caller zeroes the struct once; later calls reuse its memory. */
struct payload {
    ARRAY(struct payload_value) values;
    ARRAY(uint32_t) key_offsets;
    struct text_buffer keys;
};

/* 0 or -ENOMEM. If the payload is no JSON object, it has no members. */
int payload_read(struct payload *payload, const struct profile *profile, const struct marker *marker,
                 struct error *err);

const struct payload_value *payload_find(const struct payload *payload, const char *key);

void payload_destroy(struct payload *payload);

/* One displayed field. */
struct marker_field_text {
    const struct payload_value *value;
    const struct marker_field *field; /* if NULL, the schema does not have the field, or is missing */
};

ARRAY_TYPE(struct marker_field_list, struct marker_field_text);

/* Lists the fields that have a value, in the order of the schema; without a schema, all but `type` and `cause`. */
int list_marker_fields(struct marker_field_list *fields, const struct marker_context *context,
                       const struct marker *marker, const struct payload *payload, struct error *err);

/* Appends the text of a field. False if memory ran out. */
bool marker_field_append(struct text_buffer *out, const struct marker_context *context,
                         const struct marker_field_text *field);

enum marker_label { MARKER_TABLE_LABEL, MARKER_CHART_LABEL, MARKER_TOOLTIP_LABEL };

/* Appends a label. Kinds without a template get a default: the visible fields in the table, labeled if they are
 * several; the first visible field in the chart; the name in tooltips. */
int marker_label_append(struct text_buffer *out, const struct marker_context *context, const struct marker *marker,
                        enum marker_label label, struct payload *payload, struct error *err);
