/*
 * The export formats: one table, and one file of this directory for each. `prof export` and the save menu of the page
 * use the table. A writer gets an engine with its query, so that threads, range, transforms, search and weight are
 * those of the report and the page; it streams to a byte sink and knows no files.
 */
#pragma once

#include "base/sink.h"
#include "export/export_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exporter {
    const char *name;    /* as --format has it */
    const char *endings; /* of files, the usual one first, with blanks between */
    const char *what;    /* for users: the format and the tools that read it */
    bool is_binary;      /* nothing for a terminal */
    bool is_compressed;  /* the output is compressed with gzip */
    bool is_page;        /* the compressed output goes into a page: html_page.h */
    int (*write)(const struct export_view *view, const struct byte_sink *sink, struct error *err);
};

extern const struct exporter exporters[];
extern const size_t exporter_count;

/* The format of this name, or NULL. */
const struct exporter *exporter_find(const char *name);

/* The format whose ending a file name has, with or without ".gz" after it; NULL if none has. */
const struct exporter *exporter_of_file(const char *path);

/* Writes a query in a format. A sanitized query becomes a profile of its own, which the same writer exports. */
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

/* The scale for formats with integers: ms become ns, other units stay. */
double export_weight_scale(const struct weight *weight);

/* The weights of a format that holds several: all of the profile, or the requested one. The caller frees the list. */
int export_weights(const struct export_view *view, struct weight_list *weights, struct error *err);

/* The name and unit of a weight outside prof: "cpu" in "nanoseconds", "samples" in "count". */
const char *export_weight_name(const struct weight *weight);
const char *export_weight_unit(const struct weight *weight);

/* Rounds to an integer, and carries the error on, so the sum of all results is the rounded sum of the values.
 * `carry` begins with 0. */
int64_t export_round(double value, double *carry);
