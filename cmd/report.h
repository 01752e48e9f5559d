/*
 * What the parts of `prof report` share. report.c runs the command: report_options.c reads the command line,
 * report_select.c asks the engine for the threads, the range and the samples that it names, report_transforms.c finds
 * the functions that transforms are about. Then one of these prints: report_tree.c trees and lists, report_lines.c the
 * lines of a source file, report_annotate.c the machine code of a function (report_source.c has the text of both),
 * report_markers.c markers, report_json.c all of it as JSON. report_head.c and report_threads.c print what stands
 * above, report_text.c and report_name.c fit text of a profile into a terminal, pager.c starts the pager.
 */
#ifndef PROF_CMD_REPORT_H
#define PROF_CMD_REPORT_H

#include "symbol_options.h"

#include "base/arena.h"
#include "tree/engine.h"
#include "tree/line_costs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report_transform {
    enum transform_kind kind;
    const char *option; /* what it was given as */
    const char *text;   /* of what, as it was given */
};

/* What is printed. */
enum report_what {
    REPORT_TREE,
    REPORT_FUNCTIONS,
    REPORT_LIBRARIES,
    REPORT_CATEGORIES,
    REPORT_BUTTERFLY,
    REPORT_LINES,
    REPORT_ANNOTATION,
    REPORT_MARKERS,
    REPORT_THREADS,
    REPORT_KINDS
};

enum report_color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

enum report_color { COLOR_NORMAL, COLOR_BOLD, COLOR_DIM, COLOR_HOT, COLOR_WARM, COLOR_WARNING };

struct report_options {
    const char *path;
    bool inverted, json, verbose, no_pager;
    enum report_color_when color;
    enum report_what what;
    const char *of; /* what the butterfly, the lines or the code are of, as it was given */
    enum sample_weight weight;
    const char *search;
    ARRAY(const char *) threads; /* as they were given */
    ARRAY(struct report_transform) transforms;
    double from, to;    /* seconds after the start; NAN: not given */
    uint32_t depth;     /* levels of the tree; 0: the default of the output format */
    double min_percent; /* NAN: the default of the output format */
    size_t limit;       /* rows; 0: no limit; SIZE_MAX: the default of the output format */
    struct symbol_options symbols;
    bool has_symbols; /* where debug files are was named */
};

struct report {
    struct report_options options;
    struct engine *engine;
    const struct profile *profile;
    ARRAY(uint32_t) threads; /* indexes of those looked at */
    struct time_range range; /* ms */
    ARRAY(struct transform) transforms;
    struct arena paths;                /* of the transforms */
    struct butterfly_center center;    /* of REPORT_BUTTERFLY; a function: of REPORT_ANNOTATION */
    const struct debug_search *search; /* for REPORT_ANNOTATION */
    uint32_t source;                   /* of REPORT_LINES */
    enum weight_type weight_type;
    double total;   /* 100% */
    unsigned width; /* columns to fit lines into; 0: any length */
    bool utf8;      /* the locale can show UTF-8 */
    bool color;
    /* Columns of figures: of the total and of the self weight, and of all of them with what separates them. */
    unsigned total_columns, self_columns, figures_columns;
};

/* ---- report_options.c ---- */

/* Reads the command line. Returns 0, the exit status after a message, or -1 after the help was printed. */
int report_parse_options(int argc, char **argv, struct report_options *options);

/* ---- report_select.c ---- */

/* Fills in threads, range and weight_type. Returns an exit status, after a message if it is not 0. */
int report_select(struct report *report);

/* What the options and the transforms so far ask for. */
struct tree_query report_query(const struct report *report);

/* Asks the engine for that. The total is then known. */
int report_ask_engine(struct report *report, struct error *err);

/* Whether an option leaves samples out. */
bool report_is_filtered(const struct report *report);

/* ---- report_head.c ---- */

/* One line about the profile, then what casts doubt on it and what the options leave out; with --verbose all about it.
 */
int report_print_head(const struct report *report, struct error *err);

/* ---- report_threads.c ---- */

/* Milliseconds of CPU time of the threads in the range, whatever is searched or transformed; 0 if the profile does not
 * say. */
double report_cpu_time(const struct report *report, uint32_t thread);

/* The threads that cost most, those of one name as one row. Nothing is printed for a single thread. */
int report_print_busy_threads(const struct report *report, struct error *err);

/* All processes and their threads. */
int report_print_threads(const struct report *report, struct error *err);

/* "1.234 s" or "12.3 ms" */
void report_format_time(double ms, char *out, size_t size);

/* ---- report_transforms.c ---- */

/* What the options are called. */
extern const char *const report_transform_names[TRANSFORM_KINDS];

/* Fills in report->transforms. Returns an exit status, after a message if it is not 0. */
int report_resolve_transforms(struct report *report);

/* The same for report->center, in the tree that the transforms leave: a function; for a butterfly also a library or a
 * category. */
int report_resolve_center(struct report *report);

/* ---- report_text.c ---- */

/* Finds out width, utf8 and color. */
void report_look_at_terminal(struct report *report);

void report_color(const struct report *report, enum report_color color);

/* The columns that a line has after `used` ones, at least 8; 0: any number. */
unsigned report_columns_left(const struct report *report, unsigned used);

/* The columns of a text as these functions print it. */
unsigned report_text_columns(const struct report *report, const char *text);

/* Prints text of a profile on one line, made safe: each character that is not visible (base/utf8.h) is printed as '?',
 * and so is all but ASCII where the locale is not UTF-8. At most `columns` wide (0: any); an ellipsis stands for the
 * end. Returns the columns used. */
unsigned report_put_text(const struct report *report, const char *text, unsigned columns);

/* The same, with the ellipsis in the middle. */
unsigned report_put_middle(const struct report *report, const char *text, unsigned columns);

/* At the right edge of so many columns. */
void report_put_right(const struct report *report, const char *text, unsigned columns);

/* Prints a sentence and a newline. `used` columns of the first line are full; other lines begin after `indent`. */
void report_put_wrapped(const struct report *report, const char *text, unsigned indent, unsigned used);

/* The name of a func, `after` it, and in brackets its library or file if it is known. */
void report_put_func(const struct report *report, uint32_t func, const char *after, unsigned columns);

/* The name of a function, shortened by its arguments first (report_name.c). Returns the columns used. */
unsigned report_put_name(const struct report *report, const char *name, unsigned columns);

/* "1,234", "1,234.5 ms" or "12.3 MiB", as the profile's weights are; an empty one is "-" or a dash. */
void report_format_weight(const struct report *report, double weight, char *out, size_t size);

/* "1,234" */
void report_format_count(double count, char *out, size_t size);

/* "samples", "ms" or "bytes" */
const char *report_unit(const struct report *report);

/* The name of the butterfly's center. */
const char *report_center_name(const struct report *report);

/* What libraries or categories cost, as options.what says. */
int report_list_groups(const struct report *report, struct func_timings *groups, struct error *err);

/* The name of one of them. */
const char *report_group_name(const struct report *report, uint32_t index);

/* The library of a func, else its source file, else NULL. */
const char *report_origin(const struct profile *profile, uint32_t func);

/* ---- report_lines.c ---- */

/* Finds the source file that is asked for, if one is. Returns an exit status, after a message if it is not 0. */
int report_resolve_source(struct report *report);

/* The costs of its lines. Zero `costs` before; destroy it also after an error. */
int report_line_costs(const struct report *report, struct line_costs *costs, struct error *err);

int report_print_lines(const struct report *report, struct error *err);

/* ---- report_source.c ---- */

struct source_text {
    char *bytes; /* NULL: there is no text */
    ARRAY(const char *) lines;
};

/* The text that the profile has of the file, else what the file of that name has; none is no failure. Destroy it. */
void source_text_read(struct source_text *text, const struct report *report, const char *file);
const char *source_text_line(const struct source_text *text, uint32_t line); /* from 1 on; NULL: it is not there */
void source_text_destroy(struct source_text *text);

/* ---- report_annotate.c ---- */

struct json_writer;

int report_print_annotation(const struct report *report, struct error *err);

/* The members "annotated" and "symbols" of the report as JSON. */
int report_put_annotation(struct json_writer *json, const struct report *report, struct error *err);

/* ---- report_markers.c ---- */

int report_print_markers(const struct report *report, struct error *err);

/* The member "markers" of the report as JSON. */
int report_put_markers(struct json_writer *json, const struct report *report, struct error *err);

/* ---- report_tree.c: trees and lists are rows and then what was left out ---- */

/* Finds out how wide the columns of figures are. */
void report_measure_figures(struct report *report);

void report_put_figures(const struct report *report, double total, double self);
void report_print_columns(const struct report *report, const char *what); /* their titles, and that of what follows */

/* What was left out, for the last line. */
struct omissions {
    size_t light; /* below the least percentage */
    size_t deep;  /* whose children lie too deep */
    size_t limit; /* the limit of rows, if there are more; else 0 */
};

/* "Hidden: 12 functions below 0.5% (--min-percent 0), rows after the first 60 (--limit 0)"; nothing if there are none.
 * `what`: the singular of what is too light. */
void report_print_omissions(const struct report *report, const struct omissions *omissions, const char *what);

/* The rows that --limit allows. */
size_t report_row_limit(const struct report *report, size_t usual);

/* Of the total. */
double report_percent(const struct report *report, double weight);

/* Below that percentage rows are left out. */
double report_least_percent(const struct report *report);
bool report_is_light(const struct report *report, double weight); /* so this one is */

int report_print_tree(const struct report *report, struct error *err);
int report_print_functions(const struct report *report, struct error *err);
int report_print_groups(const struct report *report, struct error *err);
int report_print_butterfly(const struct report *report, struct error *err);

/* ---- report_json.c ---- */

int report_print_json(const struct report *report, struct error *err);

#endif
