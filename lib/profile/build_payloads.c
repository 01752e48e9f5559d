#include "profile/build_payloads.h"

#include "profile/payloads.h"

static bool needs_rewrite(const struct build *build, const struct raw_thread *thread)
{
    return thread->own.strings.present || thread->stack_map || !build->same_numbers;
}

static const struct column *get_thread_strings(const struct build *build, const struct raw_thread *thread)
{
    return thread->own.strings.present ? &thread->own.strings : &build->raw->shared.strings;
}

struct payload_source {
    struct build *build;
    const struct raw_thread *thread;
};

/* Maps a string index of the file to a string of the profile. */
static uint32_t map_string(void *context, uint32_t index)
{
    const struct payload_source *source = context;
    const struct column *strings = get_thread_strings(source->build, source->thread);
    if (index >= strings->length)
        return PROFILE_NONE;
    uint32_t string = ((const uint32_t *)strings->data)[index];
    return build_text(source->build, &string) ? PROFILE_NONE : string;
}

static uint32_t map_stack(void *context, uint32_t index)
{
    const struct raw_thread *thread = ((const struct payload_source *)context)->thread;
    return index < thread->stack_count ? thread->stack_map[index] : PROFILE_NONE;
}

static void rewrite_payload(struct build *build, const struct raw_thread *thread, const struct string_entry *payload,
                            struct json_writer *writer)
{
    struct payload_source source = {build, thread};
    const struct payload_rewriter rewriter = {&build->string_fields, map_string, thread->stack_map ? map_stack : NULL,
                                              &source, writer};
    payload_rewrite(&rewriter, payload);
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
            if (text != PROFILE_NONE)
                rewrite_payload(build, thread, &build->raw->texts.entries.data[text], NULL);
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
    struct byte_sink sink = text_sink(&build->payload);
    struct json_writer *writer = malloc(sizeof(*writer));
    if (!writer)
        return error_no_memory(build->err);
    build->payload.length = 0;
    json_writer_init(writer, &sink, build->err);
    rewrite_payload(build, thread, &build->raw->texts.entries.data[*data], writer);
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
