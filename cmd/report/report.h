/*
 * A report of a profile: its options, the selected data, and the widths of its columns. `prof report`, `diff`, `check`
 * and `export` share it. report_command.c runs the command: report_options.c parses the command line, report_select.c
 * selects threads, range and samples and queries the engine, report_transforms.c resolves names. Each kind of report
 * has a file of its own, which prints it.
 */
#pragma once

#include "cmd/report/comparing.h"
#include "cmd/report/selection.h"
#include "cmd/common/symbol_options.h"

#include "base/arena.h"
#include "tree/changes.h"
#include "tree/engine.h"
#include "tree/line_costs.h"
#include "tree/path_parts.h"
#include "tree/quantity.h"
#include "tree/wait_groups.h"
#include "tree/func_groups.h"
#include "tree/weight_list.h"

struct report_transform {
    enum transform_kind kind;
    const char *option; /* the option's name */
    const char *text;   /* its argument */
};

/* The kinds of reports. */
enum report_kind {
    REPORT_TREE,
    REPORT_FUNCTIONS,
    REPORT_LIBRARIES,
    REPORT_CATEGORIES,
    REPORT_GROUPS,
    REPORT_BUTTERFLY,
    REPORT_LINES,
    REPORT_HOT_LINES,
    REPORT_ANNOTATION,
    REPORT_MARKERS,
    REPORT_INTERVALS,
    REPORT_THREADS,
    REPORT_PROCESSES,
    REPORT_WAITS,
    REPORT_COUNTERS,
    REPORT_CRITICAL_PATH,
    REPORT_SUMMARY,
    REPORT_KINDS
};

enum report_color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

enum report_color { COLOR_NORMAL, COLOR_BOLD, COLOR_DIM, COLOR_HOT, COLOR_WARM, COLOR_WARNING };

struct exporter;

struct report_options {
    const struct option_table *table; /* of the command */
    const char *output;               /* for prof export: output file, or NULL (standard output) */
    const struct exporter *exporter;  /* of export */
    unsigned sanitized;               /* for prof export: bit set of enum sanitize_part */
    ARRAY(const char *) keep_names;   /* of export: libraries */
    bool is_dry_run;                  /* for prof export: print the removed data, and write no file */
    const char *view;                 /* for prof export: the initial view of an HTML page, or NULL (the first view) */
    const char *path;
    bool inverted, json, verbose, no_pager;
    enum report_color_when color;
    enum report_kind kind;
    const char *subject; /* argument of the butterfly, lines, annotation, waits or groups */
    const char *weight;  /* id of the weight, or NULL (the first weight of the profile) */
    const char *search;
    const char *marker;          /* marker of the critical path, by name; NULL: none */
    struct option_texts threads; /* arguments of --thread */
    ARRAY(struct report_transform) transforms;
    double from, to;    /* seconds after the start, or NAN for none */
    uint32_t depth;     /* levels of the tree, or 0 (the default of the output format) */
    double min_percent; /* NAN: the default of the output format */
    size_t limit;       /* rows, or 0 for no limit, or SIZE_MAX (the default of the output format) */
    struct symbol_options symbols;
    bool is_comparison;         /* diff and check */
    struct comparing compared;  /* of diff and check */
    struct option_texts limits; /* for prof check: --fail-if */
    const char *junit;          /* of check: the file */
    bool markdown;              /* of check, and of report --summary */
    bool strict;                /* of check */
    bool is_tree;               /* for prof diff: --tree was given */
    enum func_order order;      /* of diff */
    bool is_live;               /* for prof top, only functions with self time, and no hints at options */
};

struct report {
    struct report_options options;
    struct engine *engine;
    const struct profile *profile;
    struct thread_list threads; /* indexes of the selected threads in the profile */
    struct time_range range;    /* ms */
    ARRAY(struct transform) transforms;
    struct arena paths;                /* memory of the paths in transforms */
    struct tree_rows callers;          /* of --node: the row and its callers, root first */
    uint64_t callers_id;               /* of --node: the id of the caller */
    struct butterfly_focus focus;      /* focus of REPORT_BUTTERFLY, or the function of REPORT_ANNOTATION */
    const struct debug_search *search; /* for REPORT_ANNOTATION */
    uint32_t source;                   /* for REPORT_LINES */
    enum wait_grouping wait_grouping;  /* for REPORT_WAITS */
    bool has_object;                   /* for REPORT_WAITS: prints only the waits for `object`, a func */
    uint32_t object;
    struct critical_path path;    /* for REPORT_CRITICAL_PATH */
    struct path_parts path_parts; /* for REPORT_CRITICAL_PATH */
    struct func_groups groups;    /* for REPORT_GROUPS */
    struct func_inlining inlining;
    struct weight weight;
    double total;                      /* weight that is 100% */
    double side_totals[PROFILE_SIDES]; /* of a comparison */
    unsigned width;                    /* columns per line, or 0 if unlimited */
    bool utf8;                         /* the locale is UTF-8 */
    bool color;
    /* Widths of the columns of total and self weight, and of all columns with their separators. */
    unsigned total_columns, self_columns, figures_columns;
};
