/*
 * The server's answer to a profile, by the rules of OTLP over HTTP
 * (https://opentelemetry.io/docs/specs/otlp/#otlphttp-response).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum push_outcome {
    PUSH_TAKEN,   /* the server accepted all, or all but a rejected part */
    PUSH_LATER,   /* to be tried again: the server, or something on the way to it, is down or busy */
    PUSH_REFUSED, /* no use to try these bytes again */
    PUSH_BARRED,  /* the address or the credentials are wrong, not the profile: it waits for better ones */
};

enum { PUSH_SENTENCE_MAX = 256 };

struct push_answer {
    enum push_outcome outcome;
    uint64_t rejected;                /* samples that the server rejected while it accepted the others */
    char sentence[PUSH_SENTENCE_MAX]; /* the server's own text, one line, truncated; "" if it sent none */
};

/* `status`: of the HTTP response; `content_type` and the `size` bytes of `body`: from the response. */
void push_answer_read(struct push_answer *answer, long status, const char *content_type, const void *body, size_t size);

/* "Bad Request" for 400; "" for an unknown status. */
const char *push_status_name(long status);
