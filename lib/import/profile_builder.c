#include "import/profile_builder.h"

#include "base/json_string.h"
#include "base/search.h"
#include "profile/sort_samples.h"

int profile_builder_init(struct profile_builder *builder, struct profile *profile, const char *from, struct error *err)
{
    *builder = (struct profile_builder){.profile = profile, .end = NAN};
    interner_init(&builder->interner, profile);
    profile_init(profile);
    profile->meta.interval = 1;
    profile->meta.symbolicated = 1;
    profile->meta.imported_from = profile->meta.product = strings_add_z(&profile->strings, from);
    uint32_t other = intern_category(&builder->interner, "Other", "grey");
    return profile->meta.imported_from == STRING_NONE || other == PROFILE_NONE ? error_no_memory(err) : 0;
}

void profile_builder_destroy(struct profile_builder *builder)
{
    for (size_t i = 0; i < builder->threads.length; i++) {
        struct builder_thread *thread = &builder->threads.data[i];
        for (size_t k = 0; k < thread->tables.length; k++) {
            array_free(&thread->tables.data[k].stack);
            array_free(&thread->tables.data[k].time);
            array_free(&thread->tables.data[k].weight);
        }
        array_free(&thread->tables);
        array_free(&thread->markers);
    }
    array_free(&builder->threads);
    for (size_t i = 0; i < builder->counters.length; i++)
        array_free(&builder->counters.data[i].levels);
    array_free(&builder->counters);
    hash_destroy(&builder->counters_by_name);
    hash_destroy(&builder->threads_by_id);
    interner_destroy(&builder->interner);
}

static uint32_t remember_failure(struct profile_builder *builder, uint32_t index)
{
    builder->no_memory |= index == PROFILE_NONE;
    return index;
}

uint32_t builder_add_string(struct profile_builder *builder, struct builder_text text)
{
    return remember_failure(builder,
                            strings_add(&builder->profile->strings, text.length ? text.text : "", text.length));
}

uint32_t builder_add_category(struct profile_builder *builder, const char *name, const char *color)
{
    return remember_failure(builder, intern_category(&builder->interner, name, color));
}

uint32_t builder_add_frame(struct profile_builder *builder, const struct builder_frame *frame)
{
    bool has_file = frame->file.length;
    uint32_t name = builder_add_string(builder, frame->name), source = PROFILE_NONE;
    uint32_t file = has_file ? builder_add_string(builder, frame->file) : PROFILE_NONE;
    if (has_file && !builder->no_memory)
        source = remember_failure(builder, intern_source_file(&builder->interner, file));
    if (builder->no_memory)
        return PROFILE_NONE;
    uint32_t func =
        intern_func(&builder->interner, &(struct func_row){name, frame->resource - 1, source, frame->func_line,
                                                           frame->func_column, frame->flags});
    if (remember_failure(builder, func) == PROFILE_NONE)
        return PROFILE_NONE;
    struct frame_row row = make_frame_row(func);
    row.lib = frame->lib - 1;
    row.address = frame->lib ? (int64_t)(frame->address & INT64_MAX) : -1;
    row.category = frame->category - 1;
    row.subcategory = frame->category ? 0 : PROFILE_NONE;
    row.line = frame->line;
    row.column = frame->column;
    row.inline_depth = frame->inline_depth;
    return remember_failure(builder, intern_frame(&builder->interner, &row));
}

/* Removes the number from the end of a text such as ":12:5". Returns 0 if the text has no number. */
static uint32_t split_position(struct builder_text *text)
{
    size_t at = text->length;
    uint64_t number = 0, unit = 1;
    while (at && text->text[at - 1] >= '0' && text->text[at - 1] <= '9' && text->length - at < 9) {
        number += unit * (uint64_t)(text->text[--at] - '0');
        unit *= 10;
    }
    if (at == text->length || at == 0 || text->text[at - 1] != ':')
        return 0;
    text->length = at - 1;
    return (uint32_t)number;
}

void builder_split_script(struct builder_frame *frame)
{
    struct builder_text name = frame->name;
    size_t at = name.length, spaced = 0;
    if (!name.length || name.text[name.length - 1] != ')')
        return;
    for (size_t i = name.length; i-- > 1 && !spaced;)
        if (name.text[i] == '(') {
            spaced = name.text[i - 1] == ' ' ? i : 0;
            at = at == name.length || spaced ? i : at;
        }
    if (at == name.length)
        return;
    struct builder_text url = {name.text + at + 1, name.length - at - 2};
    uint32_t last = split_position(&url), first = last ? split_position(&url) : 0;
    if (!last)
        return;
    frame->func_line = first ? first : last;
    frame->func_column = first ? last : 0;
    frame->file = url;
    frame->name.length = spaced ? at - 1 : at;
    frame->flags |= FUNC_IS_JS;
}

uint32_t builder_add_stack(struct profile_builder *builder, uint32_t prefix, uint32_t frame)
{
    return builder->no_memory ? PROFILE_NONE
                              : remember_failure(builder, intern_stack(&builder->interner, prefix, frame));
}

/* Formats the first 16 bytes of a build id as a GUID, whose first three fields are little-endian, with age 0. */
static size_t format_breakpad_id(struct builder_text build_id, char out[34])
{
    static const unsigned char order[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    for (size_t i = 0; i < build_id.length; i++)
        if (!strchr("0123456789abcdefABCDEF", build_id.text[i]) || !build_id.text[i])
            return 0;
    if (build_id.length < 2)
        return 0;
    for (size_t i = 0; i < 16; i++)
        for (size_t k = 0; k < 2; k++) {
            size_t from = (size_t)order[i] * 2 + k;
            char digit = from < build_id.length ? build_id.text[from] : '0';
            out[i * 2 + k] = digit >= 'a' ? (char)(digit - 'a' + 'A') : digit;
        }
    out[32] = '0';
    return 33;
}

uint32_t builder_add_lib(struct profile_builder *builder, struct builder_text path, struct builder_text build_id,
                         uint32_t *resource)
{
    struct builder_text name = path;
    for (size_t i = 0; i < path.length; i++)
        if (path.text[i] == '/' && i + 1 < path.length)
            name = (struct builder_text){path.text + i + 1, path.length - i - 1};
    char id[34];
    size_t id_length = format_breakpad_id(build_id, id);
    struct library lib = {.arch = PROFILE_NONE, .code_id = PROFILE_NONE};
    lib.name = lib.debug_name = builder_add_string(builder, name);
    lib.path = lib.debug_path = builder_add_string(builder, path);
    lib.breakpad_id = builder_add_string(builder, (struct builder_text){id, id_length});
    if (id_length)
        lib.code_id = builder_add_string(builder, build_id);
    *resource = PROFILE_NONE;
    if (!builder->no_memory)
        *resource = remember_failure(builder, intern_library_resource(&builder->interner, lib.name));
    return builder->no_memory ? PROFILE_NONE : remember_failure(builder, intern_library(&builder->interner, &lib));
}

uint32_t builder_add_thread(struct profile_builder *builder, uint64_t pid, uint64_t tid, uint32_t name)
{
    uint64_t key = hash_mix(hash_mix(pid, tid), name);
    for (uint64_t attempt = 1;; key = hash_mix(key, attempt++)) {
        uint32_t *place = builder->no_memory ? NULL : hash_at(&builder->threads_by_id, key);
        if (!place)
            return remember_failure(builder, PROFILE_NONE);
        if (*place != HASH_MISSING) {
            const struct builder_thread *thread = &builder->threads.data[*place];
            if (thread->pid == pid && thread->tid == tid && thread->asked_name == name)
                return *place;
            continue;
        }
        struct builder_thread thread = {
            .pid = pid, .tid = tid, .asked_name = name, .name = name, .process_name = PROFILE_NONE};
        if (!array_push(&builder->threads, thread))
            return remember_failure(builder, PROFILE_NONE);
        return *place = (uint32_t)builder->threads.length - 1;
    }
}

uint32_t builder_add_event(struct profile_builder *builder, struct builder_text name)
{
    struct profile_meta *meta = &builder->profile->meta;
    uint32_t string = builder_add_string(builder, name);
    if (string == STRING_NONE)
        return PROFILE_NONE;
    for (uint32_t i = 0; i < meta->events.length; i++)
        if (meta->events.data[i].name == string)
            return i + 1;
    if (meta->events.length == PROFILE_EVENTS_MAX)
        return 0;
    bool is_added = array_push(&meta->events, (struct profile_event){.name = string});
    return remember_failure(builder, is_added ? (uint32_t)meta->events.length : PROFILE_NONE);
}

void builder_add_sample(struct profile_builder *builder, uint32_t thread, uint32_t table, uint32_t stack, double time,
                        double weight)
{
    struct builder_thread *to = &builder->threads.data[thread];
    while (!builder->no_memory && to->tables.length <= table)
        builder->no_memory = !array_push_zero(&to->tables);
    if (builder->no_memory)
        return;
    struct builder_rows *rows = &to->tables.data[table];
    builder->no_memory = !array_push(&rows->stack, stack) || !array_push(&rows->time, isfinite(time) ? time : 0) ||
                         !array_push(&rows->weight, isfinite(weight) ? weight : 0);
}

uint32_t builder_add_counter(struct profile_builder *builder, uint64_t pid, struct builder_text name, const char *unit)
{
    uint32_t string = builder_add_string(builder, name);
    if (builder->no_memory)
        return PROFILE_NONE;
    uint64_t key = hash_mix(pid, string);
    uint32_t known = hash_get(&builder->counters_by_name, key);
    if (known != HASH_MISSING)
        return known;
    if (builder->counters.length == BUILDER_COUNTERS_MAX)
        return 0;
    struct builder_counter counter = {.pid = pid, .name = string, .unit = unit};
    uint32_t index = (uint32_t)builder->counters.length + 1;
    bool is_added = array_push(&builder->counters, counter) && hash_set(&builder->counters_by_name, key, index);
    return remember_failure(builder, is_added ? index : PROFILE_NONE);
}

void builder_add_level(struct profile_builder *builder, uint32_t counter, double time, double value)
{
    if (builder->no_memory)
        return;
    struct builder_counter *to = &builder->counters.data[counter - 1];
    builder->no_memory = !array_push(&to->levels, (struct builder_level){time, value, to->levels.length});
}

void builder_add_marker(struct profile_builder *builder, uint32_t thread, struct builder_marker marker)
{
    if (builder->no_memory)
        return;
    marker.place = builder->threads.data[thread].markers.length;
    builder->no_memory = !array_push(&builder->threads.data[thread].markers, marker);
}

void builder_warn(struct profile_builder *builder, const char *sentence)
{
    struct strings *strings = &builder->profile->strings;
    uint32_t *warning = &builder->profile->meta.warning;
    char text[1024];
    int length = snprintf(text, sizeof(text), "%s%s%s", profile_text(builder->profile, *warning),
                          *warning == PROFILE_NONE ? "" : " ", sentence);
    size_t used = length < (int)sizeof(text) ? (size_t)length : sizeof(text) - 1;
    *warning = remember_failure(builder, strings_add(strings, text, used));
}

/* ---- the end ---- */

static double sum_weights(const struct builder_rows *rows)
{
    double total = 0;
    for (size_t i = 0; i < rows->weight.length; i++)
        total += fabs(rows->weight.data[i]);
    return total;
}

/* Gives the rows consecutive times in proportion to their weights, up to `end` ms. */
static void assign_row_times(struct builder_rows *rows, double end)
{
    double total = sum_weights(rows), at = 0, scale = total > 0 ? end / total : 0;
    for (size_t i = 0; i < rows->weight.length; i++) {
        rows->time.data[i] = fmin(at, end); /* rounding errors can exceed `end` */
        at += fabs(rows->weight.data[i]) * scale;
    }
}

/* Gives times to the tables of a thread without times. CPU time lasts its own duration, and a count of 1 lasts 1 ms;
 * for bytes, or without main samples, each row lasts 1 ms. Returns the end, ms. */
static double assign_thread_times(const struct profile_builder *builder, struct builder_thread *thread)
{
    size_t most = 0;
    double end = 0;
    for (size_t i = 0; i < thread->tables.length; i++)
        most = thread->tables.data[i].time.length > most ? thread->tables.data[i].time.length : most;
    if (thread->tables.length && thread->tables.data[0].time.length)
        end = builder->weight_type == WEIGHT_BYTES ? (double)thread->tables.data[0].time.length
                                                   : sum_weights(&thread->tables.data[0]);
    if (!(end > 0))
        end = (double)most;
    for (size_t i = 0; i < thread->tables.length; i++)
        assign_row_times(&thread->tables.data[i], end);
    return end;
}

/* Markers of files without times have a row of the main samples as their start. */
static void assign_marker_times(struct builder_thread *thread)
{
    const struct builder_rows *rows = thread->tables.length ? &thread->tables.data[0] : NULL;
    for (size_t i = 0; i < thread->markers.length; i++) {
        struct builder_marker *marker = &thread->markers.data[i];
        size_t length = rows ? rows->time.length : 0, row = (size_t)marker->start;
        marker->start = length ? rows->time.data[row < length ? row : length - 1] : 0;
    }
}

static bool move_rows(struct builder_rows *rows, struct sample_table *samples)
{
    samples->length = rows->stack.length;
    samples->stack = rows->stack.data;
    samples->time = rows->time.data;
    samples->weight = rows->weight.data;
    *rows = (struct builder_rows){0};
    return samples_are_sorted(samples->time, samples->length) || samples_sort(samples);
}

static int compare_markers(const void *a, const void *b)
{
    const struct builder_marker *left = a, *right = b;
    double x = isnan(left->start) ? left->end : left->start, y = isnan(right->start) ? right->end : right->start;
    return ORDER_THEN(x, y, ORDER(left->place, right->place));
}

static bool move_markers(struct builder_thread *from, struct marker_table *markers)
{
    size_t count = from->markers.length;
    if (count == 0)
        return true;
    qsort(from->markers.data, count, sizeof(*from->markers.data), compare_markers);
    markers->name = malloc(count * sizeof(*markers->name));
    markers->start = malloc(count * sizeof(*markers->start));
    markers->end = malloc(count * sizeof(*markers->end));
    markers->phase = malloc(count * sizeof(*markers->phase));
    markers->category = malloc(count * sizeof(*markers->category));
    markers->data = malloc(count * sizeof(*markers->data));
    if (!markers->name || !markers->start || !markers->end || !markers->phase || !markers->category || !markers->data)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct builder_marker *marker = &from->markers.data[i];
        markers->name[i] = marker->name;
        markers->start[i] = marker->start;
        markers->end[i] = marker->end;
        markers->phase[i] = marker->phase;
        markers->category[i] = marker->category;
        markers->data[i] = marker->data;
    }
    markers->length = count;
    return true;
}

static uint32_t add_number_string(struct profile *profile, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
    return strings_add_z(&profile->strings, text);
}

static bool name_thread(struct profile *profile, const struct builder_thread *from, struct thread *thread)
{
    thread->name = from->name != PROFILE_NONE ? from->name : strings_add_z(&profile->strings, "all samples");
    thread->process_name = from->process_name;
    thread->process_type = strings_add_z(&profile->strings, "default");
    thread->pid = add_number_string(profile, from->pid);
    thread->tid = add_number_string(profile, from->tid);
    thread->is_main = from->pid == from->tid;
    thread->start = 0;
    return thread->name != STRING_NONE && thread->process_type != STRING_NONE && thread->pid != STRING_NONE &&
           thread->tid != STRING_NONE;
}

static bool move_thread(struct profile_builder *builder, struct builder_thread *from, double *end)
{
    struct profile *profile = builder->profile;
    struct thread *thread = profile_add_thread(profile);
    if (!thread || !name_thread(profile, from, thread))
        return false;
    if (builder->has_no_times)
        *end = fmax(*end, assign_thread_times(builder, from));
    if (builder->has_no_times)
        assign_marker_times(from);
    thread->samples.weight_type = builder->weight_type;
    if (from->tables.length && !move_rows(&from->tables.data[0], &thread->samples))
        return false;
    for (size_t i = 1; i < from->tables.length; i++) {
        while (thread->more.length < TABLE_EVENTS - 1 + i)
            if (!array_push_zero(&thread->more))
                return false;
        if (!move_rows(&from->tables.data[i], &thread->more.data[TABLE_EVENTS + i - 2]))
            return false;
    }
    return move_markers(from, &thread->markers);
}

/* ---- counters ---- */

DEFINE_COMPARE(compare_levels, struct builder_level, ORDER_THEN(a->time, b->time, ORDER(a->place, b->place)))

struct display {
    const struct profile *profile;
    const struct builder_counter *counter;
};

static void write_display(struct json_writer *json, const void *context)
{
    const struct display *display = context;
    json_open(json, '{');
    json_member_text(json, "graphType", "line-accumulated");
    json_member_text(json, "unit", display->counter->unit);
    json_member_text(json, "color", "blue");
    json_member_text(json, "markerSchemaLocation", NULL);
    json_member_unsigned(json, "sortWeight", 50);
    json_member_text(json, "label", profile_text(display->profile, display->counter->name));
    json_member_open(json, "tooltipRows", '[');
    json_close(json, ']');
    json_member_bool(json, "startsAtZero", true);
    json_close(json, '}');
}

/* Returns the first thread of the process, else of the profile. */
static uint32_t find_thread_by_pid(const struct profile *profile, uint32_t pid)
{
    for (size_t i = 0; i < profile->threads.length; i++)
        if (profile->threads.data[i].pid == pid)
            return (uint32_t)i;
    return 0;
}

/* Moves a counter to the profile, and converts its levels to changes. The first change starts at 0. */
static bool move_counter(struct profile_builder *builder, struct builder_counter *from)
{
    struct profile *profile = builder->profile;
    struct counter counter = {.name = from->name,
                              .category = strings_add_z(&profile->strings, "Counter"),
                              .description = strings_add_z(&profile->strings, ""),
                              .pid = add_number_string(profile, from->pid),
                              .json =
                                  json_add_string(&profile->strings, write_display, &(struct display){profile, from}),
                              .length = from->levels.length + 1};
    if (counter.category == STRING_NONE || counter.description == STRING_NONE || counter.pid == STRING_NONE ||
        counter.json == STRING_NONE || !array_push(&profile->counters, counter))
        return false;
    struct counter *to = &profile->counters.data[profile->counters.length - 1];
    to->main_thread = find_thread_by_pid(profile, to->pid);
    to->time = malloc(to->length * sizeof(*to->time));
    to->count = malloc(to->length * sizeof(*to->count));
    if (!to->time || !to->count)
        return false;
    array_sort(&from->levels, compare_levels);
    to->time[0] = from->levels.data[0].time;
    to->count[0] = 0;
    for (size_t i = 0; i < from->levels.length; i++) {
        to->time[i + 1] = from->levels.data[i].time;
        to->count[i + 1] = from->levels.data[i].value - (i ? from->levels.data[i - 1].value : 0);
    }
    return true;
}

static bool move_counters(struct profile_builder *builder)
{
    for (size_t i = 0; i < builder->counters.length; i++)
        if (builder->counters.data[i].levels.length && !move_counter(builder, &builder->counters.data[i]))
            return false;
    return true;
}

/* ---- all ---- */

/* Shifts all times so that the first sample, marker or counter level is at time 0, because a clock may start at any
 * time. */
static void shift_times_to_zero(struct profile_builder *builder)
{
    double first = INFINITY;
    for (size_t i = 0; i < builder->threads.length; i++) {
        const struct builder_thread *thread = &builder->threads.data[i];
        for (size_t k = 0; k < thread->tables.length; k++)
            for (size_t row = 0; row < thread->tables.data[k].time.length; row++)
                first = fmin(first, thread->tables.data[k].time.data[row]);
        for (size_t k = 0; k < thread->markers.length; k++)
            first = fmin(first, fmin(thread->markers.data[k].start, thread->markers.data[k].end));
    }
    for (size_t i = 0; i < builder->counters.length; i++)
        for (size_t k = 0; k < builder->counters.data[i].levels.length; k++)
            first = fmin(first, builder->counters.data[i].levels.data[k].time);
    for (size_t i = 0; i < builder->counters.length && isfinite(first); i++)
        for (size_t k = 0; k < builder->counters.data[i].levels.length; k++)
            builder->counters.data[i].levels.data[k].time -= first;
    for (size_t i = 0; i < builder->threads.length && isfinite(first); i++) {
        struct builder_thread *thread = &builder->threads.data[i];
        for (size_t k = 0; k < thread->tables.length; k++)
            for (size_t row = 0; row < thread->tables.data[k].time.length; row++)
                thread->tables.data[k].time.data[row] -= first;
        for (size_t k = 0; k < thread->markers.length; k++) {
            thread->markers.data[k].start -= first;
            thread->markers.data[k].end -= first;
        }
    }
    if (isfinite(first))
        builder->end -= first;
}

/* Extends the end of the profile beyond its last rows. */
static void extend_end(struct profile_builder *builder)
{
    static const double moment = 1e-3; /* ms */
    const struct profile *profile = builder->profile;
    double end = builder->end;
    for (size_t i = 0; i < profile->threads.length; i++)
        for (int kind = TABLE_SAMPLES; kind < SAMPLE_TABLES; kind++) {
            const struct sample_table *table = thread_samples(&profile->threads.data[i], (enum sample_table_kind)kind);
            end = table->length ? fmax(end, table->time[table->length - 1] + moment) : end;
        }
    builder->profile->meta.profiling_start = 0;
    builder->profile->meta.profiling_end = end;
}

static bool is_empty(const struct builder_thread *thread)
{
    size_t rows = thread->markers.length;
    for (size_t i = 0; i < thread->tables.length; i++)
        rows += thread->tables.data[i].time.length;
    return rows == 0;
}

/* Keeps a thread of the counter's process: the first nonempty one, else the first. */
static void keep_counter_thread(struct profile_builder *builder, const struct builder_counter *counter)
{
    struct builder_thread *kept = NULL;
    for (size_t i = 0; i < builder->threads.length && (!kept || kept->is_empty); i++) {
        struct builder_thread *thread = &builder->threads.data[i];
        if (thread->pid == counter->pid && (!kept || !thread->is_empty))
            kept = thread;
    }
    if (kept)
        kept->is_empty = false;
}

static void find_empty_threads(struct profile_builder *builder)
{
    size_t empty = 0;
    for (size_t i = 0; i < builder->threads.length; i++) {
        builder->threads.data[i].is_empty = is_empty(&builder->threads.data[i]);
        empty += builder->threads.data[i].is_empty;
    }
    for (size_t i = 0; i < builder->counters.length; i++)
        keep_counter_thread(builder, &builder->counters.data[i]);
    if (empty && empty == builder->threads.length)
        builder->threads.data[0].is_empty = false;
}

void builder_request_names(struct profile_builder *builder)
{
    builder->profile->meta.symbolicated = 0;
    builder_warn(builder,
                 "The file has no build IDs: symbols come from the current programs and libraries at the same paths.");
}

int profile_builder_finish(struct profile_builder *builder, struct error *err)
{
    double end = 0;
    if (!builder->has_no_times)
        shift_times_to_zero(builder);
    if (builder->threads.length == 0)
        return error_set(err, EINVAL, "the file has no samples");
    if (builder->drops_empty_threads)
        find_empty_threads(builder);
    for (size_t i = 0; i < builder->threads.length; i++)
        if (!builder->threads.data[i].is_empty && !move_thread(builder, &builder->threads.data[i], &end))
            return error_no_memory(err);
    if (!move_counters(builder))
        return error_no_memory(err);
    if (!builder->has_no_times && isfinite(builder->end) && builder->end > 0)
        extend_end(builder);
    builder->profile->meta.has_no_times = builder->has_no_times;
    if (builder->has_no_times) {
        builder->profile->meta.profiling_start = 0;
        builder->profile->meta.profiling_end = fmax(end, builder->profile->meta.interval);
        builder_warn(
            builder,
            "The file has no times: the timeline and the stack chart show its samples in sequence, each with its weight as its duration.");
    }
    return builder->no_memory ? error_no_memory(err) : profile_check(builder->profile, err);
}
