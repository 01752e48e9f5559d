#include "export/sanitize_values.h"

void *sanitizer_alloc(struct sanitizer *sanitizer, size_t count, size_t size)
{
    void *memory = sanitizer->status ? NULL : arena_alloc(sanitizer->memory, (count + 1) * size);
    if (memory)
        memset(memory, 0, (count + 1) * size);
    else if (!sanitizer->status)
        sanitizer->status = error_no_memory(sanitizer->err);
    return memory;
}

void *sanitizer_copy(struct sanitizer *sanitizer, const void *from, size_t count, size_t size)
{
    void *to = sanitizer_alloc(sanitizer, count, size);
    if (to && count && from)
        memcpy(to, from, count * size);
    return to;
}

void sanitizer_set_no_memory(struct sanitizer *sanitizer)
{
    if (!sanitizer->status)
        sanitizer->status = error_no_memory(sanitizer->err);
}

/* ---- texts ---- */

bool sanitizer_removes(const struct sanitizer *sanitizer, unsigned part)
{
    return sanitizer->options->parts & part;
}

uint32_t sanitizer_add(struct sanitizer *sanitizer, const char *text, size_t length)
{
    uint32_t string = sanitizer->status ? PROFILE_NONE : strings_add(&sanitizer->copy->strings, text, length);
    if (string == PROFILE_NONE)
        sanitizer_set_no_memory(sanitizer);
    return string;
}

void sanitizer_count_change(struct sanitizer *sanitizer, unsigned found, const char *before, size_t length)
{
    struct sanitize_summary *summary = sanitizer->summary;
    for (unsigned part = 0; part < SANITIZE_PARTS; part++) {
        if (!(found >> part & 1))
            continue;
        struct sanitize_example *example = summary->examples[part], *end = example + SANITIZE_EXAMPLES;
        summary->changed[part]++;
        while (example < end && example->before &&
               (strlen(example->before) != length || memcmp(example->before, before, length) != 0))
            example++;
        if (example < end && !example->before)
            *example = (struct sanitize_example){arena_copy(sanitizer->memory, before, length),
                                                 arena_copy(sanitizer->memory,
                                                            sanitizer->text.data ? sanitizer->text.data : "",
                                                            sanitizer->text.length)};
    }
}

static void sanitize_value(struct sanitizer *sanitizer, bool is_code, const char *text, size_t length)
{
    unsigned found = 0;
    sanitizer->text.length = 0;
    if (!sanitize_text(&sanitizer->words, sanitizer->options->parts, is_code, text, length, &sanitizer->text, &found))
        sanitizer_set_no_memory(sanitizer);
    else if (found)
        sanitizer_count_change(sanitizer, found, text, length);
}

/* Returns the copy's string for a string of the original. */
uint32_t sanitizer_keep(struct sanitizer *sanitizer, enum role role, uint32_t string)
{
    const struct strings *strings = &sanitizer->original->strings;
    if (string >= strings->entries.length)
        return PROFILE_NONE;
    uint32_t *known = &sanitizer->known[role][string];
    if (*known != PROFILE_NONE)
        return *known;
    sanitize_value(sanitizer, role == ROLE_CODE, strings->entries.data[string].text,
                   strings->entries.data[string].length);
    return *known = sanitizer_add(sanitizer, sanitizer->text.data ? sanitizer->text.data : "", sanitizer->text.length);
}

uint32_t sanitizer_keep_text(struct sanitizer *sanitizer, uint32_t string)
{
    return sanitizer_keep(sanitizer, ROLE_TEXT, string);
}

uint32_t sanitizer_keep_word(struct sanitizer *sanitizer, uint32_t string)
{
    return sanitizer_keep(sanitizer, ROLE_CODE, string);
}

/* ---- words ---- */

static bool find_entry_value(const struct profile *profile, const struct extra_entry *entry, const char *label,
                             const char **value, size_t *length)
{
    if (strcmp(profile_text(profile, entry->label), label) != 0 || entry->value == PROFILE_NONE)
        return false;
    const struct string_entry *json = &profile->strings.entries.data[entry->value];
    *value = json->text + 1;
    *length = json->length >= 2 && json->text[0] == '"' ? json->length - 2 : 0;
    return *length > 0;
}

/* Finds names in the profile itself: in its host name, its environment variables, its paths. */
bool sanitizer_find_words(struct sanitizer *sanitizer)
{
    const struct profile *profile = sanitizer->original;
    struct sanitize_words *words = &sanitizer->words;
    const struct sanitize_words *given = sanitizer->options->words;
    const struct strings *lists[] = {given ? &given->users : NULL, given ? &given->hosts : NULL,
                                     given ? &given->homes : NULL};
    struct strings *own[] = {&words->users, &words->hosts, &words->homes};
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; lists[k] && i < lists[k]->entries.length; i++)
            if (strings_add_z(own[k], strings_text(lists[k], (uint32_t)i)) == STRING_NONE)
                return false;
    for (size_t i = 0; i < profile->strings.entries.length; i++)
        if (!sanitize_find_users(words, profile->strings.entries.data[i].text, profile->strings.entries.data[i].length))
            return false;
    for (size_t i = 0; i < profile->meta.extra.length; i++)
        for (size_t k = 0; k < profile->meta.extra.data[i].entries.length; k++) {
            const struct extra_entry *entry = &profile->meta.extra.data[i].entries.data[k];
            const char *value;
            size_t length;
            if (((find_entry_value(profile, entry, "Host", &value, &length) ||
                  find_entry_value(profile, entry, "Variable HOSTNAME", &value, &length)) &&
                 !sanitize_add_host(words, value, length)) ||
                ((find_entry_value(profile, entry, "Variable USER", &value, &length) ||
                  find_entry_value(profile, entry, "Variable LOGNAME", &value, &length)) &&
                 !sanitize_add_user(words, value, length)))
                return false;
            if (find_entry_value(profile, entry, "Variable HOME", &value, &length)) {
                const char *home = arena_copy(sanitizer->memory, value, length);
                if (!home || !sanitize_add_home(words, home))
                    return false;
            }
        }
    return true;
}

/* ---- JSON: marker payloads, values of entries ---- */

/* Returns whether a marker field is a command, whose first word stays. */
static bool is_command(const struct json *json)
{
    static const char *const keys[] = {"command", "commandLine", "cmdline", "arguments", "args", "argv", "env"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        if (json_is(json, keys[i]))
            return true;
    return false;
}

struct payload_reader {
    uint32_t schema;
    bool is_code; /* text of the program that wrote the profile, not of the recording */
    bool is_cause, is_argument, is_string_index, is_stack, is_kind;
    bool is_list;    /* the value is a list of a command's arguments */
    unsigned listed; /* number of texts read in the list */
};

/* Writes a string. The program of a command stays, which is the first word of a text, or the first text of a list. */
static void write_string(struct sanitizer *sanitizer, const struct json *json, struct payload_reader *reader)
{
    size_t length = json->length;
    bool is_argument = reader->is_argument, is_code = reader->is_code || (reader->is_kind && json->depth == 1);
    if (reader->is_list && reader->listed++ > 0 && sanitizer_removes(sanitizer, SANITIZE_ARGUMENTS)) {
        sanitizer->text.length = 0;
        sanitizer_count_change(sanitizer, SANITIZE_ARGUMENTS, json->text, length);
        json_text_z(sanitizer->json, "");
        return;
    }
    const char *blank =
        is_argument && sanitizer_removes(sanitizer, SANITIZE_ARGUMENTS) ? memchr(json->text, ' ', length) : NULL;
    if (blank) {
        sanitizer->text.length = 0;
        length = (size_t)(blank - json->text);
        if (!text_append(&sanitizer->text, json->text, length))
            sanitizer_set_no_memory(sanitizer);
        sanitizer_count_change(sanitizer, SANITIZE_ARGUMENTS, json->text, json->length);
    }
    sanitize_value(sanitizer, is_code, json->text, length);
    json_text(sanitizer->json, sanitizer->text.data ? sanitizer->text.data : "", sanitizer->text.length);
}

/* Writes a key of a payload, which comes from a schema or from the program's code. */
static void write_key(struct sanitizer *sanitizer, const struct json *json)
{
    sanitize_value(sanitizer, true, json->text, json->length);
    if (text_append(&sanitizer->text, "", 1))
        json_key(sanitizer->json, sanitizer->text.data);
    else
        sanitizer_set_no_memory(sanitizer);
}

static bool is_string_index(const struct sanitizer *sanitizer, uint32_t schema, const struct json *json)
{
    if (schema == SCHEMA_NONE)
        return false;
    const struct marker_schema *kind = &sanitizer->schemas.items.data[schema];
    for (uint32_t i = 0; i < kind->field_count; i++) {
        const struct marker_field *field = &sanitizer->schemas.fields.data[kind->first_field + i];
        if (json_is(json, field->key))
            return strcmp(field->format, "unique-string") == 0 || strcmp(field->format, "flow-id") == 0 ||
                   strcmp(field->format, "terminating-flow-id") == 0;
    }
    return false;
}

uint32_t sanitizer_find_schema(const struct sanitizer *sanitizer, const struct string_entry *payload)
{
    struct json json;
    uint32_t schema = SCHEMA_NONE;
    json_init_whole(&json, payload->text, payload->length);
    if (json_next(&json) == JSON_OBJECT_OPEN)
        while (json_next(&json) == JSON_KEY) {
            bool is_type = json_is(&json, "type");
            enum json_type type = json_next(&json);
            if (is_type && type == JSON_STRING)
                schema = marker_schemas_find(&sanitizer->schemas, json.text, json.length);
            if (!json_skip(&json, type))
                break;
        }
    json_destroy(&json);
    return schema;
}

static void read_key(struct sanitizer *sanitizer, const struct json *json, struct payload_reader *reader)
{
    if (json->depth == 1) {
        reader->is_cause = json_is(json, "cause");
        reader->is_kind = json_is(json, "type");
        reader->is_argument = is_command(json);
        reader->is_list = false;
        reader->is_string_index = is_string_index(sanitizer, reader->schema, json);
    }
    reader->is_stack = reader->is_cause && json->depth == 2 && json_is(json, "stack");
}

static void write_number(struct sanitizer *sanitizer, const struct json *json, const struct payload_reader *reader)
{
    const struct profile *profile = sanitizer->original;
    bool is_index = json->number >= 0 && json->number < (double)UINT32_MAX && floor(json->number) == json->number;
    uint32_t index = is_index ? (uint32_t)json->number : PROFILE_NONE;
    if (reader->is_stack && index < profile->stacks.length)
        sanitizer->used_stack[index] = 1;
    if (reader->is_string_index && json->depth == 1) {
        uint32_t string = index < profile->meta.kept_strings ? sanitizer_keep_text(sanitizer, index) : PROFILE_NONE;
        if (string == PROFILE_NONE)
            json_null(sanitizer->json);
        else
            json_unsigned(sanitizer->json, string);
        return;
    }
    json_token(sanitizer->json, json, JSON_NUMBER);
}

static void write_json(struct sanitizer *sanitizer, const struct string_entry *text, struct payload_reader reader,
                       struct text_buffer *out)
{
    struct json json;
    const struct byte_sink sink = text_sink(out);
    out->length = 0;
    json_writer_init(sanitizer->json, &sink, sanitizer->err);
    json_init_whole(&json, text->text, text->length);
    for (enum json_type type; !sanitizer->status && (type = json_next(&json)) > JSON_END;) {
        if (type == JSON_KEY)
            read_key(sanitizer, &json, &reader);
        if (type == JSON_ARRAY_OPEN && reader.is_argument && json.depth == 2) {
            reader.is_list = true;
            reader.listed = 0;
        }
        if (type == JSON_KEY)
            write_key(sanitizer, &json);
        else if (type == JSON_STRING)
            write_string(sanitizer, &json, &reader);
        else if (type == JSON_NUMBER)
            write_number(sanitizer, &json, &reader);
        else
            json_token(sanitizer->json, &json, type);
    }
    json_destroy(&json);
    int code = json_writer_finish(sanitizer->json);
    if (code && !sanitizer->status)
        sanitizer->status = code;
}

void sanitizer_write_json(struct sanitizer *sanitizer, const struct string_entry *text, uint32_t schema,
                          struct text_buffer *out)
{
    write_json(sanitizer, text, (struct payload_reader){.schema = schema}, out);
}

uint32_t sanitizer_keep_json(struct sanitizer *sanitizer, uint32_t string)
{
    const struct strings *strings = &sanitizer->original->strings;
    struct text_buffer json = {0};
    if (string >= strings->entries.length)
        return PROFILE_NONE;
    const struct payload_reader reader = {.schema = SCHEMA_NONE, .is_code = true};
    write_json(sanitizer, &strings->entries.data[string], reader, &json);
    uint32_t kept = sanitizer_add(sanitizer, json.data ? json.data : "", json.length);
    array_free(&json);
    return kept;
}
