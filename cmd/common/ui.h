/*
 * The only place that writes to the terminal (tests/lint-output finds others). Text from a file of unknown origin, such
 * as a thread name, must not move the cursor, change the terminal's colors or hide anything: all functions replace the
 * invisible characters of their output.
 *
 * prof's messages go to standard error, because standard output belongs to the target (and to `report`). Every line
 * begins with "prof: ".
 */
#pragma once

#include "base/sink.h"

enum { EXIT_USAGE = 2 };

/* Prints to standard output, with '?' for each invisible character except newline and tab. */
void ui_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Like ui_print(), but prints to standard error. */
void ui_print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes bytes to standard output unchanged. The bytes must be safe for a terminal, such as JSON, colors, and
 * characters known to be visible. Returns false on failure. */
bool ui_write(const char *bytes, size_t size);

/* Writes to standard output, like ui_write(). */
extern const struct byte_sink ui_sink;

/* Replaces the invisible characters of a text. Returns the new size of the text, which never exceeds the old size. */
size_t ui_mask(char *text, size_t size);

/* Prints one line. `format` has no newline at its end. */
void ui_print_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints one line about a failure. Returns EXIT_FAILURE, so that `return ui_fail(...)` ends a command. */
int ui_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Like ui_fail(), with the sentence of `err`. */
int ui_fail_error(const struct error *err);

/* Prints one line about wrong usage of `command`, and how to get its help. Returns EXIT_USAGE (2). */
int ui_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Shows a progress line; the next output of any function in this header replaces it. Does nothing if standard error is
 * not a terminal. An empty text removes the progress line. */
void ui_show(const char *format, ...) __attribute__((format(printf, 1, 2)));
