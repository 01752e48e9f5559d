/*
 * Functions that print text of a profile in a terminal.
 */
#pragma once

#include "cmd/report/report.h"

/* Detects the terminal's width, UTF-8 and color, and stores them in the report. */
void report_detect_terminal(struct report *report);

void report_print_color(const struct report *report, enum report_color color);

/* Prints a line in bold. */
void report_print_title(const struct report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns the columns that remain in a line after `used`, at least 8, or 0 if unlimited. */
unsigned report_measure_room(const struct report *report, unsigned used);

/* Returns the width of a text in columns, as these functions print it. */
unsigned report_measure_text(const struct report *report, const char *text);

/* Prints text of a profile on one line. '?' replaces each invisible character (base/utf8.h) and, if the locale is
 * not UTF-8, each non-ASCII character. --markdown escapes markup. Prints at most `columns` (0: unlimited); an ellipsis
 * replaces the rest. Returns the columns used. */
unsigned report_print_text(const struct report *report, const char *text, unsigned columns);

/* Like report_print_text(), with the ellipsis in the middle. */
unsigned report_print_shortened(const struct report *report, const char *text, unsigned columns);

/* Prints text right-aligned in `columns`. */
void report_print_right_aligned(const struct report *report, const char *text, unsigned columns);

enum { REPORT_LINE_SIZE = 512 };

/* Appends formatted text in a buffer of REPORT_LINE_SIZE bytes, and truncates it at the end of the buffer. */
#define report_append_format(text, ...) ui_append_format((text), REPORT_LINE_SIZE, __VA_ARGS__)

/* Prints a sentence and a newline, wrapped. The first line begins after `used` columns, all others with an indentation
 * of `indent`. */
void report_print_wrapped(const struct report *report, const char *text, unsigned indent, unsigned used);

/* Prints the name of a func, `count` (" x 3"), whether its calls are inlined, and its library or file in brackets, if
 * known. */
void report_print_func(const struct report *report, uint32_t func, const char *count, unsigned columns);

/* Returns whether none, some or all calls of the func are inlined. */
enum inlining report_get_inlining(const struct report *report, uint32_t func);

/* Prints the name of a function, shortened in its arguments first (report_name.c). Returns the columns used. */
unsigned report_print_name(const struct report *report, const char *name, unsigned columns);

/* Formats a weight in the profile's unit: "1,234", "1,234.5 ms" or "12.3 MiB"; "-" or a dash for 0. */
void report_format_weight(const struct report *report, double weight, char out[QUANTITY_TEXT_MAX]);

const char *report_get_func_name(const struct report *report, uint32_t func);
const char *report_get_thread_name(const struct report *report, uint32_t thread);

/* Appends the name of a func without arguments, at most 80 bytes, to a text of REPORT_LINE_SIZE bytes. */
void report_append_func(const struct report *report, uint32_t func, char *text);

/* Returns the name of the butterfly's focus. */
const char *report_get_focus_name(const struct report *report);

/* Finds the groups of functions for REPORT_GROUPS. */
int report_find_groups(struct report *report, struct error *err);

/* Lists the weights of libraries, categories or groups, depending on options.kind. */
int report_list_groups(const struct report *report, struct func_timings *groups, struct error *err);

/* Returns the name of a library, category or group. */
const char *report_get_group_name(const struct report *report, uint32_t index);

/* Returns the library of a func, otherwise its source file, otherwise NULL. */
const char *report_get_origin(const struct profile *profile, uint32_t func);
