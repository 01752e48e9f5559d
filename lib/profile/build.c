/*
 * Builds a profile from a file. It recognizes the layouts of older versions by the columns that are there, not by the
 * version: see build_tables.c, build_merge.c and build_samples.c. At the end it checks all invariants (check.c), so
 * that the rest of the program may rely on them.
 */
#include "profile/build.h"

#include "profile/build_merge.h"
#include "profile/build_payloads.h"
#include "profile/build_samples.h"
#include "profile/build_tables.h"
#include "profile/intern.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* A text that the file may leave out, but that every profile has. */
static int build_text_or(struct build *build, uint32_t *text, const char *otherwise)
{
    if (*text != PROFILE_NONE)
        return build_text(build, text);
    *text = strings_add_z(&build->profile->strings, otherwise);
    return *text == STRING_NONE ? error_no_memory(build->err) : 0;
}

static int build_texts(struct build *build, uint32_t *const *texts, size_t count)
{
    int code = 0;
    for (size_t i = 0; !code && i < count; i++)
        code = build_text(build, texts[i]);
    return code;
}

/* ---- meta ---- */

static int build_extra(struct build *build, struct profile_meta *meta)
{
    int code = 0;
    for (size_t i = 0; !code && i < meta->extra.length; i++) {
        struct extra_section *section = &meta->extra.data[i];
        code = build_text_or(build, &section->label, "");
        for (size_t k = 0; !code && k < section->entries.length; k++) {
            struct extra_entry *entry = &section->entries.data[k];
            code = build_text_or(build, &entry->label, "");
            if (!code)
                code = build_text_or(build, &entry->format, "string");
            if (!code)
                code = build_text_or(build, &entry->value, "null");
        }
    }
    return code;
}

static void drop_empty_schema(const struct build *build, uint32_t *schema)
{
    if (*schema == PROFILE_NONE)
        return;
    const char *json = strings_text(&build->raw->texts, *schema);
    if (json[0] != '[' || strcmp(json, "[]") == 0)
        *schema = PROFILE_NONE;
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
    build->raw->meta.meta.extra.data = NULL; /* the profile's now */
    build->raw->meta.meta.extra.length = 0;
    meta->kept_strings = kept_strings;
    if (!(meta->interval > 0))
        meta->interval = 1;
    if (!isfinite(meta->start_time))
        meta->start_time = 0;
    drop_empty_schema(build, &meta->marker_schema);
    uint32_t *const texts[] = {&meta->product,       &meta->os,       &meta->abi,
                               &meta->platform,      &meta->cpu_name, &meta->arguments,
                               &meta->imported_from, &meta->misc,     &meta->marker_schema};
    int code = build_texts(build, texts, sizeof(texts) / sizeof(*texts));
    if (!code)
        code = build_extra(build, meta);
    const struct raw_meta *raw = &build->raw->meta;
    if (!code)
        code = build_thread_list(build, &raw->initial_visible_threads, &meta->initial_visible_threads);
    return code ? code : build_thread_list(build, &raw->initial_selected_threads, &meta->initial_selected_threads);
}

/* What the Firefox Profiler assumes of files that do not say. */
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
    int code = build_text_or(build, &category->name, "");
    if (!code)
        code = build_text_or(build, &category->color, "grey");
    for (size_t i = 0; !code && i < raw->subcategories.length; i++) {
        uint32_t text = ((const uint32_t *)raw->subcategories.data)[i];
        code = build_text(build, &text);
        if (!code && !array_push(&category->subcategories, text))
            code = error_no_memory(build->err);
    }
    uint32_t other = PROFILE_NONE;
    if (!code && category->subcategories.length == 0)
        code = build_text_or(build, &other, "Other");
    if (!code && category->subcategories.length == 0 && !array_push(&category->subcategories, other))
        code = error_no_memory(build->err);
    return code;
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
        uint32_t *const texts[] = {&lib.arch,       &lib.name,        &lib.path,   &lib.debug_name,
                                   &lib.debug_path, &lib.breakpad_id, &lib.code_id};
        code = build_texts(build, texts, sizeof(texts) / sizeof(*texts));
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
    if (raw->name.length != rows)
        return error_set(build->err, EINVAL, "%s.name has %zu entries, but its table has %zu rows", path,
                         raw->name.length, rows);
    int code = build_column(build, &raw->start, COLUMN_DOUBLE, rows, NAN, path);
    if (!code)
        code = build_column(build, &raw->end, COLUMN_DOUBLE, rows, NAN, path);
    if (!code)
        code = build_column(build, &raw->phase, COLUMN_SMALL, rows, 1, path);
    if (!code)
        code = build_column(build, &raw->category, COLUMN_INDEX, rows, -1, path);
    if (!code)
        code = build_column(build, &raw->data, COLUMN_JSON, rows, -1, path);
    uint32_t *names = raw->name.data, *data = raw->data.data, *categories = raw->category.data;
    uint32_t no_category = profile_default_category(build->profile);
    for (size_t i = 0; !code && i < rows; i++) {
        code = build_ref(build, strings, &names[i], path, i);
        if (!code)
            code = build_payload(build, thread, &data[i]);
        if (categories[i] == PROFILE_NONE)
            categories[i] = no_category;
    }
    if (code)
        return code;
    markers->name = build_take(&raw->name);
    markers->start = build_take(&raw->start);
    markers->end = build_take(&raw->end);
    markers->phase = build_take(&raw->phase);
    markers->category = build_take(&raw->category);
    markers->data = build_take(&raw->data);
    markers->length = rows;
    return 0;
}

static int check_stop(const struct build *build)
{
    const atomic_bool *stop = build->raw->stop;
    return stop && *stop ? error_set(build->err, ECANCELED, "nobody waits for it any more") : 0;
}

static int build_thread(struct build *build, size_t index, bool *sorted)
{
    struct raw_thread *raw = build->raw->threads.data[index];
    struct thread *thread = profile_add_thread(build->profile);
    if (!thread)
        return error_no_memory(build->err);
    *thread = raw->thread;
    int code = check_stop(build);
    if (!code)
        code = build_text_or(build, &thread->name, "");
    if (!code)
        code = build_text(build, &thread->process_name);
    if (!code)
        code = build_text_or(build, &thread->process_type, "default");
    if (!code)
        code = build_text_or(build, &thread->pid, "0");
    if (!code)
        code = build_text_or(build, &thread->tid, "0");
    const struct column *strings = raw->own.strings.present ? &raw->own.strings : &build->raw->shared.strings;
    if (!code)
        code = build_samples(build, &raw->samples, index, &thread->samples, sorted);
    return code ? code : build_markers(build, raw, strings, index, &thread->markers);
}

static int build_threads(struct build *build, bool *sorted)
{
    int code = 0;
    for (size_t i = 0; !code && i < build->raw->threads.length; i++)
        code = build_thread(build, i, sorted);
    if (!code)
        build_cpu_deltas(build, build->raw->meta.cpu_unit);
    return code;
}

static int build_shared(struct build *build)
{
    struct raw_profile *raw = build->raw;
    int code = build_tables(build, &raw->shared, &raw->shared.strings, build->profile);
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
    int code = build_text_or(build, &counter->name, "");
    if (!code)
        code = build_text_or(build, &counter->category, "");
    if (!code)
        code = build_text_or(build, &counter->description, "");
    if (!code)
        code = build_text_or(build, &counter->pid, "0");
    if (!code)
        code = build_text(build, &counter->json);
    size_t rows = build_rows(raw->length, &raw->count);
    if (!code && raw->count.length != rows)
        code = error_set(build->err, EINVAL, "%s.count has %zu entries, but its table has %zu rows", path,
                         raw->count.length, rows);
    if (!code)
        code = build_times(build, &raw->time, &raw->time_deltas, rows, path);
    if (code)
        return code;
    counter->time = build_take(&raw->time);
    counter->count = build_take(&raw->count);
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

/* ---- what could not be understood ---- */

static int build_warning(struct build *build, bool sorted)
{
    const struct raw_profile *raw = build->raw;
    char text[512] = "";
    size_t used = 0;
    if (raw->meta.meta.version > PROFILE_NEWEST_VERSION)
        used += (size_t)snprintf(text + used, sizeof(text) - used,
                                 "The file has version %u of the profile format, which prof knows up to version %d: "
                                 "parts of it may be missing or wrong. ",
                                 raw->meta.meta.version, PROFILE_NEWEST_VERSION);
    if (sorted)
        used += (size_t)snprintf(text + used, sizeof(text) - used,
                                 "Some samples were not in the order of their times; prof has sorted them. ");
    if (used == 0)
        return 0;
    uint32_t *warning = &build->profile->meta.warning;
    *warning = strings_add(&build->profile->strings, text, used - 1);
    return *warning == STRING_NONE ? error_no_memory(build->err) : 0;
}

static int build_all(struct build *build)
{
    bool sorted = false;
    int code = build_strings(build);
    if (!code)
        code = check_stop(build);
    if (!code)
        code = build_meta(build);
    if (!code)
        code = build_categories(build);
    if (!code)
        code = build_libs(build);
    if (!code)
        code = build_shared(build);
    if (!code)
        code = build_payload_strings(build);
    if (!code)
        code = build_threads(build, &sorted);
    if (!code)
        code = build_counters(build);
    if (!code)
        code = build_warning(build, sorted);
    if (!code)
        code = check_stop(build);
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
