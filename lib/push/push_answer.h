/*
 * The server's answer to a profile, by the rules of OTLP over HTTP
 * (https://opentelemetry.io/docs/specs/otlp/#otlphttp-response).
 */
#pragma once

#include "base/standard.h"

enum push_outcome {
    PUSH_TAKEN,   /* the server accepted the profile, or all but a rejected part */
    PUSH_LATER,   /* retry: the server, or a proxy, is down or busy */
    PUSH_REFUSED, /* the server will never accept this profile */
    PUSH_BARRED,  /* the address or the credentials are wrong: the profile stays in the queue */
};

enum { PUSH_SENTENCE_MAX = 256 };

struct push_answer {
    enum push_outcome outcome;
    uint64_t rejected;                /* number of samples that the server rejected while it accepted the profile */
    char sentence[PUSH_SENTENCE_MAX]; /* the server's message, one line, truncated; "" if none */
};

/* Reads an HTTP response with this status, content type and body of `size` bytes. */
void push_answer_read(struct push_answer *answer, long status, const char *content_type, const void *body, size_t size);

/* Returns the name of an HTTP status, such as "Bad Request" for 400, or "" if unknown. */
const char *push_get_status_name(long status);
