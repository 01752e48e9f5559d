/*
 * A server answers with 200 and an ExportProfilesServiceResponse, or with another status and a google.rpc.Status, in
 * the encoding of the request. A proxy in front of the server answers in text or HTML.
 */
#include "push/push_answer.h"

#include "base/json.h"
#include "base/utf8.h"
#include "import/protobuf_read.h"

#include <strings.h>

enum response_field { RESPONSE_PARTIAL_SUCCESS = 1 };
enum partial_success_field { PARTIAL_REJECTED = 1, PARTIAL_MESSAGE };
enum status_field { STATUS_MESSAGE = 2 };

static enum push_outcome classify_status(long status)
{
    switch (status) {
    case 429:
    case 502:
    case 503:
    case 504:
        return PUSH_LATER;
    case 401:
    case 403:
    case 404:
    case 405:
    case 407:
        return PUSH_BARRED;
    default:
        return status >= 200 && status < 300 ? PUSH_TAKEN : status >= 300 && status < 400 ? PUSH_BARRED : PUSH_REFUSED;
    }
}

const char *push_get_status_name(long status)
{
    static const struct {
        long status;
        const char *name;
    } names[] = {{301, "Moved Permanently"},   {302, "Found"},
                 {307, "Temporary Redirect"},  {308, "Permanent Redirect"},
                 {400, "Bad Request"},         {401, "Unauthorized"},
                 {403, "Forbidden"},           {404, "Not Found"},
                 {405, "Method Not Allowed"},  {407, "Proxy Authentication Required"},
                 {413, "Content Too Large"},   {415, "Unsupported Media Type"},
                 {429, "Too Many Requests"},   {500, "Internal Server Error"},
                 {501, "Not Implemented"},     {502, "Bad Gateway"},
                 {503, "Service Unavailable"}, {504, "Gateway Timeout"}};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (names[i].status == status)
            return names[i].name;
    return "";
}

/* ---- the sentence ---- */

/* Copies the first line, in whole UTF-8 characters, with '?' for unprintable characters. */
static void copy_first_line(struct push_answer *answer, const char *text, size_t size)
{
    const char *at = text, *end = text ? text + size : text;
    size_t used = 0;
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    while (at < end && *at != '\n' && *at != '\r') {
        size_t length = utf8_measure_character(at, end);
        bool is_visible = length && utf8_is_visible(utf8_decode(at, length));
        size_t taken = is_visible ? length : 1;
        if (used + taken >= sizeof(answer->sentence))
            break;
        memcpy(answer->sentence + used, is_visible ? at : "?", taken);
        used += taken;
        at += length ? length : 1;
    }
    while (used && answer->sentence[used - 1] == ' ')
        used--;
    answer->sentence[used] = '\0';
}

static void copy_first_line_of_cursor(struct push_answer *answer, const struct cursor *bytes)
{
    copy_first_line(answer, (const char *)bytes->at, cursor_left(bytes));
}

static void read_status(struct push_answer *answer, struct cursor message)
{
    struct protobuf_field field;
    while (protobuf_next(&message, &field))
        if (field.number == STATUS_MESSAGE && field.wire == 2)
            copy_first_line_of_cursor(answer, &field.bytes);
}

static void read_partial_success(struct push_answer *answer, struct cursor message)
{
    struct protobuf_field field;
    while (protobuf_next(&message, &field)) {
        if (field.number == PARTIAL_REJECTED && field.wire == 0)
            answer->rejected = field.value >> 63 ? 0 : field.value;
        else if (field.number == PARTIAL_MESSAGE && field.wire == 2)
            copy_first_line_of_cursor(answer, &field.bytes);
    }
}

static void read_response(struct push_answer *answer, struct cursor message)
{
    struct protobuf_field field;
    while (protobuf_next(&message, &field))
        if (field.number == RESPONSE_PARTIAL_SUCCESS && field.wire == 2)
            read_partial_success(answer, field.bytes);
}

/* Reads "message" of the outermost JSON object, which google.rpc.Status and many other answers have. */
static void read_json(struct push_answer *answer, const char *text, size_t size)
{
    struct json json;
    bool is_message = false;
    json_init_whole(&json, text, size);
    for (enum json_type type; (type = json_next(&json)) > JSON_END;) {
        if (type == JSON_STRING && is_message)
            copy_first_line(answer, json.text, json.length);
        is_message = type == JSON_KEY && json.depth == 1 && json_is(&json, "message");
    }
    json_destroy(&json);
}

static bool is_of_type(const char *content_type, const char *wanted)
{
    return strncasecmp(content_type, wanted, strlen(wanted)) == 0;
}

void push_answer_read(struct push_answer *answer, long status, const char *content_type, const void *body, size_t size)
{
    *answer = (struct push_answer){.outcome = classify_status(status)};
    if (is_of_type(content_type, "application/x-protobuf")) {
        if (answer->outcome == PUSH_TAKEN)
            read_response(answer, cursor_of(body, size));
        else
            read_status(answer, cursor_of(body, size));
    } else if (is_of_type(content_type, "application/json")) {
        read_json(answer, body, size);
    } else if (is_of_type(content_type, "text/plain") && answer->outcome != PUSH_TAKEN) {
        copy_first_line(answer, body, size);
    }
}
