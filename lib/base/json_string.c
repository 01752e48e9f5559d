#include "base/json_string.h"

#include "base/text_buffer.h"

uint32_t json_add_string(struct strings *table, void (*put)(struct json_writer *json, const void *context),
                         const void *context)
{
    struct text_buffer text = {0};
    struct byte_sink sink = text_sink(&text);
    struct json_writer *json = malloc(sizeof(*json));
    if (!json)
        return STRING_NONE;
    json_writer_init(json, &sink, NULL);
    put(json, context);
    uint32_t string = json_writer_finish(json) == 0 ? strings_add(table, text.data, text.length) : STRING_NONE;
    free(json);
    array_free(&text);
    return string;
}
