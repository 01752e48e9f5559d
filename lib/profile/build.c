/*
 * Builds a profile from a file. The layouts of older versions are recognized by their columns, not by the version: see
 * build_tables.c, build_merge.c and build_samples.c (and build_old.c for versions before 49). Afterwards all invariants
 * are checked (invariants.c), so the rest of the program may rely on them.
 */
#include "profile/build.h"

#include "base/utf8.h"
#include "profile/build_merge.h"
#include "profile/build_old.h"
#include "profile/build_payloads.h"
#include "profile/build_samples.h"
#include "profile/build_schemas.h"
#include "profile/build_tables.h"
#include "profile/intern.h"

#include "base/search.h"

/* The file's own string table comes first and in its order, because marker payloads name strings by index. */
static int build_strings(struct build *build)
{
    const struct strings *texts = &build->raw->texts;
    size_t count = texts->entries.length;
    build->string_of_text = malloc((count + 1) * sizeof(*build->string_of_text));
    if (!build->string_of_text)
        return error_no_memory(build->err);
    for (size_t i = 0; i < count; i++)
        build->string_of_text[i] = PROFILE_NONE;
    const struct column *table = &build->raw->shared.strings;
    build->same_numbers = true;
    for (size_t i = 0; i < table->length; i++) {
        uint32_t string = ((const uint32_t *)table->data)[i];
        int code = build_text(build, &string);
        if (code)
            return code;
        build->same_numbers = build->same_numbers && string == i;
    }
    build->profile->meta.kept_strings = build->same_numbers ? (uint32_t)table->length : 0;
    return 0;
}

/* A text and its default, or NULL (PROFILE_NONE). */
struct text_plan {
    uint32_t *text;
    const char *otherwise;
};

static int build_texts(struct build *build, const struct text_plan *texts, size_t count)
{
    int code = 0;
    for (const struct text_plan *plan = texts; !code && plan < texts + count; plan++)
        if (*plan->text != PROFILE_NONE)
            code = build_text(build, plan->text);
        else if (plan->otherwise) {
            *plan->text = strings_add_z(&build->profile->strings, plan->otherwise);
            code = *plan->text == STRING_NONE ? error_no_memory(build->err) : 0;
        }
    return code;
}

#define BUILD_TEXTS(build, texts) build_texts((build), (texts), sizeof(texts) / sizeof(*(texts)))

/* ---- meta ---- */

static int build_extra(struct build *build, struct profile_meta *meta)
{
    int code = 0;
    for (size_t i = 0; !code && i < meta->extra.length; i++) {
        struct extra_section *section = &meta->extra.data[i];
        const struct text_plan label[] = {{&section->label, ""}};
        code = BUILD_TEXTS(build, label);
        for (size_t k = 0; !code && k < section->entries.length; k++) {
            struct extra_entry *entry = &section->entries.data[k];
            const struct text_plan texts[] = {{&entry->label, ""}, {&entry->format, "string"}, {&entry->value, "null"}};
            code = BUILD_TEXTS(build, texts);
        }
    }
    return code;
}

/* Drops events beyond the limit, with their samples. */
static int build_events(struct build *build, struct profile_meta *meta)
{
    int code = 0;
    if (meta->events.length > PROFILE_EVENTS_MAX)
        meta->events.length = PROFILE_EVENTS_MAX;
    for (size_t i = 0; !code && i < meta->events.length; i++) {
        struct profile_event *event = &meta->events.data[i];
        const struct text_plan texts[] = {{&event->name, ""}};
        code = BUILD_TEXTS(build, texts);
        if (!(event->period > 0 && isfinite(event->period)))
            event->period = 0;
    }
    return code;
}

static int build_thread_list(struct build *build, const struct column *column, struct thread_list *list)
{
    for (size_t i = 0; i < column->length; i++) {
        uint32_t thread = ((const uint32_t *)column->data)[i];
        if (thread < build->raw->threads.length && !array_push(list, thread))
            return error_no_memory(build->err);
    }
    return 0;
}

static int build_meta(struct build *build)
{
    struct profile_meta *meta = &build->profile->meta;
    uint32_t kept_strings = meta->kept_strings;
    *meta = build->raw->meta.meta;
    build->raw->meta.meta.extra.data = NULL; /* the profile owns the sections */
    build->raw->meta.meta.extra.length = 0;
    memset(&build->raw->meta.meta.events, 0, sizeof(meta->events));
    meta->kept_strings = kept_strings;
    if (!(meta->interval > 0))
        meta->interval = 1;
    if (!isfinite(meta->start_time))
        meta->start_time = 0;
    if (!(meta->comparison.scale > 0) || isinf(meta->comparison.scale))
        meta->comparison.scale = 1;
    const struct text_plan texts[] = {{&meta->product, NULL},
                                      {&meta->os, NULL},
                                      {&meta->abi, NULL},
                                      {&meta->platform, NULL},
                                      {&meta->cpu_name, NULL},
                                      {&meta->arguments, NULL},
                                      {&meta->imported_from, NULL},
                                      {&meta->misc, NULL},
                                      {&meta->marker_schema, NULL},
                                      {&meta->warning, NULL},
                                      {&meta->added_next, NULL},
                                      {&meta->comparison.name[SIDE_BASE], ""},
                                      {&meta->comparison.name[SIDE_NEW], ""},
                                      {&meta->comparison.scaled_by, NULL}};
    int code = BUILD_TEXTS(build, texts);
    if (!code)
        code = build_extra(build, meta);
    if (!code)
        code = build_events(build, meta);
    const struct raw_meta *raw = &build->raw->meta;
    if (!code)
        code = build_thread_list(build, &raw->initial_visible_threads, &meta->initial_visible_threads);
    return code ? code : build_thread_list(build, &raw->initial_selected_threads, &meta->initial_selected_threads);
}

/* The Firefox Profiler's defaults for files without categories. */
static int add_default_categories(struct build *build)
{
    static const char *const categories[][2] = {
        {"Idle", "transparent"}, {"Other", "grey"},        {"Layout", "purple"},  {"JavaScript", "yellow"},
        {"GC / CC", "orange"},   {"Network", "lightblue"}, {"Graphics", "green"}, {"DOM", "blue"}};
    for (size_t i = 0; i < sizeof(categories) / sizeof(*categories); i++)
        if (profile_add_category(build->profile, categories[i][0], categories[i][1]) == PROFILE_NONE)
            return error_no_memory(build->err);
    return 0;
}

static int build_category(struct build *build, struct raw_category *raw)
{
    struct category *category = array_push_zero(&build->profile->categories);
    if (!category)
        return error_no_memory(build->err);
    category->name = raw->name;
    category->color = raw->color;
    const struct text_plan texts[] = {{&category->name, ""}, {&category->color, "grey"}};
    int code = BUILD_TEXTS(build, texts);
    for (size_t i = 0; !code && i < raw->subcategories.length; i++) {
        uint32_t text = ((const uint32_t *)raw->subcategories.data)[i];
        code = build_text(build, &text);
        if (!code && !array_push(&category->subcategories, text))
            code = error_no_memory(build->err);
    }
    if (code || category->subcategories.length > 0)
        return code;
    uint32_t other = strings_add_z(&build->profile->strings, "Other");
    return other != STRING_NONE && array_push(&category->subcategories, other) ? 0 : error_no_memory(build->err);
}

static int build_categories(struct build *build)
{
    struct raw_meta *raw = &build->raw->meta;
    if (!raw->has_categories || raw->categories.length == 0)
        return add_default_categories(build);
    int code = 0;
    for (size_t i = 0; !code && i < raw->categories.length; i++)
        code = build_category(build, &raw->categories.data[i]);
    return code;
}

static int build_libs(struct build *build)
{
    int code = 0;
    for (size_t i = 0; !code && i < build->raw->libs.length; i++) {
        struct library lib = build->raw->libs.data[i];
        const struct text_plan texts[] = {{&lib.arch, NULL},       {&lib.name, NULL},       {&lib.path, NULL},
                                          {&lib.debug_name, NULL}, {&lib.debug_path, NULL}, {&lib.breakpad_id, NULL},
                                          {&lib.code_id, NULL}};
        code = BUILD_TEXTS(build, texts);
        if (!code && !array_push(&build->profile->libs, lib))
            code = error_no_memory(build->err);
    }
    return code;
}

/* ---- threads ---- */

static int build_markers(struct build *build, struct raw_thread *thread, const struct column *strings, size_t index,
                         struct marker_table *markers)
{
    struct raw_markers *raw = &thread->markers;
    char path[64];
    snprintf(path, sizeof(path), "threads[%zu].markers", index);
    size_t rows = build_rows(raw->length, &raw->name);
    const struct column_plan plans[] = {{&raw->name, COLUMN_REF, COLUMN_NEEDED, "name", &markers->name},
                                        {&raw->start, COLUMN_DOUBLE, NAN, "startTime", &markers->start},
                                        {&raw->end, COLUMN_DOUBLE, NAN, "endTime", &markers->end},
                                        {&raw->phase, COLUMN_SMALL, 1, "phase", &markers->phase},
                                        {&raw->category, COLUMN_INDEX, -1, "category", &markers->category},
                                        {&raw->data, COLUMN_JSON, -1, "data", &markers->data}};
    int code = BUILD_COLUMNS(build, path, strings, plans, rows);
    if (code)
        return code;
    markers->length = rows;
    uint32_t no_category = profile_find_default_category(build->profile);
    for (size_t i = 0; !code && i < rows; i++) {
        code = build_payload(build, thread, &markers->data[i]);
        if (markers->category[i] == PROFILE_NONE)
            markers->category[i] = no_category;
    }
    return code;
}

static int check_stop(struct build *build)
{
    const atomic_bool *stop = build->raw->stop;
    return stop && *stop ? error_set(build->err, ECANCELED, "canceled") : 0;
}

DEFINE_COMPARE(compare_paused, struct paused_range, ORDER(a->start, b->start))

/* Builds the pauses of a thread. A pause without a start begins before the first sample, and a pause without an end
 * ends after the last sample. Merges overlapping pauses. */
static int build_paused_ranges(struct build *build, struct thread *thread)
{
    int code = 0;
    size_t kept = 0;
    struct paused_range *ranges = thread->paused.data;
    for (size_t i = 0; i < thread->paused.length && !code; i++) {
        ranges[i].start = isnan(ranges[i].start) ? -INFINITY : ranges[i].start;
        ranges[i].end = isnan(ranges[i].end) ? INFINITY : ranges[i].end;
        code = build_text(build, &ranges[i].reason);
    }
    if (thread->paused.length)
        qsort(ranges, thread->paused.length, sizeof(*ranges), compare_paused);
    for (size_t i = 0; i < thread->paused.length; i++) {
        if (kept && ranges[i].start <= ranges[kept - 1].end)
            ranges[kept - 1].end = fmax(ranges[kept - 1].end, ranges[i].end);
        else if (ranges[i].start < ranges[i].end)
            ranges[kept++] = ranges[i];
    }
    thread->paused.length = kept;
    return code;
}

static int build_thread(struct build *build, size_t index)
{
    struct raw_thread *raw = build->raw->threads.data[index];
    struct thread *thread = profile_add_thread(build->profile);
    if (!thread)
        return error_no_memory(build->err);
    *thread = raw->thread;
    memset(&raw->thread.paused, 0, sizeof(raw->thread.paused)); /* the profile owns the pauses */
    const struct text_plan texts[] = {{&thread->name, ""},
                                      {&thread->process_name, NULL},
                                      {&thread->process_type, "default"},
                                      {&thread->pid, "0"},
                                      {&thread->tid, "0"}};
    int code = check_stop(build);
    if (!code)
        code = BUILD_TEXTS(build, texts);
    if (!code)
        code = build_paused_ranges(build, thread);
    const struct column *strings = raw->own.strings.present ? &raw->own.strings : &build->raw->shared.strings;
    if (!code)
        code = build_samples(build, raw, index, thread);
    return code ? code : build_markers(build, raw, strings, index, &thread->markers);
}

static int build_threads(struct build *build)
{
    int code = 0;
    for (size_t i = 0; !code && i < build->raw->threads.length; i++)
        code = build_thread(build, i);
    if (!code)
        code = build_added_samples(build);
    if (!code)
        build_cpu_deltas(build, build->raw->meta.cpu_unit);
    return code;
}

static int build_shared(struct build *build)
{
    struct raw_profile *raw = build->raw;
    int code = build->profile->meta.added_next != PROFILE_NONE
                   ? build_added_tables(build)
                   : build_tables(build, &raw->shared, &raw->shared.strings, build->profile);
    struct interner interner;
    interner_init(&interner, build->profile);
    for (size_t i = 0; !code && i < raw->threads.length; i++) {
        struct raw_thread *thread = raw->threads.data[i];
        const struct column *strings = thread->own.strings.present ? &thread->own.strings : &raw->shared.strings;
        code = check_stop(build);
        if (!code && thread->own.frames.func.present)
            code = build_merge_thread(build, &interner, thread, i, strings);
    }
    interner_destroy(&interner);
    return code;
}

static int build_counter(struct build *build, struct raw_counter *raw, size_t index)
{
    char path[64];
    snprintf(path, sizeof(path), "counters[%zu].samples", index);
    struct counter *counter = array_push_zero(&build->profile->counters);
    if (!counter)
        return error_no_memory(build->err);
    *counter = raw->counter;
    const struct text_plan texts[] = {{&counter->name, ""},
                                      {&counter->category, ""},
                                      {&counter->description, ""},
                                      {&counter->pid, "0"},
                                      {&counter->json, NULL}};
    int code = BUILD_TEXTS(build, texts);
    size_t rows = build_rows(raw->length, &raw->count);
    build_truncate_column(&raw->count, rows);
    if (!code && raw->count.length != rows)
        code = error_set(build->err, EINVAL, "%s.count has %zu entries, but its table has %zu rows", path,
                         raw->count.length, rows);
    if (!code)
        code = build_times(build, &raw->time, &raw->time_deltas, rows, path);
    if (code)
        return code;
    counter->time = build_take_column(&raw->time);
    counter->count = build_take_column(&raw->count);
    counter->length = rows;
    if (build->cpu_scale > 0 && strcmp(strings_text(&build->profile->strings, counter->category), "CPU") == 0)
        for (size_t i = 0; i < rows; i++)
            counter->count[i] *= build->cpu_scale;
    return 0;
}

static int build_counters(struct build *build)
{
    int code = 0;
    for (size_t i = 0; !code && i < build->raw->counters.length; i++)
        code = build_counter(build, build->raw->counters.data[i], i);
    return code;
}

/* ---- warnings ---- */

/* Appends to the file's own warnings; in a comparison, to the warnings of each input. */
static int build_warning(struct build *build)
{
    const struct raw_profile *raw = build->raw;
    uint32_t *warning = &build->profile->meta.warning;
    const char *own = profile_text(build->profile, *warning);
    char text[2560] = "";
    size_t used = own[0] ? (size_t)snprintf(text, sizeof(text), "%.*s ", utf8_cut(own, 2000), own) : 0;
    if (raw->meta.meta.version > PROFILE_NEWEST_VERSION)
        used += (size_t)snprintf(
            text + used, sizeof(text) - used,
            "The file has version %u of the profile format, newer than version %d of this prof, so parts of the profile may be missing or wrong. ",
            raw->meta.meta.version, PROFILE_NEWEST_VERSION);
    if (build->sorted)
        used += (size_t)snprintf(text + used, sizeof(text) - used,
                                 "Some samples were out of order; prof has sorted the samples by time. ");
    if (used == 0)
        return 0;
    *warning = strings_add(&build->profile->strings, text, used - 1);
    return *warning == STRING_NONE ? error_no_memory(build->err) : 0;
}

static int build_all(struct build *build)
{
    static int (*const steps[])(struct build * build) = {
        build_old_layouts, build_schemas, build_strings,         check_stop,    build_meta,     build_categories,
        build_libs,        build_shared,  build_payload_strings, build_threads, build_counters, build_warning,
        check_stop};
    int code = 0;
    for (size_t i = 0; !code && i < sizeof(steps) / sizeof(*steps); i++)
        code = steps[i](build);
    return code ? code : profile_check(build->profile, build->err);
}

int profile_build(struct raw_profile *raw, struct profile *out, struct error *err)
{
    struct build build = {.raw = raw, .profile = out, .err = err};
    profile_init(out);
    int code = build_all(&build);
    build_payloads_end(&build);
    free(build.string_of_text);
    if (code)
        profile_destroy(out);
    return code;
}
