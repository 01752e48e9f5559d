/*
 * Adds the marks of programs as markers. The start and the end of an interval are separate marks, so that the profile
 * has intervals without an end, too. An end belongs to the last open interval with its name in its thread, as in the
 * Firefox Profiler (phases 2 and 3). prof matches both here, so that readers get whole intervals.
 */
#include "assemble/program_markers.h"

#include "base/search.h"

enum { COUNTERS_MAX = 200, OPEN_SEARCHED = 1000 };

uint32_t get_shown_thread(const struct shown_threads *shown, uint32_t thread)
{
    const struct replay *replay = shown->replay;
    if (thread < replay->threads.length && shown->rows_of[thread] != PROFILE_NONE)
        return shown->rows_of[thread];
    uint32_t process = thread < replay->threads.length ? replay->threads.data[thread].process : REPLAY_NONE;
    for (int above = 0; process < replay->processes.length && replay->processes.data[process].known && above < 100;
         above++) {
        uint32_t main_thread = replay->processes.data[process].main_thread;
        if (main_thread < replay->threads.length && shown->rows_of[main_thread] != PROFILE_NONE)
            return shown->rows_of[main_thread];
        process = replay->processes.data[process].parent;
    }
    return 0;
}

/* ---- markers ---- */

struct filling {
    struct marker_rows *rows;
    const struct shown_threads *shown;
    const struct program_marks *marks;
    uint32_t category;
    ARRAY(const struct program_mark *) open; /* open intervals of the current thread */
    size_t counters_left_out;
};

static void add_marker(struct filling *filling, const struct program_mark *mark, enum marker_phase phase, uint64_t end)
{
    struct marker_rows *rows = filling->rows;
    const struct strings *texts = &filling->marks->texts;
    struct json_writer *json = marker_rows_start_payload(rows, "ProgramMark");
    if (!json)
        return;
    if (mark->text != STRING_NONE)
        json_member_text(json, "text", strings_text(texts, mark->text));
    uint32_t name = strings_add_z(&rows->profile->strings, strings_text(texts, mark->name));
    marker_rows_add(rows, get_shown_thread(filling->shown, mark->thread), name, filling->category, phase, mark->time,
                    end);
}

static void end_interval(struct filling *filling, const struct program_mark *end)
{
    const struct program_mark **open = filling->open.data;
    for (size_t i = filling->open.length, searched = 0; i-- > 0 && searched < OPEN_SEARCHED; searched++) {
        if (open[i]->name != end->name)
            continue;
        add_marker(filling, open[i], PHASE_INTERVAL, end->time);
        memmove(open + i, open + i + 1, (filling->open.length - i - 1) * sizeof(const struct program_mark *));
        filling->open.length--;
        return;
    }
    add_marker(filling, end, PHASE_END, end->time);
}

static void end_thread_intervals(struct filling *filling)
{
    for (size_t i = 0; i < filling->open.length; i++)
        add_marker(filling, filling->open.data[i], PHASE_START, 0);
    filling->open.length = 0;
}

static void add_mark(struct filling *filling, const struct program_mark *mark)
{
    switch ((enum spool_mark)mark->kind) {
    case SPOOL_MARK_BEGIN:
        if (!array_push(&filling->open, mark))
            filling->rows->failed = true;
        break;
    case SPOOL_MARK_END:
        end_interval(filling, mark);
        break;
    case SPOOL_MARK_SPAN:
        add_marker(filling, mark, PHASE_INTERVAL, mark->end);
        break;
    case SPOOL_MARK_INSTANT:
        add_marker(filling, mark, PHASE_INSTANT, 0);
        break;
    default: /* add_counters() */
        break;
    }
}

/* Compares marks by thread and time; marks with the same time keep their order. */
DEFINE_COMPARE(compare_marks, struct program_mark *,
               ORDER_THEN((*a)->thread, (*b)->thread, ORDER_THEN((*a)->time, (*b)->time, ORDER(*a, *b))))

static void add_markers(struct filling *filling, const struct program_mark **marks, size_t count)
{
    qsort(marks, count, sizeof(*marks), compare_marks);
    for (size_t i = 0; i < count && !filling->rows->failed; i++) {
        add_mark(filling, marks[i]);
        if (i + 1 == count || marks[i + 1]->thread != marks[i]->thread)
            end_thread_intervals(filling);
    }
}

/* ---- counters ---- */

static double get_counter_value(const struct program_mark *mark)
{
    return isfinite(mark->value) ? mark->value : 0;
}

DEFINE_COMPARE(compare_counters, struct program_mark *,
               ORDER_THEN((*a)->pid, (*b)->pid,
                          ORDER_THEN((*a)->name, (*b)->name, ORDER_THEN((*a)->time, (*b)->time, ORDER(*a, *b)))))

/* Returns the display of a program's counter (profile-format: counters). The label is the name of the counter. */
static uint32_t get_counter_display(struct marker_rows *rows, const char *label)
{
    static const char tooltip[] = "[{\"type\":\"value\",\"source\":\"accumulated\",\"format\":{\"unit\":\"number\"},"
                                  "\"label\":\"value\"},"
                                  "{\"type\":\"value\",\"source\":\"count-range\",\"format\":{\"unit\":\"number\"},"
                                  "\"label\":\"range in the graph\"}]";
    rows->text.length = 0;
    rows->sink = text_sink(&rows->text);
    struct json_writer *json = rows->json ? rows->json : (rows->json = malloc(sizeof(*rows->json)));
    if (!json)
        return STRING_NONE;
    json_writer_init(json, &rows->sink, NULL);
    json_open(json, '{');
    json_member_text(json, "graphType", "line-accumulated");
    json_member_text(json, "unit", "");
    json_member_text(json, "color", "teal");
    json_member_text(json, "markerSchemaLocation", NULL);
    json_member_unsigned(json, "sortWeight", 60);
    json_member_text(json, "label", label);
    json_key(json, "tooltipRows");
    json_raw(json, tooltip, sizeof(tooltip) - 1);
    json_close(json, '}');
    return json_writer_finish(json) == 0 ? strings_add(&rows->profile->strings, rows->text.data, rows->text.length)
                                         : STRING_NONE;
}

/* Adds a counter. Readers ignore the change in the first row of a counter, so the first row has a change of 0. */
static void add_counter(struct filling *filling, const struct program_mark **marks, size_t count)
{
    struct marker_rows *rows = filling->rows;
    struct profile *profile = rows->profile;
    const char *name = strings_text(&filling->marks->texts, marks[0]->name);
    uint32_t thread = get_shown_thread(filling->shown, marks[0]->thread);
    struct counter *counter = array_push_zero(&profile->counters);
    if (!counter) {
        rows->failed = true;
        return;
    }
    counter->name = strings_add_z(&profile->strings, name);
    counter->category = strings_add_z(&profile->strings, "Program");
    counter->description = strings_add_z(&profile->strings, "Values that the program reported");
    counter->pid = profile->threads.data[thread].pid;
    counter->main_thread = thread;
    counter->json = get_counter_display(rows, name);
    counter->time = calloc(count + 1, sizeof(*counter->time));
    counter->count = calloc(count + 1, sizeof(*counter->count));
    if (!counter->time || !counter->count || counter->name == STRING_NONE || counter->category == STRING_NONE ||
        counter->description == STRING_NONE || counter->json == STRING_NONE) {
        rows->failed = true;
        return;
    }
    double value = 0;
    counter->time[0] = marker_rows_convert_to_ms(rows, marks[0]->time);
    for (size_t i = 0; i < count; i++) {
        counter->time[i + 1] = marker_rows_convert_to_ms(rows, marks[i]->time);
        counter->count[i + 1] = get_counter_value(marks[i]) - value;
        value = get_counter_value(marks[i]);
    }
    counter->length = count + 1;
}

static void add_counters(struct filling *filling, const struct program_mark **marks, size_t count)
{
    size_t added = 0;
    qsort(marks, count, sizeof(*marks), compare_counters);
    for (size_t first = 0, end; first < count && !filling->rows->failed; first = end) {
        for (end = first + 1;
             end < count && marks[end]->pid == marks[first]->pid && marks[end]->name == marks[first]->name;)
            end++;
        if (++added <= COUNTERS_MAX)
            add_counter(filling, marks + first, end - first);
        else
            filling->counters_left_out++;
    }
}

size_t program_markers_add(struct marker_rows *rows, const struct shown_threads *shown)
{
    const struct program_marks *marks = &shown->replay->program_marks;
    size_t count = marks->items.length, markers = 0, counters = count;
    if (!count)
        return 0;
    const struct program_mark **sorted = malloc(count * sizeof(*sorted));
    if (!sorted) {
        rows->failed = true;
        return 0;
    }
    for (size_t i = 0; i < count; i++) /* markers fill the list from the front, counters from the back */
        if (marks->items.data[i].kind == SPOOL_MARK_COUNTER)
            sorted[--counters] = &marks->items.data[i];
        else
            sorted[markers++] = &marks->items.data[i];
    struct filling filling = {
        .rows = rows, .shown = shown, .marks = marks, .category = marker_rows_add_category(rows, "Program", "purple")};
    if (!rows->failed)
        add_markers(&filling, sorted, markers);
    if (!rows->failed)
        add_counters(&filling, sorted + counters, count - counters);
    array_free(&filling.open);
    free(sorted);
    return filling.counters_left_out;
}
