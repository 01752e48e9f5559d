/*
 * prof's messages to its user. All go to standard error, because standard output belongs to the target (and to
 * `report`). Every line begins with "prof: ".
 */
#pragma once

#include "base/error.h"

/* Prints one line. The format needs no newline. */
void ui_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints one line about a failure. Returns EXIT_FAILURE, so that `return ui_fail(...)` ends a command. */
int ui_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same with the error of a library function. */
int ui_fail_error(const struct error *err);

/* Prints one line about wrong usage of `command`, and how to get its help. Returns EXIT_USAGE (2). */
int ui_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a result of getopt_long(): '?', or ':' for a missing argument. Start the short options with ':' to keep
 * getopt_long() silent. */
int ui_bad_option(const char *command, int result, char **argv);

/* Shows progress in a line that the next line from any function here replaces. Does nothing if standard error is not a
 * terminal. An empty text removes the line. */
void ui_show(const char *format, ...) __attribute__((format(printf, 1, 2)));
