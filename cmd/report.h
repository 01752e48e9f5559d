/*
 * What the parts of `prof report` share: report.c reads the options and prints the head, report_tree.c prints trees and
 * lists, report_json.c prints everything as JSON, report_text.c fits profile text into a terminal, report_transforms.c
 * finds out what transforms are about, report_lines.c prints the lines of a source file, report_annotate.c the machine
 * code of a function, report_source.c has the text of both, report_markers.c prints markers.
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
    REPORT_KINDS
};

struct report_options {
    const char *path;
    bool inverted, json;
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
    double total;   /* 100 % */
    unsigned width; /* columns to fit lines into; 0: any length */
    bool utf8;      /* the locale can show UTF-8 */
};

/* ---- report.c ---- */

/* What the options and the transforms so far ask for. */
struct tree_query report_query(const struct report *report);

/* ---- report_transforms.c ---- */

/* What the options are called. */
extern const char *const report_transform_names[TRANSFORM_KINDS];

/* Fills in report->transforms. Returns an exit status, after a message if it is not 0. */
int report_resolve_transforms(struct report *report);

/* The same for report->center, in the tree that the transforms leave: a function; for a butterfly also a library or a
 * category. */
int report_resolve_center(struct report *report);

/* ---- report_text.c ---- */

/* Finds out width and utf8. */
void report_look_at_terminal(struct report *report);

/* Prints text of a profile on one line: what is not visible (base/utf8.h) becomes '?', and so does all but ASCII where
 * the locale is not UTF-8. At most `columns` wide (0: any), cut with an ellipsis. Returns the columns used. */
unsigned report_put_text(const struct report *report, const char *text, unsigned columns);

/* The same for the name of a func and, in brackets and if it is known, its library or file. */
void report_put_func(const struct report *report, uint32_t func, unsigned columns);

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

/* The columns of figures, with two blanks after them. */
enum { REPORT_FIGURES_COLUMNS = 34 };

void report_put_figures(const struct report *report, double total, double self);
void report_print_columns(const struct report *report, const char *what); /* their titles, and that of what follows */

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
