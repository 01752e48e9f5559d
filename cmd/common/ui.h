/*
 * The only place that writes to the terminal (tests/lint-output finds others). Text from a file of unknown origin, such
 * as a thread name, must not move the cursor, change the terminal's colors or hide anything: everything that is printed
 * has its invisible characters replaced.
 *
 * prof's messages go to standard error, because standard output belongs to the target (and to `report`). Every line
 * begins with "prof: ".
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { EXIT_USAGE = 2 };

/* Prints to standard output, with '?' for each invisible character but newline and tab. */
void ui_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same to standard error. */
void ui_print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes to standard output what is safe as it is: JSON, a color, a character known to be visible. False on failure. */
bool ui_write(const char *bytes, size_t size);

/* Replaces the invisible characters of a text. Returns its new size, which is no larger. */
size_t ui_mask(char *text, size_t size);

/* Prints one line. The format needs no newline. */
void ui_print_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints one line about a failure. Returns EXIT_FAILURE, so that `return ui_fail(...)` ends a command. */
int ui_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same with the error of a library function. */
int ui_fail_error(const struct error *err);

/* Prints one line about wrong usage of `command`, and how to get its help. Returns EXIT_USAGE (2). */
int ui_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Shows progress in a line that the next line from any function here replaces. Does nothing if standard error is not a
 * terminal. An empty text removes the line. */
void ui_show(const char *format, ...) __attribute__((format(printf, 1, 2)));
