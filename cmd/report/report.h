/*
 * The interface between the parts of `prof report`. report.c runs the command: report_options.c parses the command
 * line, report_select.c selects threads, range and samples and queries the engine, report_transforms.c resolves the
 * functions of the transforms. Then one of these prints: report_tree.c trees and lists, report_lines.c the lines of a
 * source file, report_annotate.c the machine code of a function (report_source.c reads source text for both),
 * report_markers.c markers, report_counters.c counters, report_json.c everything as JSON. report_head.c and
 * report_threads.c print the header, report_text.c and report_name.c fit text of a profile into a terminal, pager.c
 * starts the pager.
 */
#pragma once

#include "cmd/report/comparing.h"
#include "cmd/report/selection.h"
#include "cmd/common/symbol_options.h"

#include "base/arena.h"
#include "tree/changes.h"
#include "tree/engine.h"
#include "tree/line_costs.h"
#include "tree/quantity.h"
#include "tree/wait_groups.h"
#include "tree/weight_list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_writer;

struct report_transform {
    enum transform_kind kind;
    const char *option; /* the option's name */
    const char *text;   /* its argument */
};

/* What is printed. */
enum report_kind {
    REPORT_TREE,
    REPORT_FUNCTIONS,
    REPORT_LIBRARIES,
    REPORT_CATEGORIES,
    REPORT_BUTTERFLY,
    REPORT_LINES,
    REPORT_HOT_LINES,
    REPORT_ANNOTATION,
    REPORT_MARKERS,
    REPORT_THREADS,
    REPORT_WAITS,
    REPORT_COUNTERS,
    REPORT_KINDS
};

enum report_color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

enum report_color { COLOR_NORMAL, COLOR_BOLD, COLOR_DIM, COLOR_HOT, COLOR_WARM, COLOR_WARNING };

struct exporter;

struct report_options {
    const struct option_table *table; /* of the command */
    const char *output;               /* of export: NULL: the standard output */
    const struct exporter *exporter;  /* of export */
    unsigned sanitized;               /* of export: enum sanitize_part */
    ARRAY(const char *) keep_names;   /* of export: libraries */
    bool is_dry_run;                  /* of export: say what is left out, and write nothing */
    const char *view;                 /* of export: what a page begins with; NULL: the first view */
    const char *path;
    bool inverted, json, verbose, no_pager;
    enum report_color_when color;
    enum report_kind kind;
    const char *subject; /* argument of the butterfly, lines, annotation or waits */
    const char *weight;  /* its id; NULL: the first of the profile */
    const char *search;
    ARRAY(const char *) threads; /* arguments of --thread */
    ARRAY(struct report_transform) transforms;
    double from, to;    /* seconds after the start; NAN: none */
    uint32_t depth;     /* levels of the tree; 0: the default of the output format */
    double min_percent; /* NAN: the default of the output format */
    size_t limit;       /* rows; 0: no limit; SIZE_MAX: the default of the output format */
    struct symbol_options symbols;
    bool is_comparison;         /* diff and check */
    struct comparing compared;  /* of diff and check */
    ARRAY(const char *) limits; /* of check: --fail-if */
    const char *junit;          /* of check: the file */
    bool markdown, strict;      /* of check */
    bool is_tree;               /* of diff: --tree was given */
    enum func_order order;      /* of diff */
};

struct report {
    struct report_options options;
    struct engine *engine;
    const struct profile *profile;
    struct thread_list threads; /* indexes of the selected threads */
    struct time_range range;    /* ms */
    ARRAY(struct transform) transforms;
    struct arena paths;                /* of the transforms */
    struct butterfly_focus focus;      /* for REPORT_BUTTERFLY; a function: for REPORT_ANNOTATION */
    const struct debug_search *search; /* for REPORT_ANNOTATION */
    uint32_t source;                   /* for REPORT_LINES */
    enum wait_grouping wait_grouping;  /* for REPORT_WAITS */
    struct func_inlining inlining;
    struct weight weight;
    double total;                      /* weight that is 100% */
    double side_totals[PROFILE_SIDES]; /* of a comparison */
    unsigned width;                    /* columns per line; 0: unlimited */
    bool utf8;                         /* the locale is UTF-8 */
    bool color;
    /* Widths: total and self weight, and all columns with their separators. */
    unsigned total_columns, self_columns, figures_columns;
};

/* ---- report.c ---- */

/* Loads the profile, resolves the names in the options and queries the engine. Returns an exit status, after a message
 * if it is not 0. */
int report_prepare(struct report *report);

/* A report with the defaults of all options, for the command with this table. */
struct report report_of_command(const struct option_table *table, bool is_comparison);

void report_destroy(struct report *report);

/* ---- report_options.c ---- */

/* Parses the command line of options->table->command. Returns true if the command continues; otherwise *status is its
 * exit status, after a message or the help. */
bool report_parse_options(int argc, char **argv, struct report_options *options, int *status);

/* ---- report_select.c ---- */

/* Sets threads, range and weight. Returns an exit status, after a message if it is not 0. */
int report_select(struct report *report);

/* The query for the options and the transforms so far. */
struct tree_query report_query(const struct report *report);

/* Runs that query, and sets the total. */
int report_query_engine(struct report *report, struct error *err);

/* Whether an option excludes samples. */
bool report_is_filtered(const struct report *report);

/* ---- report_head.c ---- */

/* Prints one line about the profile, warnings about its quality, and the filters; with --verbose all metadata. */
int report_print_head(const struct report *report, struct error *err);

/* One line about the options that exclude samples, if there are such. */
void report_print_filters(const struct report *report);

void report_warn(const struct report *report, const char *text);

/* How often an event of meta.events happened in the threads and the range of the report, and in how many samples. */
struct event_count {
    double total, samples;
};
struct event_count report_count_event(const struct report *report, size_t event);

/* How many samples the recording lost; 0 if the profile does not say. */
int report_count_lost(const struct report *report, double *lost, struct error *err);

/* ---- report_threads.c ---- */

/* CPU time of a thread in the range in ms, regardless of search and transforms; 0 if the profile has none. */
double report_cpu_time(const struct report *report, uint32_t thread);

/* Prints the busiest threads, those with the same name in one row. Prints nothing for a single thread. */
int report_print_busy_threads(const struct report *report, struct error *err);

/* Prints all processes and their threads. */
int report_print_threads(const struct report *report, struct error *err);

/* "1.234 s" or "12.3 ms" */
void report_format_time(double ms, char *out, size_t size);

/* How many samples the figures count; in a file without times, a row may stand for several. */
double report_counted_samples(const struct report *report);

/* ---- report_transforms.c ---- */

/* Sets report->transforms. Returns an exit status, after a message if it is not 0. */
int report_resolve_transforms(struct report *report);

/* Sets report->focus in the transformed tree: a function; for a butterfly also a library or a category. The same
 * returns. */
int report_resolve_focus(struct report *report);

/* ---- report_text.c ---- */

/* Detects width, utf8 and color. */
void report_look_at_terminal(struct report *report);

void report_color(const struct report *report, enum report_color color);

/* The columns left in a line after `used`, at least 8; 0: unlimited. */
unsigned report_columns_left(const struct report *report, unsigned used);

/* The width of a text as these functions print it. */
unsigned report_text_columns(const struct report *report, const char *text);

/* Prints text of a profile on one line, safely: '?' replaces each invisible character (base/utf8.h) and, if the locale
 * is not UTF-8, each non-ASCII character. Prints at most `columns` (0: unlimited); an ellipsis replaces the rest.
 * Returns the columns used. */
unsigned report_put_text(const struct report *report, const char *text, unsigned columns);

/* The same, with the ellipsis in the middle. */
unsigned report_put_middle(const struct report *report, const char *text, unsigned columns);

/* Prints right-aligned in `columns`. */
void report_put_right(const struct report *report, const char *text, unsigned columns);

enum { REPORT_LINE_SIZE = 512 };

/* Appends to a text in a buffer of REPORT_LINE_SIZE bytes, as far as there is room. */
void report_append(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints a sentence and a newline, wrapped. `used` columns of the first line are taken; other lines begin with
 * `indent`. */
void report_put_wrapped(const struct report *report, const char *text, unsigned indent, unsigned used);

/* Prints the name of a func, `count` (" x 3"), whether its calls are inlined, and its library or file in brackets, if
 * known. */
void report_put_func(const struct report *report, uint32_t func, const char *count, unsigned columns);

/* How many calls of the func are inlined. */
enum inlining report_inlining(const struct report *report, uint32_t func);

/* Prints the name of a function, shortened in its arguments first (report_name.c). Returns the columns used. */
unsigned report_put_name(const struct report *report, const char *name, unsigned columns);

/* Formats a weight in the profile's unit: "1,234", "1,234.5 ms" or "12.3 MiB"; "-" or a dash for 0. */
void report_format_weight(const struct report *report, double weight, char out[QUANTITY_TEXT_MAX]);

/* The name of the butterfly's focus. */
const char *report_focus_name(const struct report *report);

/* The weights of libraries or categories, depending on options.kind. */
int report_list_groups(const struct report *report, struct func_timings *groups, struct error *err);

/* The name of a library or category. */
const char *report_group_name(const struct report *report, uint32_t index);

/* The library of a func, otherwise its source file, otherwise NULL. */
const char *report_origin(const struct profile *profile, uint32_t func);

/* ---- report_waits.c ---- */

/* Reads the argument of --waits. Returns an exit status, after a message if it is not 0. */
int report_choose_waits(struct report *report);

int report_print_waits(const struct report *report, struct error *err);
int report_put_waits(struct json_writer *json, const struct report *report, struct error *err);

/* Where CPU time is counted, and the threads waited nearly all the time: says so and what shows more, in a buffer of
 * REPORT_LINE_SIZE bytes; else "". */
int report_describe_waiting(const struct report *report, char *text, struct error *err);

/* ---- report_counters.c ---- */

int report_print_counters(const struct report *report, struct error *err);
int report_put_counters(struct json_writer *json, const struct report *report, struct error *err);

/* Prints what the first processes have used, a line each; nothing where prof has not counted it. */
void report_print_figures(const struct report *report);

/* ---- report_lines.c ---- */

/* Finds the source file of --lines. Returns an exit status, after a message if it is not 0. */
int report_resolve_source(struct report *report);

/* The weights of the file's lines. Zero `costs` before; destroy it also after a failure. */
int report_line_costs(const struct report *report, struct line_costs *costs, struct error *err);

int report_print_lines(const struct report *report, struct error *err);

/* The hottest lines of all files. The same. */
int report_list_hot_lines(const struct report *report, struct hot_lines *hot, struct error *err);
int report_print_hot_lines(const struct report *report, struct error *err);

/* The source file of a func that has one. */
const char *report_source_file(const struct report *report, uint32_t func);

/* ---- report_source.c ---- */

struct source_text {
    char *bytes; /* NULL: no text */
    ARRAY(const char *) lines;
};

/* Reads a source file's text from the profile or, without it, from disk. Leaves `text` empty if there is none. Destroy
 * it. */
void source_text_read(struct source_text *text, const struct report *report, const char *file);
const char *source_text_line(const struct source_text *text, uint32_t line); /* 1-based; NULL: no such line */
void source_text_destroy(struct source_text *text);

/* ---- report_annotate.c ---- */

int report_print_annotation(const struct report *report, struct error *err);

/* Writes the members "annotated" and "symbols" of the JSON report. */
int report_put_annotation(struct json_writer *json, const struct report *report, struct error *err);

/* ---- report_markers.c ---- */

int report_print_markers(const struct report *report, struct error *err);

/* Writes the member "markers" of the JSON report. */
int report_put_markers(struct json_writer *json, const struct report *report, struct error *err);

/* ---- report_tree.c: trees and lists, with a last line about hidden rows ---- */

/* Computes the widths of the columns. */
void report_measure_figures(struct report *report);

void report_put_figures(const struct report *report, double total, double self);
/* The same, or the figures of both sides of a comparison. */
void report_put_row(const struct report *report, double total, double self,
                    const struct side_figures sides[PROFILE_SIDES]);
void report_print_columns(const struct report *report,
                          const char *title); /* prints the column titles; `title` names the last one */

/* Rows left out, for the last line. */
struct omissions {
    size_t light; /* rows below the minimum percentage */
    size_t deep;  /* rows whose children are too deep */
    size_t limit; /* the limit of rows if it hides some; otherwise 0 */
};

/* "Hidden: 12 functions below 0.5% (--min-percent 0), rows after the first 60 (--limit 0)"; nothing if no row is
 * hidden. `row_noun`: singular name of the rows. */
void report_print_omissions(const struct report *report, const struct omissions *omissions, const char *row_noun);

/* The maximum number of rows: --limit, or `usual`. */
size_t report_row_limit(const struct report *report, size_t usual);

/* Percentage of the total. */
double report_percent(const struct report *report, double weight);

bool report_is_light(const struct report *report, double weight); /* below the percentage of rows that are shown */

int report_print_tree(const struct report *report, struct error *err);
int report_print_functions(const struct report *report, struct error *err);
int report_print_groups(const struct report *report, struct error *err);
int report_print_butterfly(const struct report *report, struct error *err);

/* ---- report_compared.c: comparisons ---- */

const struct profile_comparison *report_comparison(const struct report *report);

/* "+12.5", "-3", a dash for nothing */
void report_format_change(const struct report *report, double change, char out[QUANTITY_TEXT_MAX]);

void report_measure_compared(struct report *report);
/* `changes`: of the list of functions; NULL: of another report. */
void report_print_compared_head(const struct report *report, const struct func_changes *changes);

/* Columns of base, new and change: of self, with the change of the total at the end, or the other way round.
 * `interval`: text of one more column; NULL: none. */
void report_put_compared(const struct report *report, const struct side_figures sides[PROFILE_SIDES], bool by_self,
                         const char *interval);
void report_print_compared_columns(const struct report *report, const char *title, bool by_self, bool has_interval);

/* The same of self alone. Returns the columns that it took. */
unsigned report_put_compared_self(const struct report *report, const double self[PROFILE_SIDES]);
void report_print_compared_self_columns(const struct report *report, const char *title);

/* ---- report_changes.c: functions of a comparison ---- */

/* Destroy them also after a failure. */
int report_find_changes(struct func_changes *changes, const struct report *report, struct error *err);

/* What one must know to believe the verdicts, a sentence or two; NULL: nothing. `is_changed`: something is said to be
 * more than noise, also if none of the functions is. */
const char *report_changes_note(const struct func_changes *changes, const struct report *report, bool is_changed);

/* " (95%: ±12)" */
void report_put_interval(const struct report *report, const struct change_estimate *estimate);

/* Prints the header, too. */
int report_print_compared_functions(const struct report *report, struct error *err);

/* ---- report_compared_lines.c: source lines of a comparison ---- */

struct compared_line {
    uint32_t func, line; /* as of struct hot_line */
    double self[PROFILE_SIDES];
};

struct report_compared_lines {
    ARRAY(struct compared_line) rows; /* the largest change first; free it, also after a failure */
    double known[PROFILE_SIDES];      /* self of all lines; the rest of the side's total has no line */
};

int report_compare_lines(struct report_compared_lines *lines, const struct report *report, struct error *err);
double compared_line_change(const struct compared_line *row);
int report_print_compared_lines(const struct report *report, struct error *err);

/* A line of report->source. */
struct compared_file_line {
    uint32_t line; /* 1-based; 0: frames of the file without a line */
    struct side_figures sides[PROFILE_SIDES];
    double total, self; /* the changes */
};

struct report_compared_file {
    ARRAY(struct compared_file_line) lines; /* by line; free it, also after a failure */
    struct compared_file_line all;          /* of the whole file: each sample once */
};

int report_compare_file(struct report_compared_file *file, const struct report *report, struct error *err);
int report_print_compared_file(const struct report *report, struct error *err);

/* ---- report_json.c ---- */

int report_print_json(const struct report *report, struct error *err);
