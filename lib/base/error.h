/*
 * One way to fail. A function in lib/ that can fail on its input returns 0 or a negative errno value, and fills a
 * `struct error` with a sentence for the user: the action, its object, the reason, and a remedy. Only cmd/ prints and
 * exits.
 *
 *     if (fd < 0)
 *         return error_set(err, errno, "cannot open %s: %s", path, strerror(errno));
 *
 * The variable for such a value is called `code`. A constructor also returns a `code`, and stores the new object in its
 * first argument (`int x_new(struct x **out, ..., struct error *err)`), or NULL after a failure. A constructor without
 * `err` can fail only for lack of memory; it returns the object, or NULL.
 */
#pragma once

#include "base/standard.h"

struct error {
    char text[1024]; /* one or two sentences, no trailing newline or full stop; empty if nothing failed */
};

/* Writes the sentence (truncated to the buffer) and returns -code, so that `return error_set(...)` is one line.
 * `code` is a positive errno value. `err` may be NULL if the caller needs only the code. */
int error_set(struct error *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Writes the sentence about lack of memory; returns -ENOMEM. */
int error_no_memory(struct error *err);

#ifdef __clang_analyzer__ /* the analyzer does not know that errno values are never 0, and would treat every failure   \
                           * as a success */
#define error_set(err, ...)  (error_set((err), __VA_ARGS__), -1)
#define error_no_memory(err) (error_no_memory(err), -1)
#endif

/* Prepends "context: " to the sentence, and returns `code` unchanged. */
int error_prefix(struct error *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
