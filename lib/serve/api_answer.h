/*
 * The answer to a request of the symbol API: an HTTP status and a JSON text.
 */
#ifndef PROF_SERVE_API_ANSWER_H
#define PROF_SERVE_API_ANSWER_H

#include "base/error.h"
#include "base/sink.h"

#include <stddef.h>

/* No answer that a client can use is larger; a few bytes of request may ask for long names many times. */
#define API_ANSWER_MAX ((size_t)256 << 20)

enum api_status {
    API_OK = 200,
    API_MALFORMED = 400,
    API_NOT_FOUND = 404,
    API_TOO_LARGE = 413,
    API_FAILED = 500,
    API_ENDING = 503,
};

/* Zero it to start. */
struct api_answer {
    enum api_status status;
    char *text; /* not NUL-terminated; freed by whoever sends it, or by api_answer_destroy() */
    size_t size, capacity;
};

/* A sink that appends to the text; -E2BIG beyond API_ANSWER_MAX. */
struct byte_sink api_answer_sink(struct api_answer *answer);

/* Replaces what is there by {"error": the sentence of `err`}. */
void api_answer_error(struct api_answer *answer, enum api_status status, const struct error *err);

/* The status that fits an error code of the functions that answer. */
enum api_status api_status_of(int code);

void api_answer_destroy(struct api_answer *answer);

#endif
