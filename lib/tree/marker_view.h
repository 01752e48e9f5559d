/*
 * The marker views: the markers of threads, filtered by range and search, sorted or laid out. A new query repeats only
 * the steps whose input changed: threads make the list; range and search filter it.
 */
#pragma once

#include "tree/marker_chart.h"
#include "tree/marker_graph.h"
#include "tree/marker_search.h"

struct marker_query {
    const uint32_t *threads; /* threads whose markers to merge; unknown threads have no markers */
    size_t thread_count;
    struct time_range range; /* only markers that overlap this range */
    const char *search;      /* see marker_search.h */
    size_t search_length;
    unsigned places; /* bits of enum marker_place, or 0 for all markers: only markers that belong to one of these
                      * places or have no schema */
};

enum marker_column { MARKER_START, MARKER_DURATION, MARKER_NAME, MARKER_DETAILS };

struct marker_sort {
    enum marker_column column;
    bool descending;
};

struct marker_view;

/* Creates the view of a checked profile, which must outlive the view. `whole` is the full range of the profile. NULL if
 * memory ran out. */
struct marker_view *marker_view_new(const struct profile *profile, struct time_range whole, struct error *err);
void marker_view_free(struct marker_view *view);

const struct marker_context *marker_view_get_context(const struct marker_view *view);

/* Returns the markers of a thread, sorted by start. Cached. NULL if memory ran out. */
const struct marker_list *marker_view_get_thread_markers(struct marker_view *view, uint32_t thread, struct error *err);

int marker_view_set_query(struct marker_view *view, const struct marker_query *query, struct error *err);

/* Returns all markers of the query's threads. Indexes of markers refer to this list until the query's threads
 * change. */
const struct marker_list *marker_view_get_markers(const struct marker_view *view);

/* Returns the markers that match the query, sorted by start. */
const uint32_t *marker_view_get_matches(const struct marker_view *view, size_t *count);

/* Returns the query's markers sorted by the keys in order, then by start. Instants sort as shorter than any interval.
 * The result is valid until the next call. NULL if memory ran out. */
const uint32_t *marker_view_sort(struct marker_view *view, const struct marker_sort *keys, size_t key_count,
                                 struct error *err);

/* Lists the markers in a thread's track between two times, sorted by start. The rects have no rows: the category takes
 * the place of the row, and rects of one category in the same pixel are merged. The track omits kinds without a schema.
 */
int marker_view_list_track_rects(struct marker_view *view, uint32_t thread, const struct marker_window *window,
                                 unsigned places, struct marker_rects *rects, struct error *err);

/* Returns the points of a thread's graph: the markers of marker_view_get_thread_markers() with a value for graph
 * `graph` of the marker kind. The view caches them. NULL if memory ran out. */
const struct marker_points *marker_view_get_points(struct marker_view *view, uint32_t thread, uint32_t schema,
                                                   uint32_t graph, struct error *err);

/* Returns the places of a thread's markers with a schema: bits of enum marker_place. Not cached. */
unsigned marker_view_find_places(const struct marker_view *view, uint32_t thread);

/* Returns whether a thread has markers of a kind. */
bool marker_view_has_kind(const struct marker_view *view, uint32_t thread, uint32_t schema);

/* Returns the query's markers laid out in rows. The result is valid until the next query. NULL if memory ran out. */
const struct marker_chart *marker_view_lay_out(struct marker_view *view, struct error *err);
