/* The server's answer to a pushed profile: protobuf, JSON or text, by the first byte. */
#include "push/push_answer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const types[] = {"application/x-protobuf", "application/json", "text/plain", "text/html"};
    static const long statuses[] = {200, 400, 429, 503};
    struct push_answer answer;
    if (!size)
        return 0;
    push_answer_read(&answer, statuses[data[0] / 4 % 4], types[data[0] % 4], data + 1, size - 1);
    if (strlen(answer.sentence) >= PUSH_SENTENCE_MAX || strpbrk(answer.sentence, "\n\r\033"))
        abort();
    return 0;
}
