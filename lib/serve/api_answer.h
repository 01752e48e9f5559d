/*
 * The answer of the symbol API: a JSON text. An error is {"error": sentence} with status 200, as samply sends it: the
 * Firefox Profiler shows the sentence only with status 200.
 */
#pragma once

#include "base/error.h"
#include "base/sink.h"

/* Limit of an answer, because a short request can name long functions many times. Useful answers are smaller. */
#define API_ANSWER_MAX ((size_t)256 << 20)

/* Starts zeroed. */
struct api_answer {
    char *text; /* not NUL-terminated; the sender or api_answer_destroy() frees it */
    size_t size, capacity;
    bool has_file; /* `file` is a profile that is the answer instead of `text` */
    int file;
    bool is_own; /* the server shows the profile in `file` from now on, and answers with `text` */
};

/* Returns a sink that appends to the answer's text, and fails with -E2BIG beyond API_ANSWER_MAX. */
struct byte_sink api_answer_make_sink(struct api_answer *answer);

/* Replaces the answer's text with {"error": the sentence of `err`}. */
void api_answer_error(struct api_answer *answer, const struct error *err);

/* Takes ownership of a file with a profile as the answer. */
void api_answer_file(struct api_answer *answer, int file);

void api_answer_destroy(struct api_answer *answer);
