#include "serve/api_answer.h"

#include "base/array.h"
#include "base/json_write.h"

#include <unistd.h>

static int append(void *context, const void *bytes, size_t size, struct error *err)
{
    struct api_answer *answer = context;
    if (size > API_ANSWER_MAX - answer->size)
        return error_set(err, E2BIG, "the answer is too large: ask for fewer addresses at once");
    if (!array_grow((void **)&answer->text, answer->size, &answer->capacity, size, 1))
        return error_no_memory(err);
    if (size)
        memcpy(answer->text + answer->size, bytes, size);
    answer->size += size;
    return 0;
}

struct byte_sink api_answer_make_sink(struct api_answer *answer)
{
    return (struct byte_sink){.write = append, .context = answer};
}

void api_answer_error(struct api_answer *answer, const struct error *err)
{
    struct byte_sink sink = api_answer_make_sink(answer);
    struct json_writer writer;
    struct error ignored;
    answer->size = 0;
    json_writer_init(&writer, &sink, &ignored);
    json_open(&writer, '{');
    json_member_text(&writer, "error", err->text);
    json_close(&writer, '}');
    json_writer_finish(&writer);
}

void api_answer_file(struct api_answer *answer, int file)
{
    answer->has_file = true;
    answer->file = file;
}

void api_answer_destroy(struct api_answer *answer)
{
    free(answer->text);
    if (answer->has_file)
        close(answer->file);
    *answer = (struct api_answer){.text = NULL};
}
