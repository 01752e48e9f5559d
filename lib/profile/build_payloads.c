#include "profile/build_payloads.h"

#include "base/json.h"
#include "base/json_write.h"
#include "profile/payloads.h"

/* ---- one payload ---- */

static bool needs_rewrite(const struct build *build, const struct raw_thread *thread)
{
    return thread->own.strings.present || thread->stack_map || !build->same_numbers;
}

static const struct column *get_thread_strings(const struct build *build, const struct raw_thread *thread)
{
    return thread->own.strings.present ? &thread->own.strings : &build->raw->shared.strings;
}

/* Maps a string index of the file to a string of the profile, or PROFILE_NONE. */
static uint32_t map_string_index(struct build *build, const struct column *strings, double number)
{
    if (!(number >= 0) || number >= (double)strings->length)
        return PROFILE_NONE;
    uint32_t string = ((const uint32_t *)strings->data)[(size_t)number];
    return build_text(build, &string) ? PROFILE_NONE : string;
}

struct rewriter {
    struct build *build;
    const struct raw_thread *thread;
    struct json_writer *writer; /* NULL: only add the strings */
    uint64_t type;
    bool is_string, in_cause, is_stack; /* kind of the last key */
};

static void make_track_key(struct rewriter *rewriter, const struct json *json, enum json_type type)
{
    bool is_key = type == JSON_KEY;
    rewriter->is_string = is_key && json->depth == 1 &&
                          hash_get(&rewriter->build->string_fields,
                                   hash_mix(rewriter->type, hash_bytes(json->text, json->length))) != HASH_MISSING;
    if (is_key && json->depth == 1)
        rewriter->in_cause = json_is(json, "cause");
    rewriter->is_stack = is_key && json->depth == 2 && rewriter->in_cause && json_is(json, "stack");
}

static void write_number(struct rewriter *rewriter, const struct json *json)
{
    const struct raw_thread *thread = rewriter->thread;
    uint32_t number = PROFILE_NONE;
    if (rewriter->is_string)
        number = map_string_index(rewriter->build, get_thread_strings(rewriter->build, thread), json->number);
    else if (json->number >= 0 && json->number < (double)thread->stack_count)
        number = thread->stack_map[(size_t)json->number];
    if (!rewriter->writer)
        return;
    if (number == PROFILE_NONE)
        json_null(rewriter->writer);
    else
        json_unsigned(rewriter->writer, number);
}

static void rewrite_payload(struct rewriter *rewriter, const char *text, size_t length)
{
    struct json json;
    json_init_whole(&json, text, length);
    for (enum json_type type; (type = json_next(&json)) > JSON_END;) {
        bool is_number =
            type == JSON_NUMBER && (rewriter->is_string || (rewriter->is_stack && rewriter->thread->stack_map));
        if (is_number)
            write_number(rewriter, &json);
        else if (rewriter->writer)
            json_token(rewriter->writer, &json, type);
        make_track_key(rewriter, &json, type);
    }
    json_destroy(&json);
}

int build_payload_strings(struct build *build)
{
    int code = list_string_fields(&build->string_fields, build->profile, build->err);
    bool added = false;
    for (size_t t = 0; !code && t < build->raw->threads.length; t++) {
        const struct raw_thread *thread = build->raw->threads.data[t];
        const struct column *data = &thread->markers.data;
        if (!needs_rewrite(build, thread) || build->string_fields.length == 0)
            continue;
        added = true;
        for (size_t i = 0; i < data->length; i++) {
            uint32_t text = ((const uint32_t *)data->data)[i];
            if (text == PROFILE_NONE)
                continue;
            const struct string_entry *entry = &build->raw->texts.entries.data[text];
            struct rewriter rewriter = {
                .build = build, .thread = thread, .type = hash_payload_type(entry->text, entry->length)};
            rewrite_payload(&rewriter, entry->text, entry->length);
        }
    }
    if (added)
        build->profile->meta.kept_strings = (uint32_t)build->profile->strings.entries.length;
    return code;
}

int build_payload(struct build *build, const struct raw_thread *thread, uint32_t *data)
{
    if (*data == PROFILE_NONE || !needs_rewrite(build, thread))
        return build_text(build, data);
    const struct string_entry *entry = &build->raw->texts.entries.data[*data];
    struct byte_sink sink = text_sink(&build->payload);
    struct json_writer *writer = malloc(sizeof(*writer));
    if (!writer)
        return error_no_memory(build->err);
    struct rewriter rewriter = {
        .build = build, .thread = thread, .writer = writer, .type = hash_payload_type(entry->text, entry->length)};
    build->payload.length = 0;
    json_writer_init(writer, &sink, build->err);
    rewrite_payload(&rewriter, entry->text, entry->length);
    int code = json_writer_finish(writer);
    free(writer);
    if (code)
        return code;
    *data = strings_add(&build->profile->strings, build->payload.data, build->payload.length);
    return *data == STRING_NONE ? error_no_memory(build->err) : 0;
}

void build_payloads_end(struct build *build)
{
    hash_destroy(&build->string_fields);
    array_free(&build->payload);
}
