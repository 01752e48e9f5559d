/*
 * What a server says of a profile that was sent to it, by the rules of OTLP over HTTP
 * (https://opentelemetry.io/docs/specs/otlp/#otlphttp-response).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum push_outcome {
    PUSH_TAKEN,   /* the server has it, or the part of it that it wants */
    PUSH_LATER,   /* to be tried again: the server, or something on the way to it, is down or busy */
    PUSH_REFUSED, /* no use to try these bytes again */
    PUSH_BARRED,  /* the address or the credentials are wrong, not the profile: it waits for better ones */
};

enum { PUSH_SENTENCE_MAX = 256 };

struct push_answer {
    enum push_outcome outcome;
    uint64_t rejected;                /* parts of a profile that the server did not take, though it took the others */
    char sentence[PUSH_SENTENCE_MAX]; /* the server's own, one line, cut to what fits; "" if it says nothing */
};

/* `status`: of the HTTP response; `content_type` and the `size` bytes of `body`: as it has them. */
void push_answer_read(struct push_answer *answer, long status, const char *content_type, const void *body, size_t size);

/* "Bad Request" of 400; "" of one that is unknown. */
const char *push_status_name(long status);
