/*
 * Any bytes as JSON. All splits into pieces, and reading numbers singly or in bulk, give the same values; so does
 * writing and reading again. The first byte chooses the splits.
 */
#include "base/json.h"
#include "base/json_write.h"
#include "support/memory_sink.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct json_writer writer;

/* Takes all numbers in bulk; they are written as json_next() would have given them. */
static void take_numbers(struct json *json)
{
    double values[7];
    uint32_t indexes[5];
    size_t count;
    while ((count = json_read_indexes(json, UINT32_MAX, indexes, sizeof(indexes) / sizeof(*indexes))) > 0)
        for (size_t i = 0; i < count; i++)
            json_double(&writer, indexes[i] == UINT32_MAX ? NAN : (double)indexes[i]); /* NAN is a float */
    while ((count = json_read_numbers(json, values, sizeof(values) / sizeof(*values))) > 0)
        for (size_t i = 0; i < count; i++)
            json_double(&writer, values[i]);
}

static void write_token(const struct json *json, enum json_type type)
{
    if (type != JSON_NUMBER) {
        json_token(&writer, json, type);
        return;
    }
    if (!isfinite(json->number))
        abort();
    json_double(&writer, json->number);
}

/* Writes the values of the text anew into `out`. Returns how it ended, and in `offset` where. */
static enum json_type rewrite(const char *text, size_t size, size_t cut, bool bulk, struct memory *out,
                              uint64_t *offset)
{
    struct byte_sink sink = memory_sink(out);
    struct error err;
    struct json json;
    char *piece = NULL;
    size_t fed = 0;
    json_init(&json);
    json_writer_init(&writer, &sink, &err);
    enum json_type type;
    for (;;) {
        if (bulk)
            take_numbers(&json);
        type = json_next(&json);
        if (type > JSON_END) {
            write_token(&json, type);
            continue;
        }
        if (type != JSON_MORE)
            break;
        size_t part = size - fed < cut ? size - fed : cut;
        if (part == 0) {
            json_end_input(&json);
            continue;
        }
        free(piece);
        piece = malloc(part); /* alone, so that a sanitizer sees reads beyond it */
        if (!piece)
            abort();
        memcpy(piece, text + fed, part);
        json_feed(&json, piece, part);
        fed += part;
    }
    *offset = json.offset;
    json_writer_finish(&writer);
    json_destroy(&json);
    free(piece);
    return type;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size == 0)
        return 0;
    const char *text = (const char *)bytes + 1;
    size_t cut_size = bytes[0] % 64 + 1;
    struct memory whole = {0}, cut = {0}, again = {0};
    uint64_t whole_offset, cut_offset, again_offset;
    enum json_type end = rewrite(text, size - 1, SIZE_MAX, true, &whole, &whole_offset);
    if (rewrite(text, size - 1, cut_size, bytes[0] & 64, &cut, &cut_offset) != end)
        abort();
    if (end == JSON_FAILED ? cut_offset != whole_offset
                           : cut.length != whole.length || memcmp(cut.data, whole.data, whole.length) != 0)
        abort();
    if (end == JSON_END) {
        if (rewrite(whole.data, whole.length, SIZE_MAX, false, &again, &again_offset) != JSON_END)
            abort();
        if (again.length != whole.length || memcmp(again.data, whole.data, whole.length) != 0)
            abort();
    }
    array_free(&whole);
    array_free(&cut);
    array_free(&again);
    return 0;
}
