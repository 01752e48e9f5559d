/*
 * Prints the layouts of the structs that the engine's calls return, and the values of enums, for the TypeScript of
 * web/src/engine. clang compiles this file for wasm, like the engine, so sizes and alignments are those of the engine.
 * web/layout.mjs runs it and writes web/src/engine/layout.ts. The compiler reports a value of an enum that is missing
 * here.
 */
#include "tree/frame_kinds.h"
#include "wasm/wasm_session.h"

#include <stddef.h>

struct entry {
    enum { STRUCT, NUMBER, INDEX, ENUM, VALUE } kind;
    const char *name, *type; /* type: that of a number */
    uint32_t value;          /* size, offset, value */
};

#define TYPE_OF(type, field)                                                                                           \
    _Generic(((struct type *)0)->field, double                                                                         \
             : "f64", int64_t                                                                                          \
             : "i64", uint32_t                                                                                         \
             : "u32", int32_t                                                                                          \
             : "i32", uint8_t                                                                                          \
             : "u8")

#define STRUCT_OF(type)                                                                                                \
    {                                                                                                                  \
        STRUCT, #type, "", sizeof(struct type)                                                                         \
    }
#define NUMBER(type, field)                                                                                            \
    {                                                                                                                  \
        NUMBER, #field, TYPE_OF(type, field), offsetof(struct type, field)                                             \
    }
/* The TypeScript has -1 for PROFILE_NONE and similar values. */
#define INDEX(type, field)                                                                                             \
    {                                                                                                                  \
        INDEX, #field, _Generic(((struct type *)0)->field, uint32_t : "i32"), offsetof(struct type, field)             \
    }
/* A figure of one side of a comparison. */
#define SIDE_NUMBER(type, field, side, name)                                                                           \
    {                                                                                                                  \
        NUMBER, name, "f64", offsetof(struct type, sides[side].field)                                                  \
    }
/* For columns that the TypeScript reads without a struct. */
#define PLACE(type, field)                                                                                             \
    {                                                                                                                  \
        NUMBER, #field, "u32", offsetof(struct type, field)                                                            \
    }

/* ---- enums: the name of a value in TypeScript, and the value ---- */

#define TRANSFORM_KIND(VALUE)                                                                                          \
    VALUE("merge-function", TRANSFORM_MERGE_FUNCTION)                                                                  \
    VALUE("merge-call-node", TRANSFORM_MERGE_CALL_NODE)                                                                \
    VALUE("focus-function", TRANSFORM_FOCUS_FUNCTION)                                                                  \
    VALUE("focus-subtree", TRANSFORM_FOCUS_SUBTREE)                                                                    \
    VALUE("focus-self", TRANSFORM_FOCUS_SELF)                                                                          \
    VALUE("focus-category", TRANSFORM_FOCUS_CATEGORY)                                                                  \
    VALUE("drop-function", TRANSFORM_DROP_FUNCTION)                                                                    \
    VALUE("drop-category", TRANSFORM_DROP_CATEGORY)                                                                    \
    VALUE("collapse-resource", TRANSFORM_COLLAPSE_RESOURCE)                                                            \
    VALUE("collapse-direct-recursion", TRANSFORM_COLLAPSE_DIRECT_RECURSION)                                            \
    VALUE("collapse-recursion", TRANSFORM_COLLAPSE_RECURSION)                                                          \
    VALUE("collapse-function-subtree", TRANSFORM_COLLAPSE_FUNCTION)                                                    \
    VALUE("merge-category", TRANSFORM_MERGE_CATEGORY)                                                                  \
    VALUE("focus-resource", TRANSFORM_FOCUS_RESOURCE)                                                                  \
    VALUE("drop-resource", TRANSFORM_DROP_RESOURCE)                                                                    \
    VALUE("merge-resource", TRANSFORM_MERGE_RESOURCE)                                                                  \
    VALUE("focus-frames", TRANSFORM_FOCUS_FRAMES)                                                                      \
    VALUE("merge-matching", TRANSFORM_MERGE_MATCHING)                                                                  \
    VALUE("filter-samples", TRANSFORM_FILTER_MARKERS)
#define FRAME_KIND(VALUE)                                                                                              \
    VALUE("other", FRAME_OTHER)                                                                                        \
    VALUE("native", FRAME_NATIVE)                                                                                      \
    VALUE("kernel", FRAME_KERNEL)                                                                                      \
    VALUE("jit", FRAME_JIT)                                                                                            \
    VALUE("js", FRAME_JS)
#define BUTTERFLY_KIND(VALUE)                                                                                          \
    VALUE("function", BUTTERFLY_FUNCTION)                                                                              \
    VALUE("library", BUTTERFLY_LIBRARY)                                                                                \
    VALUE("category", BUTTERFLY_CATEGORY)
#define BUTTERFLY_SIDE(VALUE) VALUE("callers", BUTTERFLY_CALLERS) VALUE("callees", BUTTERFLY_CALLEES)
#define GROUP_KIND(VALUE)                                                                                              \
    VALUE("library", GROUP_LIBRARY) VALUE("category", GROUP_CATEGORY) VALUE("thread", GROUP_THREAD)
#define WAIT_GROUPING(VALUE)                                                                                           \
    VALUE("reason", WAITS_BY_REASON)                                                                                   \
    VALUE("object", WAITS_BY_OBJECT)                                                                                   \
    VALUE("stack", WAITS_BY_STACK)                                                                                     \
    VALUE("thread", WAITS_BY_THREAD)                                                                                   \
    VALUE("waker", WAITS_BY_WAKER)                                                                                     \
    VALUE("object-waker", WAITS_BY_OBJECT_AND_WAKER)
#define SELECTION_KIND(VALUE)                                                                                          \
    VALUE("all", SELECT_ALL)                                                                                           \
    VALUE("path", SELECT_PATH)                                                                                         \
    VALUE("inverted-path", SELECT_INVERTED_PATH)                                                                       \
    VALUE("function", SELECT_FUNC)
#define INLINING(VALUE) VALUE("no", INLINED_NEVER) VALUE("some", INLINED_SOMETIMES) VALUE("yes", INLINED_ALWAYS)
#define RECURSION(VALUE)                                                                                               \
    VALUE("none", RECURSION_NONE) VALUE("indirect", RECURSION_INDIRECT) VALUE("direct", RECURSION_DIRECT)
#define COMPARED(VALUE) VALUE("change", COMPARED_CHANGE) VALUE("base", COMPARED_BASE) VALUE("new", COMPARED_NEW)
#define COMPARE_BY(VALUE)                                                                                              \
    VALUE("none", COMPARE_BY_NONE)                                                                                     \
    VALUE("samples", COMPARE_BY_SAMPLES)                                                                               \
    VALUE("cpu-time", COMPARE_BY_CPU_TIME)                                                                             \
    VALUE("wall-time", COMPARE_BY_WALL_TIME)                                                                           \
    VALUE("function", COMPARE_BY_FUNCTION)
#define MARKER_KIND(VALUE)                                                                                             \
    VALUE("instant", MARKER_INSTANT)                                                                                   \
    VALUE("interval", MARKER_INTERVAL)                                                                                 \
    VALUE("without start", MARKER_WITHOUT_START)                                                                       \
    VALUE("without end", MARKER_WITHOUT_END)
#define MARKER_COLUMN(VALUE)                                                                                           \
    VALUE("start", MARKER_START)                                                                                       \
    VALUE("duration", MARKER_DURATION)                                                                                 \
    VALUE("name", MARKER_NAME)                                                                                         \
    VALUE("details", MARKER_DETAILS)
#define MARKER_LABEL(VALUE)                                                                                            \
    VALUE("table", MARKER_TABLE_LABEL) VALUE("chart", MARKER_CHART_LABEL) VALUE("tooltip", MARKER_TOOLTIP_LABEL)
#define MARKER_PLACE(VALUE)                                                                                            \
    VALUE("chart", MARKER_IN_CHART)                                                                                    \
    VALUE("table", MARKER_IN_TABLE)                                                                                    \
    VALUE("overview", MARKER_IN_OVERVIEW)                                                                              \
    VALUE("memory", MARKER_IN_MEMORY)                                                                                  \
    VALUE("fileIo", MARKER_IN_FILE_IO)                                                                                 \
    VALUE("network", MARKER_IN_NETWORK)                                                                                \
    VALUE("ipc", MARKER_IN_IPC)
#define WAIT_STATE(VALUE)                                                                                              \
    VALUE("runs", WAIT_RUNS)                                                                                           \
    VALUE("runnable", WAIT_RUNNABLE)                                                                                   \
    VALUE("blocked", WAIT_BLOCKED)                                                                                     \
    VALUE("other", WAIT_OTHER)
#define STRIP_PIXEL(VALUE) VALUE("empty", STRIP_EMPTY) VALUE("idle", STRIP_IDLE) VALUE("sample", STRIP_SAMPLE)

#define ENTRY(name, value)  {VALUE, name, "", value},
#define CASE(name, value)   case value:
#define ENUM_OF(type, LIST) {ENUM, #type, "", 0}, LIST(ENTRY)
/* -Wswitch reports a missing value. `count` is the value that counts the values of the enum. */
#define CHECK(type, LIST, count)                                                                                       \
    __attribute__((unused)) static void check_##type(enum type value)                                                  \
    {                                                                                                                  \
        switch (value) {                                                                                               \
            LIST(CASE) count break;                                                                                    \
        }                                                                                                              \
    }

CHECK(transform_kind, TRANSFORM_KIND, case TRANSFORM_KINDS:)
CHECK(frame_kind, FRAME_KIND, )
CHECK(butterfly_kind, BUTTERFLY_KIND, )
CHECK(butterfly_side, BUTTERFLY_SIDE, )
CHECK(group_kind, GROUP_KIND, )
CHECK(wait_grouping, WAIT_GROUPING, case WAIT_GROUPINGS:)
CHECK(selection_kind, SELECTION_KIND, )
CHECK(inlining, INLINING, )
CHECK(recursion, RECURSION, )
CHECK(compared, COMPARED, )
CHECK(compare_by, COMPARE_BY, )
CHECK(marker_kind, MARKER_KIND, )
CHECK(marker_column, MARKER_COLUMN, )
CHECK(marker_label, MARKER_LABEL, )
CHECK(marker_place, MARKER_PLACE, )
CHECK(wait_state, WAIT_STATE, case WAIT_STATES:)
CHECK(strip_pixel, STRIP_PIXEL, )

/* ---- the main program ---- */

static const struct entry entries[] = {
    STRUCT_OF(view),
    PLACE(view, length),
    PLACE(view, columns),
    STRUCT_OF(deferred_run),
    NUMBER(deferred_run, run),
    NUMBER(deferred_run, offset),
    NUMBER(deferred_run, size),
    NUMBER(deferred_run, bytes),
    NUMBER(deferred_run, type),
    STRUCT_OF(query_summary),
    NUMBER(query_summary, root_total),
    NUMBER(query_summary, samples),
    NUMBER(query_summary, all_total),
    NUMBER(query_summary, all_samples),
    NUMBER(query_summary, node_count),
    NUMBER(query_summary, base_total),
    NUMBER(query_summary, new_total),
    NUMBER(query_summary, base_intervals),
    NUMBER(query_summary, new_intervals),
    STRUCT_OF(func_names),
    INDEX(func_names, name),
    INDEX(func_names, lib),
    INDEX(func_names, lib_path),
    INDEX(func_names, file),
    NUMBER(func_names, line),
    INDEX(func_names, resource),
    STRUCT_OF(func_timing),
    INDEX(func_timing, func),
    NUMBER(func_timing, total),
    NUMBER(func_timing, self),
    SIDE_NUMBER(func_timing, total, SIDE_BASE, "base_total"),
    SIDE_NUMBER(func_timing, self, SIDE_BASE, "base_self"),
    SIDE_NUMBER(func_timing, total, SIDE_NEW, "new_total"),
    SIDE_NUMBER(func_timing, self, SIDE_NEW, "new_self"),
    STRUCT_OF(known_change),
    INDEX(known_change, func),
    NUMBER(known_change, is_noise),
    NUMBER(known_change, low),
    NUMBER(known_change, high),
    STRUCT_OF(wait_group),
    NUMBER(wait_group, total),
    NUMBER(wait_group, total_error),
    NUMBER(wait_group, count_error),
    NUMBER(wait_group, percentile_99),
    NUMBER(wait_group, first),
    NUMBER(wait_group, threads),
    INDEX(wait_group, first_thread),
    INDEX(wait_group, own_func),
    NUMBER(wait_group, own_line),
    NUMBER(wait_group, runnable),
    NUMBER(wait_group, longest),
    NUMBER(wait_group, from),
    NUMBER(wait_group, to),
    INDEX(wait_group, key),
    NUMBER(wait_group, count),
    INDEX(wait_group, reason),
    INDEX(wait_group, func),
    INDEX(wait_group, thread),
    INDEX(wait_group, node),
    INDEX(wait_group, waker),
    INDEX(wait_group, waker_func),
    NUMBER(wait_group, waker_line),
    STRUCT_OF(category_weight),
    NUMBER(category_weight, category),
    NUMBER(category_weight, weight),
    STRUCT_OF(line_weight),
    NUMBER(line_weight, line),
    NUMBER(line_weight, total),
    NUMBER(line_weight, self),
    STRUCT_OF(found_name),
    INDEX(found_name, func),
    NUMBER(found_name, score),
    NUMBER(found_name, weight),
    STRUCT_OF(flame_part),
    NUMBER(flame_part, from),
    NUMBER(flame_part, to),
    STRUCT_OF(flame_rect),
    NUMBER(flame_rect, start),
    NUMBER(flame_rect, end),
    NUMBER(flame_rect, total),
    NUMBER(flame_rect, self),
    NUMBER(flame_rect, base_total),
    NUMBER(flame_rect, new_total),
    INDEX(flame_rect, node),
    INDEX(flame_rect, parent),
    NUMBER(flame_rect, depth),
    INDEX(flame_rect, func),
    NUMBER(flame_rect, category),
    NUMBER(flame_rect, count),
    INDEX(flame_rect, library),
    NUMBER(flame_rect, matches),
    STRUCT_OF(stack_rect),
    NUMBER(stack_rect, first),
    NUMBER(stack_rect, last),
    NUMBER(stack_rect, start),
    NUMBER(stack_rect, end),
    INDEX(stack_rect, parent),
    NUMBER(stack_rect, depth),
    INDEX(stack_rect, func),
    NUMBER(stack_rect, category),
    NUMBER(stack_rect, matches),
    STRUCT_OF(code_address),
    INDEX(code_address, lib),
    NUMBER(code_address, address),
    STRUCT_OF(line_cost),
    NUMBER(line_cost, line),
    NUMBER(line_cost, total),
    NUMBER(line_cost, self),
    STRUCT_OF(inlined_cost),
    NUMBER(inlined_cost, line),
    INDEX(inlined_cost, func),
    NUMBER(inlined_cost, total),
    STRUCT_OF(hot_line),
    INDEX(hot_line, func),
    NUMBER(hot_line, line),
    NUMBER(hot_line, self),
    STRUCT_OF(symbol_cost),
    INDEX(symbol_cost, symbol),
    NUMBER(symbol_cost, total),
    NUMBER(symbol_cost, self),
    STRUCT_OF(address_cost),
    NUMBER(address_cost, address),
    NUMBER(address_cost, total),
    NUMBER(address_cost, self),
    STRUCT_OF(address_line),
    NUMBER(address_line, address),
    NUMBER(address_line, depth),
    INDEX(address_line, func),
    INDEX(address_line, source),
    NUMBER(address_line, line),
    STRUCT_OF(marker_row),
    INDEX(marker_row, name),
    NUMBER(marker_row, category),
    NUMBER(marker_row, count),
    NUMBER(marker_row, row_of_name),
    NUMBER(marker_row, is_of_instants),
    ENUM_OF(transform_kind, TRANSFORM_KIND) ENUM_OF(frame_kind, FRAME_KIND) ENUM_OF(butterfly_kind, BUTTERFLY_KIND)
        ENUM_OF(butterfly_side, BUTTERFLY_SIDE) ENUM_OF(group_kind, GROUP_KIND) ENUM_OF(wait_grouping, WAIT_GROUPING)
            ENUM_OF(selection_kind, SELECTION_KIND) ENUM_OF(inlining, INLINING) ENUM_OF(recursion, RECURSION)
                ENUM_OF(compared, COMPARED) ENUM_OF(compare_by, COMPARE_BY) ENUM_OF(marker_kind, MARKER_KIND)
                    ENUM_OF(marker_column, MARKER_COLUMN) ENUM_OF(marker_label, MARKER_LABEL)
                        ENUM_OF(marker_place, MARKER_PLACE) ENUM_OF(wait_state, WAIT_STATE)
                            ENUM_OF(strip_pixel, STRIP_PIXEL)};

__attribute__((export_name("entries"))) const struct entry *layout_entries(void)
{
    return entries;
}

__attribute__((export_name("count"))) uint32_t layout_count(void)
{
    return sizeof(entries) / sizeof(*entries);
}
