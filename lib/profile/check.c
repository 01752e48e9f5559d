/*
 * The promises of a profile, checked: whoever computes on a profile that passed needs no bounds checks of its own. The
 * sentence names the place as the file does ("shared.stackTable.frame[17]"), so that its producer can be mended.
 */
#include "profile/profile.h"

#include <errno.h>
#include <math.h>

/* A column of indexes into a table of `rows` rows; `optional`: PROFILE_NONE is allowed. */
static int check_indexes(const char *path, const uint32_t *column, size_t length, size_t rows, bool optional,
                         struct error *err)
{
    for (size_t i = 0; i < length; i++)
        if (column[i] >= rows && !(optional && column[i] == PROFILE_NONE)) {
            if (column[i] == PROFILE_NONE)
                return error_set(err, EINVAL, "%s[%zu] is missing", path, i);
            return error_set(err, EINVAL, "%s[%zu] is %u, but that table has only %zu rows", path, i, column[i], rows);
        }
    return 0;
}

static int check_index(const char *path, size_t i, const char *column, uint32_t value, size_t rows, bool optional,
                       struct error *err)
{
    if (value < rows || (optional && value == PROFILE_NONE))
        return 0;
    if (value == PROFILE_NONE)
        return error_set(err, EINVAL, "%s.%s[%zu] is missing", path, column, i);
    return error_set(err, EINVAL, "%s.%s[%zu] is %u, but that table has only %zu rows", path, column, i, value, rows);
}

static int check_stacks(const struct profile *profile, struct error *err)
{
    const struct stack_table *stacks = &profile->stacks;
    for (size_t i = 0; i < stacks->length; i++)
        if (stacks->prefix[i] >= i && stacks->prefix[i] != PROFILE_NONE)
            return error_set(err, EINVAL,
                             "shared.stackTable: the caller of stack %zu is stack %u, which does not come before it", i,
                             stacks->prefix[i]);
    return check_indexes("shared.stackTable.frame", stacks->frame, stacks->length, profile->frames.length, false, err);
}

static int check_subcategories(const struct profile *profile, struct error *err)
{
    const struct frame_table *frames = &profile->frames;
    for (size_t i = 0; i < frames->length; i++) {
        uint32_t category = frames->category[i], subcategory = frames->subcategory[i];
        if ((category == PROFILE_NONE) != (subcategory == PROFILE_NONE))
            return error_set(err, EINVAL,
                             "shared.frameTable: frame %zu has a category without a subcategory, or the reverse", i);
        if (category == PROFILE_NONE)
            continue;
        int rc = check_index("shared.frameTable", i, "subcategory", subcategory,
                             profile->categories.data[category].subcategories.length, false, err);
        if (rc)
            return rc;
    }
    return 0;
}

static int check_frames(const struct profile *profile, struct error *err)
{
    const struct frame_table *frames = &profile->frames;
    size_t length = frames->length;
    int rc = check_indexes("shared.frameTable.func", frames->func, length, profile->funcs.length, false, err);
    if (!rc)
        rc = check_indexes("shared.frameTable.lib", frames->lib, length, profile->libs.length, true, err);
    if (!rc)
        rc = check_indexes("shared.frameTable.nativeSymbol", frames->native_symbol, length,
                           profile->native_symbols.length, true, err);
    if (!rc)
        rc = check_indexes("shared.frameTable.category", frames->category, length, profile->categories.length, true,
                           err);
    return rc ? rc : check_subcategories(profile, err);
}

static int check_funcs(const struct profile *profile, struct error *err)
{
    const struct func_table *funcs = &profile->funcs;
    size_t strings = profile->strings.entries.length;
    int rc = check_indexes("shared.funcTable.name", funcs->name, funcs->length, strings, false, err);
    if (!rc)
        rc = check_indexes("shared.funcTable.resource", funcs->resource, funcs->length, profile->resources.length, true,
                           err);
    if (!rc)
        rc = check_indexes("shared.funcTable.source", funcs->source, funcs->length, profile->sources.length, true, err);
    return rc;
}

static int check_small_tables(const struct profile *profile, struct error *err)
{
    size_t strings = profile->strings.entries.length;
    int rc = 0;
    for (size_t i = 0; !rc && i < profile->resources.length; i++) {
        const struct resource *row = &profile->resources.data[i];
        rc = check_index("shared.resourceTable", i, "name", row->name, strings, false, err);
        if (!rc)
            rc = check_index("shared.resourceTable", i, "host", row->host, strings, true, err);
    }
    for (size_t i = 0; !rc && i < profile->native_symbols.length; i++) {
        const struct native_symbol *row = &profile->native_symbols.data[i];
        rc = check_index("shared.nativeSymbols", i, "name", row->name, strings, false, err);
        if (!rc)
            rc = check_index("shared.nativeSymbols", i, "libIndex", row->lib, profile->libs.length, false, err);
    }
    for (size_t i = 0; !rc && i < profile->sources.length; i++) {
        const struct source *row = &profile->sources.data[i];
        rc = check_index("shared.sources", i, "filename", row->filename, strings, false, err);
        if (!rc)
            rc = check_index("shared.sources", i, "id", row->id, strings, true, err);
        if (!rc)
            rc = check_index("shared.sources", i, "content", row->content, strings, true, err);
        if (!rc)
            rc = check_index("shared.sources", i, "sourceMapURL", row->source_map_url, strings, true, err);
    }
    return rc;
}

static int check_libs(const struct profile *profile, struct error *err)
{
    size_t strings = profile->strings.entries.length;
    int rc = 0;
    for (size_t i = 0; !rc && i < profile->libs.length; i++) {
        const struct library *lib = &profile->libs.data[i];
        const uint32_t texts[] = {lib->arch,       lib->name,        lib->path,   lib->debug_name,
                                  lib->debug_path, lib->breakpad_id, lib->code_id};
        for (size_t k = 0; !rc && k < sizeof(texts) / sizeof(*texts); k++)
            rc = check_index("libs", i, "text", texts[k], strings, true, err);
    }
    return rc;
}

static int check_categories(const struct profile *profile, struct error *err)
{
    size_t strings = profile->strings.entries.length;
    int rc = 0;
    for (size_t i = 0; !rc && i < profile->categories.length; i++) {
        const struct category *category = &profile->categories.data[i];
        rc = check_index("meta.categories", i, "name", category->name, strings, false, err);
        if (!rc)
            rc = check_index("meta.categories", i, "color", category->color, strings, false, err);
        if (!rc)
            rc = check_indexes("meta.categories.subcategories", category->subcategories.data,
                               category->subcategories.length, strings, false, err);
    }
    return rc;
}

static int check_samples(const struct profile *profile, size_t thread, struct error *err)
{
    const struct sample_table *samples = &profile->threads.data[thread].samples;
    for (size_t i = 0; i < samples->length; i++) {
        if (samples->stack[i] >= profile->stacks.length && samples->stack[i] != PROFILE_NONE)
            return error_set(err, EINVAL, "threads[%zu].samples.stack[%zu] is %u, but there are only %zu stacks",
                             thread, i, samples->stack[i], profile->stacks.length);
        if (!isfinite(samples->time[i]) || (i && samples->time[i] < samples->time[i - 1]))
            return error_set(err, EINVAL, "threads[%zu].samples.time[%zu] is before the sample that precedes it",
                             thread, i);
        if (samples->weight && !isfinite(samples->weight[i]))
            return error_set(err, EINVAL, "threads[%zu].samples.weight[%zu] is not a number", thread, i);
    }
    return 0;
}

static int check_markers(const struct profile *profile, size_t thread, struct error *err)
{
    const struct marker_table *markers = &profile->threads.data[thread].markers;
    size_t strings = profile->strings.entries.length;
    for (size_t i = 0; i < markers->length; i++) {
        const char *wrong = markers->name[i] >= strings                                       ? "name"
                            : markers->category[i] >= profile->categories.length              ? "category"
                            : markers->data[i] >= strings && markers->data[i] != PROFILE_NONE ? "data"
                            : markers->phase[i] > 3                                           ? "phase"
                                                                                              : NULL;
        if (wrong)
            return error_set(err, EINVAL, "threads[%zu].markers.%s[%zu] is out of range", thread, wrong, i);
    }
    return 0;
}

static int check_threads(const struct profile *profile, struct error *err)
{
    size_t strings = profile->strings.entries.length;
    if (profile->threads.length == 0)
        return error_set(err, EINVAL, "the profile has no threads");
    int rc = 0;
    for (size_t i = 0; !rc && i < profile->threads.length; i++) {
        const struct thread *thread = &profile->threads.data[i];
        rc = check_index("threads", i, "name", thread->name, strings, false, err);
        if (!rc)
            rc = check_index("threads", i, "processName", thread->process_name, strings, true, err);
        if (!rc)
            rc = check_index("threads", i, "processType", thread->process_type, strings, false, err);
        if (!rc)
            rc = check_index("threads", i, "pid", thread->pid, strings, false, err);
        if (!rc)
            rc = check_index("threads", i, "tid", thread->tid, strings, false, err);
        if (!rc)
            rc = check_samples(profile, i, err);
        if (!rc)
            rc = check_markers(profile, i, err);
    }
    return rc;
}

static int check_counters(const struct profile *profile, struct error *err)
{
    size_t strings = profile->strings.entries.length;
    for (size_t i = 0; i < profile->counters.length; i++) {
        const struct counter *counter = &profile->counters.data[i];
        int rc =
            check_index("counters", i, "mainThreadIndex", counter->main_thread, profile->threads.length, false, err);
        const uint32_t texts[] = {counter->name, counter->category, counter->description, counter->pid};
        for (size_t k = 0; !rc && k < sizeof(texts) / sizeof(*texts); k++)
            rc = check_index("counters", i, "text", texts[k], strings, false, err);
        if (!rc)
            rc = check_index("counters", i, "display", counter->json, strings, true, err);
        if (rc)
            return rc;
        for (size_t k = 0; k < counter->length; k++)
            if (!isfinite(counter->time[k]) || !isfinite(counter->count[k]) ||
                (k && counter->time[k] < counter->time[k - 1]))
                return error_set(err, EINVAL,
                                 "counters[%zu].samples[%zu] is before the sample that precedes it, or no number", i,
                                 k);
    }
    return 0;
}

static int check_meta(const struct profile *profile, struct error *err)
{
    const struct profile_meta *meta = &profile->meta;
    size_t strings = profile->strings.entries.length;
    const uint32_t texts[] = {meta->product,       meta->os,        meta->abi,           meta->platform,
                              meta->cpu_name,      meta->arguments, meta->imported_from, meta->misc,
                              meta->marker_schema, meta->warning};
    int rc = 0;
    for (size_t k = 0; !rc && k < sizeof(texts) / sizeof(*texts); k++)
        rc = check_index("meta", k, "text", texts[k], strings, true, err);
    for (size_t i = 0; !rc && i < meta->extra.length; i++) {
        const struct extra_section *section = &meta->extra.data[i];
        rc = check_index("meta.extra", i, "label", section->label, strings, false, err);
        for (size_t k = 0; !rc && k < section->entries.length; k++) {
            const struct extra_entry *entry = &section->entries.data[k];
            bool wrong = entry->label >= strings || entry->format >= strings || entry->value >= strings;
            rc = wrong ? error_set(err, EINVAL, "meta.extra[%zu].entries[%zu] lacks its label, format or value", i, k)
                       : 0;
        }
    }
    if (!rc && meta->kept_strings > strings)
        rc = error_set(err, EINVAL, "the profile keeps %u strings, but has only %zu", meta->kept_strings, strings);
    if (!rc)
        rc = check_indexes("meta.initialVisibleThreads", meta->initial_visible_threads.data,
                           meta->initial_visible_threads.length, profile->threads.length, false, err);
    return rc;
}

typedef int (*check)(const struct profile *profile, struct error *err);

static int run_checks(const check *checks, size_t count, const struct profile *profile, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        int rc = checks[i](profile, err);
        if (rc)
            return rc;
    }
    return 0;
}

int profile_check_tables(const struct profile *profile, struct error *err)
{
    const check checks[] = {check_small_tables, check_funcs, check_frames, check_stacks};
    return run_checks(checks, sizeof(checks) / sizeof(*checks), profile, err);
}

int profile_check(const struct profile *profile, struct error *err)
{
    const check checks[] = {check_meta,           check_libs,    check_categories,
                            profile_check_tables, check_threads, check_counters};
    return run_checks(checks, sizeof(checks) / sizeof(*checks), profile, err);
}
