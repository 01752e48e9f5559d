/*
 * Detects the format of a JSON text from the keys of its outer objects as they arrive.
 */
#pragma once

#include "base/json.h"

enum json_kind {
    JSON_KIND_NONE,         /* not known yet */
    JSON_KIND_PROFILE,      /* a processed profile, or unknown JSON, whose error the profile reader reports */
    JSON_KIND_TRACE_EVENTS, /* Chrome's trace events */
    JSON_KIND_CPU_PROFILE,  /* of V8 */
    JSON_KIND_HEAP_PROFILE, /* of V8 */
    JSON_KIND_DHAT,
    JSON_KIND_SPEEDSCOPE,
    JSON_KIND_GECKO, /* a Gecko profile, as Firefox records it */
};

struct json_kind_scanner {
    struct json json;
    enum json_kind kind;
    char key[16]; /* latest key of the outermost object, truncated */
    bool has_meta, has_rows, has_columns, is_array, has_value;
    bool is_no_json; /* syntax error after the first bracket: no JSON */
};

void json_kind_init(struct json_kind_scanner *scanner);
void json_kind_destroy(struct json_kind_scanner *scanner);

/* Scans the next piece. A detected kind does not change. */
enum json_kind json_kind_feed(struct json_kind_scanner *scanner, const char *bytes, size_t size);
