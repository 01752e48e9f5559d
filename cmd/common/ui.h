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

/* Prints a text that begins in the column `indent`, with line breaks between words before the column `width`, and a
 * newline at its end. A newline in the text starts a new line. */
void ui_print_wrapped(const char *text, int indent, int width);

/* Like ui_print(), but prints to standard error. */
void ui_print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes bytes to standard output unchanged. The bytes must be safe for a terminal, such as JSON, colors, and
 * characters known to be visible. Returns false on failure. */
bool ui_write(const char *bytes, size_t size);

/* Writes to standard output, like ui_write(). */
extern const struct byte_sink ui_sink;

/* The member "version" of all JSON. A new version changes the meaning of a member, or removes a member
 * (docs/schema). */
enum { JSON_VERSION = 1 };

/* Starts the JSON of a command. Numbers have at most six decimals, so a time in ms is exact to the ns. */
struct json_writer;
struct error;
void ui_init_json(struct json_writer *json, const struct byte_sink *sink, struct error *err);

/* Prints a JSON object with "version" and the members that `write` writes, and a newline. Returns the exit status after
 * a message. */
int ui_print_json(void (*write)(struct json_writer *json, const void *context), const void *context);

/* Appends formatted text to the string in a buffer of `size` bytes, and truncates the string at the buffer's end. */
void ui_append_format(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Replaces the invisible characters of a text. Returns the new size of the text, which never exceeds the old size. */
size_t ui_replace_invisible(char *text, size_t size);

/* Prints one line. `format` has no newline at its end. */
void ui_print_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints one line about a failure. Returns EXIT_FAILURE, so that `return ui_fail(...)` ends a command. */
int ui_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Like ui_fail(), with the sentence of `err`. */
int ui_fail_with_error(const struct error *err);

/* Prints one line about wrong usage of `command`, and how to get its help. Returns EXIT_USAGE (2). */
int ui_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Shows a progress line; the next output of any function in this header replaces it. Does nothing if standard error is
 * not a terminal. An empty text removes the progress line. */
void ui_show_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
