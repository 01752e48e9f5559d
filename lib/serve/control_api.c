/*
 * live/control: a request from the page to the live recording. The body is a request line of `prof ctl`: "pause",
 * "resume", "mark TEXT", "snapshot" or "stop". The answer is {"answer": SENTENCE} or {"error": SENTENCE}.
 */
#include "base/json_write.h"
#include "os/control_socket.h"
#include "serve/symbol_api.h"

static bool is_request(const char *line)
{
    static const char *const verbs[] = {"pause", "resume", "snapshot", "stop"};
    for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
        if (strcmp(line, verbs[i]) == 0)
            return true;
    return strncmp(line, "mark ", strlen("mark ")) == 0 && strlen(line) > strlen("mark ");
}

static void write_answer(struct api_answer *answer, const char *sentence)
{
    struct error err;
    struct byte_sink sink = api_answer_make_sink(answer);
    struct json_writer writer;
    json_writer_init(&writer, &sink, &err);
    json_open(&writer, '{');
    json_key(&writer, "answer");
    json_text_z(&writer, sentence);
    json_close(&writer, '}');
    if (json_writer_finish(&writer))
        api_answer_error(answer, &err);
}

void symbol_api_answer_control(const struct symbol_api *api, const char *body, size_t size, struct api_answer *answer)
{
    char line[CONTROL_LINE / 2], sentence[CONTROL_ANSWER_SIZE] = "";
    struct error err = {"this recording takes pause, resume, mark TEXT, snapshot and stop"};
    bool is_line = size < sizeof(line) && size > 0 && !memchr(body, '\n', size) && !memchr(body, '\0', size);
    snprintf(line, sizeof(line), "%.*s", is_line ? (int)size : 0, is_line ? body : "");
    if (!api->control || !is_request(line)) {
        api_answer_error(answer, &err);
    } else if (api->control(api->control_context, line, sentence, sizeof(sentence))) {
        write_answer(answer, sentence);
    } else {
        snprintf(err.text, sizeof(err.text), "%s", sentence);
        api_answer_error(answer, &err);
    }
}
