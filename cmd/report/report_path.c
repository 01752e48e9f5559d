/*
 * `prof report --critical-path`: a sentence with the parts of the path, its segments by time, and a call tree that adds
 * up to the range.
 */
#include "cmd/report/report_kinds.h"

#include "cmd/report/report_rows.h"
#include "cmd/report/report_text.h"
#include "cmd/report/report_tree.h"

#include "cmd/common/ui.h"

#include "base/json_write.h"
#include "tree/marker_view.h"

enum { START_COLUMNS = 12, LENGTH_COLUMNS = 11, THREAD_COLUMNS = 18, STATE_COLUMNS = 11 };

/* ---- thread and range ---- */

/* Finds the part in the range of the marker that has the longest such part. */
static int find_marker(const struct report *report, struct marker *found, struct error *err)
{
    struct marker_view *view;
    int code = report_query_markers(report, "", &view, err);
    size_t count = 0;
    const uint32_t *shown = code ? NULL : marker_view_get_matches(view, &count);
    for (size_t i = 0; i < count; i++) {
        struct marker part = marker_view_get_markers(view)->data[shown[i]];
        part.start = fmax(part.start, report->range.from);
        part.end = fmin(part.end, report->range.to);
        bool is_longer = part.end - part.start > found->end - found->start;
        if (is_longer && strcmp(profile_text(report->profile, part.name), report->options.marker) == 0)
            *found = part;
    }
    marker_view_free(view);
    return code;
}

static int choose_marker(struct report *report)
{
    struct error err = {0};
    struct marker found = {0};
    if (find_marker(report, &found, &err))
        return ui_fail_with_error(&err);
    if (!(found.end > found.start))
        return ui_fail("no marker of %s with a duration has the name '%s'; 'prof report --markers' lists the markers",
                       report->options.path, report->options.marker);
    report->range = (struct time_range){found.start, found.end};
    report->threads.data[0] = found.thread;
    return EXIT_SUCCESS;
}

static bool has_slowest(const struct report *report)
{
    for (size_t i = 0; i < report->options.transforms.length; i++)
        if (strcmp(report->options.transforms.data[i].option, "slowest") == 0)
            return true;
    return false;
}

int report_choose_path(struct report *report)
{
    int status = report_require_wakers(report);
    if (!status && report->options.marker)
        status = choose_marker(report);
    if (!has_slowest(report))
        report->threads.length = 1;
    return status;
}

int report_find_path(struct report *report, struct error *err)
{
    struct path_ranges ranges = {0};
    int code = engine_list_slowest_ranges(report->engine, &ranges, err);
    if (!code && !ranges.length && has_slowest(report))
        return error_set(err, ENOENT, "--slowest selects no intervals, whose names --intervals lists");
    if (!code && !ranges.length && !array_push(&ranges, (struct path_range){report->threads.data[0], report->range}))
        code = error_no_memory(err);
    if (!code)
        code = critical_paths_find(&report->path, report->profile, ranges.data, ranges.length, err);
    uint32_t thread = ranges.length ? ranges.data[0].thread : 0;
    array_free(&ranges);
    report->threads.data[0] = thread; /* the sentence names other threads */
    if (!code)
        code = find_critical_path_parts(report->engine, &report->path, thread, &report->path_parts, err);
    if (!code)
        code = engine_weigh_path(report->engine, &report->path, err);
    report->total = code ? 0 : engine_get_timings(report->engine)->root_total;
    return code;
}

/* ---- words ---- */

static uint32_t get_func(const struct profile *profile, uint32_t stack)
{
    return profile->frames.func[profile->stacks.frame[stack]];
}

/* ---- the report ---- */

/* Writes the sentence, NUL-terminated. The caller frees `text` also after a failure. */
static int write_sentence(const struct report *report, struct text_buffer *text, struct error *err)
{
    int code = path_parts_append_sentence(text, report->engine, &report->path_parts, report->threads.data[0],
                                          PATH_PARTS_USUAL, err);
    return code || text_append(text, "", 1) ? code : error_no_memory(err);
}

static int print_row(const struct report *report, size_t first, size_t end, struct error *err)
{
    const struct path_segment *segment = find_row_segment(report->profile, &report->path, first, end);
    struct text_buffer text = {0};
    char length[QUANTITY_TEXT_MAX];
    double from = report->path.data[first].from, to = report->path.data[end - 1].to;
    int code = path_segment_append_text(&text, report->profile, segment, err);
    if (!code && !text_append(&text, "", 1))
        code = error_no_memory(err);
    if (!code) {
        format_weight(length, to - from, "ms");
        ui_print("%*.6f%*s  ", START_COLUMNS, (from - engine_get_full_range(report->engine).from) / 1000,
                 LENGTH_COLUMNS, length);
        unsigned used = report_print_text(report, report_get_thread_name(report, segment->thread), THREAD_COLUMNS);
        ui_print("%*s%-*s", (int)(used < THREAD_COLUMNS ? THREAD_COLUMNS - used : 0) + 2, "", STATE_COLUMNS,
                 get_path_state_name(segment->state));
        report_print_text(
            report, text.data,
            report_measure_room(report, START_COLUMNS + LENGTH_COLUMNS + 4 + THREAD_COLUMNS + STATE_COLUMNS));
        putchar('\n');
    }
    array_free(&text);
    return code;
}

int report_print_path(const struct report *report, struct error *err)
{
    enum { USUAL_ROWS = 60 };
    size_t limit = report_get_row_limit(report, USUAL_ROWS), rows = 0;
    struct text_buffer sentence = {0};
    int code = write_sentence(report, &sentence, err);
    if (!code)
        report_print_wrapped(report, sentence.data, 0, 0);
    array_free(&sentence);
    if (code)
        return code;
    putchar('\n');
    report_print_title(report, "%*s%*s  %-*s  %-*s%s", START_COLUMNS, "start, s", LENGTH_COLUMNS, "ms", THREAD_COLUMNS,
                       "thread", STATE_COLUMNS, "state", "where");
    for (size_t i = 0, end; !code && i < report->path.length; i = end, rows++) {
        end = find_row_end(report->profile, &report->path, i);
        if (rows < limit)
            code = print_row(report, i, end, err);
    }
    if (code)
        return code;
    report_print_hidden_count(rows, limit);
    putchar('\n');
    return report_print_tree(report, err);
}

/* ---- JSON ---- */

static void write_func(struct json_writer *json, const struct report *report, const char *key, uint32_t func)
{
    if (func != PROFILE_NONE)
        json_member_text(json, key, report_get_func_name(report, func));
}

static void write_thread(struct json_writer *json, const char *key, uint32_t thread)
{
    if (thread != PROFILE_NONE)
        json_member_double(json, key, thread);
}

static void write_segment(struct json_writer *json, const struct report *report, const struct path_segment *segment)
{
    const struct profile *profile = report->profile;
    json_open(json, '{');
    json_member_double(json, "from_ms", segment->from);
    json_member_double(json, "to_ms", segment->to);
    json_member_double(json, "thread", segment->thread);
    json_member_text(json, "state", get_path_state_name(segment->state));
    if (segment->waker != PROFILE_NONE)
        json_member_text(json, "waker", profile_text(profile, segment->waker));
    write_thread(json, "waiter", segment->waiter);
    write_func(json, report, "waited_for", find_path_object(profile, segment->waited_for));
    write_func(json, report, "wakes_in", find_own_place(profile, segment->wakes_in).func);
    json_member_open(json, "stack", '[');
    for (uint32_t stack = segment->stack; stack != PROFILE_NONE; stack = profile->stacks.prefix[stack])
        json_text_z(json, report_get_func_name(report, get_func(profile, stack)));
    json_close(json, ']');
    json_close(json, '}');
}

int report_write_path(struct json_writer *json, const struct report *report, struct error *err)
{
    json_member_open(json, "critical_path", '{');
    json_member_double(json, "thread", report->threads.data[0]);
    struct text_buffer sentence = {0};
    int code = write_sentence(report, &sentence, err);
    if (!code)
        json_member_text(json, "sentence", sentence.data);
    array_free(&sentence);
    json_member_open(json, "parts", '[');
    size_t limit = report_get_row_limit(report, SIZE_MAX);
    for (size_t i = 0; i < report->path_parts.length && i < limit; i++) {
        const struct path_part *part = &report->path_parts.data[i];
        json_open(json, '{');
        json_member_double(json, "ms", part->ms);
        json_member_text(json, "state", get_path_state_name(part->state));
        json_member_double(json, "thread", part->thread);
        if (part->is_estimated)
            json_member_bool(json, "estimated", true);
        write_func(json, report, "function", part->func);
        write_func(json, report, "object", part->object);
        write_thread(json, "waiter", part->waiter);
        write_func(json, report, "waited_for", part->waited_for);
        write_func(json, report, "wakes_in", part->wakes_in.func);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_member_open(json, "segments", '[');
    for (size_t i = 0; i < report->path.length && i < limit; i++)
        write_segment(json, report, &report->path.data[i]);
    json_close(json, ']');
    json_close(json, '}');
    return code;
}
