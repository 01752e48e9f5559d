/*
 * The answer to a request of the symbol API: a JSON text. An answer that says why there is none is {"error": sentence},
 * and travels with status 200, too, as samply sends it: the Firefox Profiler shows the sentence of an answer with 200,
 * and throws away the text of any other.
 */
#pragma once

#include "base/error.h"
#include "base/sink.h"

#include <stdbool.h>
#include <stddef.h>

/* No answer that a client can use is larger; a few bytes of request may ask for long names many times. */
#define API_ANSWER_MAX ((size_t)256 << 20)

/* Starts zeroed. */
struct api_answer {
    char *text; /* not NUL-terminated; freed by whoever sends it, or by api_answer_destroy() */
    size_t size, capacity;
    bool has_file; /* the answer is a profile in this file instead */
    int file;
};

/* A sink that appends to the text; -E2BIG beyond API_ANSWER_MAX. */
struct byte_sink api_answer_sink(struct api_answer *answer);

/* Replaces what is there by {"error": the sentence of `err`}. */
void api_answer_error(struct api_answer *answer, const struct error *err);

/* Takes ownership of a file with a profile as the answer. */
void api_answer_file(struct api_answer *answer, int file);

void api_answer_destroy(struct api_answer *answer);
