#include "import/json_kind.h"

void json_kind_init(struct json_kind_scanner *scanner)
{
    *scanner = (struct json_kind_scanner){0};
    json_init(&scanner->json);
}

void json_kind_destroy(struct json_kind_scanner *scanner)
{
    json_destroy(&scanner->json);
}

static enum json_kind detect_by_outer_key(struct json_kind_scanner *scanner)
{
    const struct json *json = &scanner->json;
    size_t length = json->length < sizeof(scanner->key) - 1 ? json->length : sizeof(scanner->key) - 1;
    memcpy(scanner->key, json->text, length);
    scanner->key[length] = '\0';
    if (json_is(json, "traceEvents") || json_is(json, "stackFrames"))
        return JSON_KIND_TRACE_EVENTS;
    if (json_is(json, "nodes"))
        return JSON_KIND_CPU_PROFILE;
    if (json_is(json, "dhatFileVersion"))
        return JSON_KIND_DHAT;
    if (json_is(json, "profiles") || json_is(json, "activeProfileIndex"))
        return JSON_KIND_SPEEDSCOPE;
    return JSON_KIND_NONE;
}

static enum json_kind detect_by_token(struct json_kind_scanner *scanner, enum json_type type)
{
    const struct json *json = &scanner->json;
    if (type == JSON_ARRAY_OPEN && json->depth == 1)
        scanner->is_array = true;
    else if (scanner->is_array) {
        if (type == JSON_KEY && json->depth == 2 && (json_is(json, "ph") || json_is(json, "traceEvents")))
            return JSON_KIND_TRACE_EVENTS;
        return json->depth < 2 ? JSON_KIND_PROFILE : JSON_KIND_NONE;
    }
    if (type == JSON_KEY && json->depth == 1)
        return detect_by_outer_key(scanner);
    if (type == JSON_KEY && json->depth == 2) {
        if (strcmp(scanner->key, "meta") == 0 && json_is(json, "preprocessedProfileVersion"))
            return JSON_KIND_PROFILE;
        if (strcmp(scanner->key, "head") == 0 && json_is(json, "callFrame"))
            return JSON_KIND_HEAP_PROFILE;
        if (strcmp(scanner->key, "shared") == 0)
            return json_is(json, "frames") ? JSON_KIND_SPEEDSCOPE : JSON_KIND_PROFILE;
    }
    bool are_threads = strcmp(scanner->key, "threads") == 0;
    if (type == JSON_OBJECT_CLOSE && json->depth == 1 && strcmp(scanner->key, "meta") == 0)
        scanner->has_meta = true;
    if (type == JSON_KEY && json->depth == 4 && are_threads) { /* keys of a table: columns, or a schema of rows */
        scanner->has_rows |= json_is(json, "schema");
        scanner->has_columns |= json_is(json, "length");
    }
    if (type == JSON_ARRAY_CLOSE && json->depth == 1 && (are_threads || strcmp(scanner->key, "processes") == 0))
        scanner->has_rows |= !scanner->has_columns; /* tables of old versions have neither columns nor a schema */
    if (scanner->has_meta && scanner->has_columns)
        return JSON_KIND_PROFILE;
    return scanner->has_meta && scanner->has_rows ? JSON_KIND_GECKO : JSON_KIND_NONE;
}

enum json_kind json_kind_feed(struct json_kind_scanner *scanner, const char *bytes, size_t size)
{
    if (scanner->kind != JSON_KIND_NONE)
        return scanner->kind;
    json_feed(&scanner->json, bytes, size);
    enum json_type type = JSON_MORE;
    while (scanner->kind == JSON_KIND_NONE && (type = json_next(&scanner->json)) > JSON_END) {
        scanner->kind = detect_by_token(scanner, type);
        scanner->has_value |= type != JSON_ARRAY_OPEN && type != JSON_OBJECT_OPEN;
    }
    if (type == JSON_FAILED) {
        scanner->is_no_json = !scanner->has_value;
        scanner->kind = JSON_KIND_PROFILE;
    }
    return scanner->kind;
}
