/*
 * The input of an exporter: an engine with its query, and the user's options.
 */
#pragma once

#include "export/sanitize_options.h"
#include "tree/engine.h"
#include "tree/wait_groups.h"
#include "tree/weight_list.h"

/* Tables that are written as comma-separated values. */
enum export_table {
    EXPORT_CALL_TREE,
    EXPORT_FUNCTIONS,
    EXPORT_LIBRARIES,
    EXPORT_CATEGORIES,
    EXPORT_HOT_LINES,
    EXPORT_MARKERS,
    EXPORT_THREADS,
    EXPORT_COUNTERS,
    EXPORT_WAITS,
    EXPORT_TABLES
};

struct export_view {
    struct engine *engine;   /* with its query */
    const uint32_t *threads; /* of the query, each once */
    size_t thread_count;
    struct time_range range; /* range of the query, ms; finite */
    bool is_whole;           /* no thread, range, transform or search excludes samples */
    bool is_inverted;
    struct weight weight;                    /* of the query */
    bool has_one_weight;                     /* formats with several weights contain only the query's weight */
    const char *search;                      /* marker search of the query, NUL-terminated; "" for none */
    enum export_table table;                 /* table of csv */
    enum wait_grouping wait_grouping;        /* grouping of the waits in csv */
    const struct sanitize_options *sanitize; /* if NULL, do not sanitize */
};
