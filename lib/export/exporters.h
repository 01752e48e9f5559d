/*
 * The export formats: one table, and one file of this directory for each. `prof export` and the save menu of the page
 * use the table. A writer gets an engine with its query, so the file has the threads, range, transforms, search and
 * weight of the report and the page; writers stream to a byte sink, not to files.
 */
#pragma once

#include "base/sink.h"
#include "export/export_view.h"

struct exporter {
    const char *name;    /* name of the format for --format */
    const char *endings; /* file name endings, the usual ending first, separated by blanks */
    const char *what;    /* description for users: the format and its readers */
    bool is_binary;      /* true for output that is not for a terminal */
    bool is_compressed;  /* output is compressed with gzip */
    bool is_page;        /* compressed output is embedded in a page: html_page.h */
    int (*write)(const struct export_view *view, const struct byte_sink *sink, struct error *err);
};

extern const struct exporter exporters[];
extern const size_t exporter_count;

/* Returns the format of this name, or NULL. */
const struct exporter *exporter_find(const char *name);

/* Returns the format for a file name, by its ending, with or without ".gz", or NULL for none. */
const struct exporter *exporter_find_by_file(const char *path);

/* Writes the samples of a query to a file of this format. For a sanitized query, the writer exports a sanitized copy of
 * the profile. */
int exporter_write(const struct exporter *exporter, const struct export_view *view, const struct byte_sink *sink,
                   struct error *err);

/* ---- the writers ---- */

int export_pprof(const struct export_view *view, const struct byte_sink *sink, struct error *err);
int export_collapsed(const struct export_view *view, const struct byte_sink *sink, struct error *err);
int export_speedscope(const struct export_view *view, const struct byte_sink *sink, struct error *err);
int export_otlp(const struct export_view *view, const struct byte_sink *sink, struct error *err);
int export_perf_script(const struct export_view *view, const struct byte_sink *sink, struct error *err);
int export_chrome_trace(const struct export_view *view, const struct byte_sink *sink, struct error *err);
int export_jslb(const struct export_view *view, const struct byte_sink *sink, struct error *err);
int export_svg(const struct export_view *view, const struct byte_sink *sink, struct error *err);
int export_csv(const struct export_view *view, const struct byte_sink *sink, struct error *err);

/* ---- for writers ---- */

/* Returns the factor for formats with integers: ms become ns, other units stay. */
double export_get_weight_scale(const struct weight *weight);

/* Lists the weights for a format with several weights: all weights of the profile, or the requested weight. The caller
 * frees the list. */
int export_list_weights(const struct export_view *view, struct weight_list *weights, struct error *err);

/* Returns the name and unit of a weight in other formats: "cpu" in "nanoseconds", "samples" in "count". */
const char *export_get_weight_name(const struct weight *weight);
const char *export_get_weight_unit(const struct weight *weight);

/* Rounds to an integer, and adds the error to the next value, so the sum of all results is the rounded sum of the
 * values. `carry` starts as 0. */
int64_t export_round_with_carry(double value, double *carry);
