/*
 * What prof says to its user. All of it goes to standard error, because standard output belongs to the target (and to
 * `report`); every line begins with "prof: ".
 */
#ifndef PROF_CMD_UI_H
#define PROF_CMD_UI_H

#include "base/error.h"

/* One line. The format needs no newline. */
void ui_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One line about what failed. Returns EXIT_FAILURE, so that `return ui_fail(...)` ends a command. */
int ui_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same with the sentence of a library function. */
int ui_fail_error(const struct error *err);

/* One line about a wrong use of `command`, and where its help is. Returns EXIT_USAGE (2). */
int ui_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for what getopt_long() did not accept: `result` is what it returned ('?', or ':' for a missing argument;
 * start the short options with ':' and it prints nothing itself). */
int ui_bad_option(const char *command, int result, char **argv);

/* A line that the next one, of this or any other function here, takes the place of: how far something has got. Nothing
 * if standard error is not a terminal. An empty text takes it away. */
void ui_show(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
