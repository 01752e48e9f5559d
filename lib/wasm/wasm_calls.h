/*
 * The exports of the WebAssembly build: the calls of the page's engine (web/src/engine), by theme. The definition of
 * each call documents its arguments and its answer. wasm_session.h documents the input and the answers.
 */
#pragma once

#include "base/standard.h"

#ifdef __wasm__
#define EXPORT(name) __attribute__((export_name(#name))) name
#else
#define EXPORT(name) name
#endif

struct session;
struct view;

/* wasm_load.c */
struct session *EXPORT(session_new)(uint32_t seed_low, uint32_t seed_high);
unsigned char *EXPORT(session_input)(struct session *session, uint32_t size);
const char *EXPORT(session_error)(const struct session *session);
int EXPORT(session_feed)(struct session *session, uint32_t size);
int EXPORT(session_begin)(struct session *session);
int EXPORT(session_finish)(struct session *session);
void EXPORT(session_defer)(struct session *session, uint32_t least);
const struct view *EXPORT(session_deferred)(struct session *session);
unsigned char *EXPORT(session_deferred_elements)(struct session *session, uint32_t run);
const struct view *EXPORT(session_numbers)(struct session *session, uint32_t type, uint32_t size);
const struct view *EXPORT(session_string)(struct session *session, uint32_t string);

/* wasm_compare.c */
int EXPORT(session_finish_side)(struct session *session, uint32_t side);
int EXPORT(session_keep_threads)(struct session *session, uint32_t side, uint32_t size);
int EXPORT(session_compare)(struct session *session, uint32_t size, double base_from, double base_to, double new_from,
                            double new_to, int forgives);
const struct view *EXPORT(session_scale)(struct session *session, int by, uint32_t size);
const struct view *EXPORT(session_changes)(struct session *session, uint32_t query, int by_total);

/* wasm_info.c */
const struct view *EXPORT(session_info)(struct session *session);
const struct view *EXPORT(session_set_notes)(struct session *session, uint32_t length);
double EXPORT(session_unnamed_share)(const struct session *session);

/* wasm_query.c */
int EXPORT(session_query)(struct session *session);
void EXPORT(session_release)(struct session *session, uint32_t query);
int EXPORT(session_used_closed)(struct session *session);

/* wasm_tree.c */
const struct view *EXPORT(session_summary)(struct session *session, uint32_t query);
const struct view *EXPORT(session_rewrite_path)(struct session *session, uint32_t query, uint32_t transform_words,
                                                uint32_t length);
int EXPORT(session_recursion)(struct session *session, uint32_t query, uint32_t func);
const struct view *EXPORT(session_children)(struct session *session, uint32_t query, uint32_t node);
const struct view *EXPORT(session_descendants)(struct session *session, uint32_t query, uint32_t node, uint32_t limit);
const struct view *EXPORT(session_row)(struct session *session, uint32_t query, uint32_t node);
const struct view *EXPORT(session_path)(struct session *session, uint32_t query, uint32_t node);
const struct view *EXPORT(session_heaviest_path)(struct session *session, uint32_t query, uint32_t depth, double share);
uint32_t EXPORT(session_find)(struct session *session, uint32_t query, uint32_t length, int nearest);
const struct view *EXPORT(session_functions)(struct session *session, uint32_t query, int by_total);
const struct view *EXPORT(session_func)(struct session *session, uint32_t func);
int EXPORT(session_details)(struct session *session, uint32_t query, uint32_t node);
int EXPORT(session_function_details)(struct session *session, uint32_t query, uint32_t func);
double EXPORT(session_truncated)(const struct session *session);
const struct view *EXPORT(session_categories)(struct session *session, int self);
const struct view *EXPORT(session_lines)(struct session *session);
int EXPORT(session_inlining)(const struct session *session);
int EXPORT(session_func_inlining)(struct session *session, uint32_t func);
uint32_t EXPORT(session_inlined_into)(const struct session *session);

/* wasm_find.c */
const struct view *EXPORT(session_find_names)(struct session *session, uint32_t query, uint32_t length, uint32_t limit);
const struct view *EXPORT(session_find_texts)(struct session *session, uint32_t typed, uint32_t length);
const struct view *EXPORT(session_search_terms)(struct session *session, uint32_t length);

/* wasm_butterfly.c */
const struct view *EXPORT(session_groups)(struct session *session, uint32_t query, int by);
const struct view *EXPORT(session_func_groups)(struct session *session, uint32_t query, int by);
const struct view *EXPORT(session_functions_weighed)(struct session *session, uint32_t query, int weight);
int EXPORT(session_butterfly)(struct session *session, uint32_t query, int kind, uint32_t index);
const struct view *EXPORT(session_butterfly_weights)(struct session *session, uint32_t id);
const struct view *EXPORT(session_butterfly_children)(struct session *session, uint32_t id, int side, uint32_t node);
const struct view *EXPORT(session_butterfly_descendants)(struct session *session, uint32_t id, int side, uint32_t node,
                                                         uint32_t limit);

/* wasm_waits.c */
const struct view *EXPORT(session_wait_groups)(struct session *session, uint32_t query, int by);
const struct view *EXPORT(session_compared_waits)(struct session *session, uint32_t query, int by);
const struct view *EXPORT(session_object_waits)(struct session *session, uint32_t query, uint32_t object);
const struct view *EXPORT(session_findings)(struct session *session, uint32_t query);

/* wasm_critical_path.c */
const struct view *EXPORT(session_critical_path)(struct session *session, uint32_t thread, double from, double to);
const struct view *EXPORT(session_slowest_paths)(struct session *session, uint32_t query);

/* wasm_timeline.c */
const struct view *EXPORT(session_activity)(struct session *session, uint32_t drawn_count, double from, double to,
                                            uint32_t width);
const struct view *EXPORT(session_activity_matching)(struct session *session);
const struct view *EXPORT(session_thread_times)(struct session *session, double from, double to);
const struct view *EXPORT(session_state_lanes)(struct session *session, uint32_t thread_count, uint32_t lane_count,
                                               double from, double to, uint32_t width);
const struct view *EXPORT(session_cpu_lanes)(struct session *session, uint32_t cpu_count, double from, double to,
                                             uint32_t width);
const struct view *EXPORT(session_cpu_at)(struct session *session, uint32_t cpu, double time);
const struct view *EXPORT(session_state_sums)(struct session *session, uint32_t thread_count, double from, double to);
double EXPORT(session_longest_wait)(const struct session *session, uint32_t thread, uint32_t state, double from,
                                    double to);
const struct view *EXPORT(session_sample_at)(struct session *session, uint32_t thread, double time,
                                             uint32_t thread_count, uint32_t transform_words);

/* wasm_source.c */
uint32_t EXPORT(session_func_source)(const struct session *session, uint32_t func);
const struct view *EXPORT(session_source)(struct session *session, uint32_t source);
const struct view *EXPORT(session_source_places)(struct session *session, uint32_t source);
const struct view *EXPORT(session_library)(struct session *session, uint32_t lib);
const struct view *EXPORT(session_symbol)(struct session *session, uint32_t symbol);
const struct view *EXPORT(session_address_lines)(struct session *session, uint32_t symbol);
const struct view *EXPORT(session_line_costs)(struct session *session, uint32_t query, uint32_t source, uint32_t func,
                                              int kind, uint32_t length, int side);
const struct view *EXPORT(session_inlined_costs)(struct session *session);
const struct view *EXPORT(session_hot_lines)(struct session *session, uint32_t query, uint32_t limit);
const struct view *EXPORT(session_address_costs)(struct session *session, uint32_t query, uint32_t symbol, int kind,
                                                 uint32_t length, uint32_t start_count);
const struct view *EXPORT(session_symbol_costs)(struct session *session, uint32_t query, uint32_t func, int kind,
                                                uint32_t length);

/* wasm_charts.c */
const struct view *EXPORT(session_flame_find)(struct session *session, uint32_t query, uint32_t length);
const struct view *EXPORT(session_flame)(struct session *session, uint32_t query, double from, double to, double least);
const struct view *EXPORT(session_stack_chart)(struct session *session, uint32_t query, uint32_t thread, double from,
                                               double to, uint32_t columns, int same_widths);
const struct view *EXPORT(session_totals_over_time)(struct session *session, uint32_t query, uint32_t thread,
                                                    double from, double to, uint32_t count);

/* wasm_export.c */
const struct view *EXPORT(session_export)(struct session *session);
const struct view *EXPORT(session_export_preview)(struct session *session);
const struct view *EXPORT(session_html_page)(struct session *session, uint32_t view_length, uint32_t template_length,
                                             uint32_t gzip_length, int has_sources);

/* wasm_processes.c */
const struct view *EXPORT(session_processes)(struct session *session, double from, double to);

/* wasm_markers.c */
int EXPORT(session_marker_query)(struct session *session, uint32_t thread_count, double from, double to,
                                 uint32_t search_length, uint32_t places);
const struct view *EXPORT(session_marker_sorted)(struct session *session, uint32_t key_count);
const struct view *EXPORT(session_intervals)(struct session *session);
const struct view *EXPORT(session_marker_texts)(struct session *session, uint32_t count, int label);
const struct view *EXPORT(session_marker_details)(struct session *session, uint32_t thread, uint32_t index);
const struct view *EXPORT(session_marker_chart)(struct session *session);
const struct view *EXPORT(session_marker_rects)(struct session *session, double from, double to, double pixel,
                                                uint32_t first_row, uint32_t last_row);
const struct view *EXPORT(session_marker_strip)(struct session *session, uint32_t thread, double from, double to,
                                                double pixel, uint32_t places);
const struct view *EXPORT(session_marker_graph)(struct session *session, uint32_t thread, uint32_t schema,
                                                uint32_t graph, double from, double to, uint32_t width);
const struct view *EXPORT(session_waits)(struct session *session, uint32_t thread, double from, double to,
                                         double pixel);
const struct view *EXPORT(session_counter_graph)(struct session *session, uint32_t index, double from, double to,
                                                 uint32_t width);
const struct view *EXPORT(session_counter_at)(struct session *session, uint32_t index, double time);
const struct view *EXPORT(session_counter_totals)(struct session *session, uint32_t index, double from, double to);
