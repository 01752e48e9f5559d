#include "profile/merge_payloads.h"

#include "base/text_buffer.h"

static int append_payload(struct profile *into, const struct string_entry *payload,
                          const struct payload_rewriter *rewriter, struct text_buffer *text, uint32_t *data,
                          struct error *err)
{
    struct byte_sink sink = text_sink(text);
    text->length = 0;
    json_writer_init(rewriter->writer, &sink, err);
    payload_rewrite(rewriter, payload);
    int code = json_writer_finish(rewriter->writer);
    if (code)
        return code;
    *data = strings_add(&into->strings, text->data, text->length);
    return *data == STRING_NONE ? error_no_memory(err) : 0;
}

static int append_payloads(struct profile *into, struct profile *from, const struct payload_rewriter *rewriter,
                           struct error *err)
{
    struct text_buffer text = {0};
    int code = 0;
    for (size_t t = 0; t < from->threads.length; t++) {
        struct marker_table *markers = &from->threads.data[t].markers;
        for (size_t i = 0; !code && i < markers->length; i++)
            if (markers->data[i] != PROFILE_NONE)
                code = append_payload(into, &from->strings.entries.data[markers->data[i]], rewriter, &text,
                                      &markers->data[i], err);
    }
    array_free(&text);
    return code;
}

/* Concatenates the schemas of both profiles; of two schemas with the same name, the first counts. */
static int append_schemas(struct profile *into, const struct profile *from, struct error *err)
{
    uint32_t own = into->meta.marker_schema, other = from->meta.marker_schema;
    struct text_buffer text = {0};
    if (other == PROFILE_NONE)
        return 0;
    const struct string_entry *more = &from->strings.entries.data[other];
    const struct string_entry *first = own == PROFILE_NONE ? NULL : &into->strings.entries.data[own];
    if (first && first->length == more->length && memcmp(first->text, more->text, more->length) == 0)
        return 0;
    bool enough = !first || (text_append(&text, first->text, first->length - 1) && text_append_z(&text, ","));
    enough = enough && text_append(&text, more->text + (first ? 1 : 0), more->length - (first ? 1 : 0));
    if (enough)
        into->meta.marker_schema = strings_add(&into->strings, text.data, text.length);
    array_free(&text);
    return enough && into->meta.marker_schema != STRING_NONE ? 0 : error_no_memory(err);
}

int payloads_merge(struct profile *into, struct profile *from, const struct payload_rewriter *indexes,
                   struct error *err)
{
    struct hash string_fields = {0};
    struct payload_rewriter rewriter = *indexes;
    rewriter.string_fields = &string_fields;
    rewriter.writer = malloc(sizeof(*rewriter.writer));
    int code = rewriter.writer ? list_string_fields(&string_fields, from, err) : error_no_memory(err);
    if (!code)
        code = append_payloads(into, from, &rewriter, err);
    if (!code)
        code = append_schemas(into, from, err);
    into->meta.kept_strings = (uint32_t)into->strings.entries.length;
    free(rewriter.writer);
    hash_destroy(&string_fields);
    return code;
}
