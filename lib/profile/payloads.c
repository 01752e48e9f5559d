#include "profile/payloads.h"

#include "base/json.h"

static bool is_string_format(const struct json *json)
{
    return json_is(json, "unique-string") || json_is(json, "flow-id") || json_is(json, "terminating-flow-id");
}

/* The schema being read; its name may follow its fields. */
struct schema_keys {
    uint64_t name;        /* hash */
    ARRAY(uint64_t) keys; /* hashes of fields that are strings */
    uint64_t key;         /* hash of the field being read */
    bool is_string;
};

static bool end_schema(struct hash *fields, struct schema_keys *schema)
{
    bool done = true;
    for (size_t i = 0; done && i < schema->keys.length; i++)
        done = hash_set(fields, hash_mix(schema->name, schema->keys.data[i]), 1);
    schema->keys.length = 0;
    schema->name = 0;
    return done;
}

enum { IN_SCHEMA = 2, IN_FIELD = 4 }; /* [{ fields: [{ */

static bool read_schemas(struct hash *fields, struct json *json, struct schema_keys *schema)
{
    enum json_type type;
    bool done = true;
    enum { OTHER, NAME, KEY, FORMAT } meaning = OTHER;
    while (done && (type = json_next(json)) > JSON_END) {
        if (type == JSON_OBJECT_CLOSE && json->depth == IN_FIELD - 1) {
            done = !schema->is_string || array_push(&schema->keys, schema->key);
            schema->is_string = false;
        } else if (type == JSON_OBJECT_CLOSE && json->depth == IN_SCHEMA - 1) {
            done = end_schema(fields, schema);
        } else if (type == JSON_STRING && meaning == NAME) {
            schema->name = hash_bytes(json->text, json->length);
        } else if (type == JSON_STRING && meaning == KEY) {
            schema->key = hash_bytes(json->text, json->length);
        } else if (type == JSON_STRING && meaning == FORMAT) {
            schema->is_string = is_string_format(json);
        }
        meaning = OTHER;
        if (type == JSON_KEY && json->depth == IN_SCHEMA && json_is(json, "name"))
            meaning = NAME;
        if (type == JSON_KEY && json->depth == IN_FIELD)
            meaning = json_is(json, "key") ? KEY : json_is(json, "format") ? FORMAT : OTHER;
    }
    return done;
}

/* Readers treat the image of a screenshot as a string, even without a schema. */
static bool add_known_fields(struct hash *fields)
{
    static const char type[] = "CompositorScreenshot", key[] = "url";
    return hash_set(fields, hash_mix(hash_bytes(type, sizeof(type) - 1), hash_bytes(key, sizeof(key) - 1)), 1);
}

int list_string_fields(struct hash *fields, const struct profile *profile, struct error *err)
{
    uint32_t string = profile->meta.marker_schema;
    if (!add_known_fields(fields))
        return error_no_memory(err);
    if (string == PROFILE_NONE)
        return 0;
    const struct string_entry *entry = &profile->strings.entries.data[string];
    struct schema_keys schema = {0};
    struct json json;
    json_init_whole(&json, entry->text, entry->length);
    bool done = read_schemas(fields, &json, &schema);
    json_destroy(&json);
    array_free(&schema.keys);
    return done ? 0 : error_no_memory(err);
}

/* Returns the hash of the payload's type, or 0 without a type. */
static uint64_t hash_payload_type(const char *text, size_t length)
{
    struct json json;
    uint64_t found = 0;
    bool is_type = false;
    json_init_whole(&json, text, length);
    for (enum json_type type; !found && (type = json_next(&json)) > JSON_END;) {
        if (is_type && type == JSON_STRING)
            found = hash_bytes(json.text, json.length);
        is_type = type == JSON_KEY && json.depth == 1 && json_is(&json, "type");
    }
    json_destroy(&json);
    return found;
}

static void write_index(const struct payload_rewriter *rewriter, double number, bool is_string)
{
    uint32_t index = PROFILE_NONE;
    if (number >= 0 && number < (double)PROFILE_NONE)
        index = (is_string ? rewriter->string : rewriter->stack)(rewriter->context, (uint32_t)number);
    if (!rewriter->writer)
        return;
    if (index == PROFILE_NONE)
        json_null(rewriter->writer);
    else
        json_unsigned(rewriter->writer, index);
}

void payload_rewrite(const struct payload_rewriter *rewriter, const struct string_entry *payload)
{
    struct json json;
    uint64_t type_hash = hash_payload_type(payload->text, payload->length);
    bool is_string = false, in_cause = false, is_stack = false; /* of the last key */
    json_init_whole(&json, payload->text, payload->length);
    for (enum json_type type; (type = json_next(&json)) > JSON_END;) {
        if (type == JSON_NUMBER && (is_string || (is_stack && rewriter->stack)))
            write_index(rewriter, json.number, is_string);
        else if (rewriter->writer)
            json_token(rewriter->writer, &json, type);
        bool is_field = type == JSON_KEY && json.depth == 1;
        is_string = is_field && hash_get(rewriter->string_fields,
                                         hash_mix(type_hash, hash_bytes(json.text, json.length))) != HASH_MISSING;
        if (is_field)
            in_cause = json_is(&json, "cause");
        is_stack = type == JSON_KEY && json.depth == 2 && in_cause && json_is(&json, "stack");
    }
    json_destroy(&json);
}
