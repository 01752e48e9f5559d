/*
 * The answer of the symbol API: a JSON text. An error is {"error": sentence} with status 200, as samply sends it: the
 * Firefox Profiler shows the sentence only with status 200.
 */
#pragma once

#include "base/error.h"
#include "base/sink.h"

#include <stdbool.h>
#include <stddef.h>

/* No useful answer is larger; a short request can name long functions many times. */
#define API_ANSWER_MAX ((size_t)256 << 20)

/* Starts zeroed. */
struct api_answer {
    char *text; /* not NUL-terminated; freed by its sender, or by api_answer_destroy() */
    size_t size, capacity;
    bool has_file; /* the answer is a profile in this file instead */
    int file;
};

/* A sink that appends to the text; -E2BIG beyond API_ANSWER_MAX. */
struct byte_sink api_answer_sink(struct api_answer *answer);

/* Replaces the text by {"error": the sentence of `err`}. */
void api_answer_error(struct api_answer *answer, const struct error *err);

/* Takes ownership of a file with a profile as the answer. */
void api_answer_file(struct api_answer *answer, int file);

void api_answer_destroy(struct api_answer *answer);
