/*
 * The kinds of reports that have one source file each. report_print_KIND() prints the text of a report, and
 * report_write_KIND() writes the members of its JSON. The functions return 0 or a negative errno value.
 */
#pragma once

#include "cmd/report/report.h"

#include "tree/wait_groups.h"

struct json_writer;
struct marker_view;

/* ---- report_annotate.c ---- */

int report_print_annotation(const struct report *report, struct error *err);
int report_write_annotation(struct json_writer *json, const struct report *report, struct error *err);

/* ---- report_compared_waits.c ---- */

int report_print_compared_waits(const struct report *report, struct error *err);
int report_write_compared_waits(struct json_writer *json, const struct report *report, struct error *err);

/* ---- report_counters.c ---- */

int report_print_counters(const struct report *report, struct error *err);
int report_write_counters(struct json_writer *json, const struct report *report, struct error *err);

/* Prints one line of counters for each of the first processes. Prints nothing if the profile has no counters of
 * processes. */
void report_print_figures(const struct report *report);

/* ---- report_intervals.c ---- */

int report_print_intervals(const struct report *report, struct error *err);
int report_write_intervals(struct json_writer *json, const struct report *report, struct error *err);

/* ---- report_json.c ---- */

int report_print_json(const struct report *report, struct error *err);

/* ---- report_path.c ---- */

/* Chooses the thread at which the path ends, and the range of --marker. Returns an exit status, after a message if it
 * is not 0. */
int report_choose_path(struct report *report);

/* Finds the path, and has the tree count it. Call this function after the query of the engine. */
int report_find_path(struct report *report, struct error *err);

int report_print_path(const struct report *report, struct error *err);
int report_write_path(struct json_writer *json, const struct report *report, struct error *err);

/* ---- report_processes.c ---- */

int report_print_processes(const struct report *report, struct error *err);
int report_write_processes(struct json_writer *json, const struct report *report, struct error *err);

/* ---- report_summary.c ---- */

/* Prints text, or Markdown with --markdown. The JSON has at most 8 KiB. The text has at most 8 KiB beside the
 * lines of the head, in which command lines and warnings have any length. */
int report_print_summary(const struct report *report, struct error *err);
int report_write_summary(struct json_writer *json, const struct report *report, struct error *err);

/* ---- report_waits.c ---- */

/* Reads the argument of --waits. Returns an exit status, after a message if it is not 0. */
int report_choose_waits(struct report *report);

/* Returns an exit status, after a message if the profile has no wakers. */
int report_require_wakers(const struct report *report);

/* Returns the argument of --waits for a grouping. */
const char *report_get_wait_grouping_name(enum wait_grouping grouping);

int report_print_waits(const struct report *report, struct error *err);
int report_write_waits(struct json_writer *json, const struct report *report, struct error *err);

/* If the threads waited nearly all the time, writes a hint about --off-cpu and --waits to a buffer of REPORT_LINE_SIZE
 * bytes; otherwise "". `totals`: the result of engine_group_bottleneck_waits(). */
void report_describe_waiting(const struct report *report, const struct wait_totals *totals, char *text);

/* ---- report_markers.c ---- */

/* Makes a view of the markers in the report's threads and range that match `search`. The caller frees *view also after
 * a failure. */
int report_query_markers(const struct report *report, const char *search, struct marker_view **view, struct error *err);

int report_print_markers(const struct report *report, struct error *err);
int report_write_markers(struct json_writer *json, const struct report *report, struct error *err);

/* ---- report_object.c ---- */

/* Finds the object with the most waits that has the argument of --waits in its name. Returns an exit status, after a
 * message if it is not 0. */
int report_resolve_object(struct report *report);

int report_print_object(const struct report *report, struct error *err);
int report_write_object(struct json_writer *json, const struct report *report, struct error *err);
