/*
 * Checks the invariants of a profile: code that works on a checked profile needs no bounds checks of its own. An error
 * names the location as the file does ("shared.stackTable.frame[17]"), so that the author of the producer can fix it.
 */
#include "profile/profile.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

/* Values that have to be indexes of rows: a whole column of them, or one in each of several columns of a row. */
struct reference {
    const char *column; /* its name; for a whole column where it is in the file */
    const uint32_t *values;
    size_t rows;   /* of the table that they point into */
    bool optional; /* PROFILE_NONE is allowed */
};

#define LENGTH_OF(list) (sizeof(list) / sizeof(*(list)))

static bool points_to_a_row(const struct reference *reference, uint32_t value)
{
    return value < reference->rows || (reference->optional && value == PROFILE_NONE);
}

/* `place` is "shared.sources.id[3]" without its number. */
static int wrong_reference(const char *place, size_t i, uint32_t value, size_t rows, struct error *err)
{
    if (value == PROFILE_NONE)
        return error_set(err, EINVAL, "%s[%zu] is missing", place, i);
    return error_set(err, EINVAL, "%s[%zu] is %u, but that table has only %zu rows", place, i, value, rows);
}

static int check_columns(const struct reference *columns, size_t count, size_t length, struct error *err)
{
    for (const struct reference *column = columns; column < columns + count; column++)
        for (size_t i = 0; i < length; i++)
            if (!points_to_a_row(column, column->values[i]))
                return wrong_reference(column->column, i, column->values[i], column->rows, err);
    return 0;
}

/* Row `i` of the table at `path`. */
static int check_row(const char *path, size_t i, const struct reference *cells, size_t count, struct error *err)
{
    for (const struct reference *cell = cells; cell < cells + count; cell++) {
        if (points_to_a_row(cell, *cell->values))
            continue;
        char place[128];
        snprintf(place, sizeof(place), "%s.%s", path, cell->column);
        return wrong_reference(place, i, *cell->values, cell->rows, err);
    }
    return 0;
}

static int check_stacks(const struct profile *profile, struct error *err)
{
    const struct stack_table *stacks = &profile->stacks;
    for (size_t i = 0; i < stacks->length; i++)
        if (stacks->prefix[i] >= i && stacks->prefix[i] != PROFILE_NONE)
            return error_set(err, EINVAL,
                             "shared.stackTable: the caller of stack %zu is stack %u, which does not come before it", i,
                             stacks->prefix[i]);
    const struct reference frame = {"shared.stackTable.frame", stacks->frame, profile->frames.length, false};
    return check_columns(&frame, 1, stacks->length, err);
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
        size_t subcategories = profile->categories.data[category].subcategories.length;
        if (subcategory >= subcategories)
            return wrong_reference("shared.frameTable.subcategory", i, subcategory, subcategories, err);
    }
    return 0;
}

static int check_frames(const struct profile *profile, struct error *err)
{
    const struct frame_table *frames = &profile->frames;
    const struct reference columns[] = {
        {"shared.frameTable.func", frames->func, profile->funcs.length, false},
        {"shared.frameTable.lib", frames->lib, profile->libs.length, true},
        {"shared.frameTable.nativeSymbol", frames->native_symbol, profile->native_symbols.length, true},
        {"shared.frameTable.category", frames->category, profile->categories.length, true},
    };
    int code = check_columns(columns, LENGTH_OF(columns), frames->length, err);
    return code ? code : check_subcategories(profile, err);
}

static int check_funcs(const struct profile *profile, struct error *err)
{
    const struct func_table *funcs = &profile->funcs;
    const struct reference columns[] = {
        {"shared.funcTable.name", funcs->name, profile->strings.entries.length, false},
        {"shared.funcTable.resource", funcs->resource, profile->resources.length, true},
        {"shared.funcTable.source", funcs->source, profile->sources.length, true},
    };
    return check_columns(columns, LENGTH_OF(columns), funcs->length, err);
}

static int check_resources(const struct profile *profile, struct error *err)
{
    size_t strings = profile->strings.entries.length;
    int code = 0;
    for (size_t i = 0; !code && i < profile->resources.length; i++) {
        const struct resource *row = &profile->resources.data[i];
        const struct reference cells[] = {{"name", &row->name, strings, false}, {"host", &row->host, strings, true}};
        code = check_row("shared.resourceTable", i, cells, LENGTH_OF(cells), err);
    }
    return code;
}

static int check_native_symbols(const struct profile *profile, struct error *err)
{
    size_t strings = profile->strings.entries.length;
    int code = 0;
    for (size_t i = 0; !code && i < profile->native_symbols.length; i++) {
        const struct native_symbol *row = &profile->native_symbols.data[i];
        const struct reference cells[] = {{"name", &row->name, strings, false},
                                          {"libIndex", &row->lib, profile->libs.length, false}};
        code = check_row("shared.nativeSymbols", i, cells, LENGTH_OF(cells), err);
    }
    return code;
}

static int check_sources(const struct profile *profile, struct error *err)
{
    size_t strings = profile->strings.entries.length;
    int code = 0;
    for (size_t i = 0; !code && i < profile->sources.length; i++) {
        const struct source *row = &profile->sources.data[i];
        const struct reference cells[] = {{"filename", &row->filename, strings, false},
                                          {"id", &row->id, strings, true},
                                          {"content", &row->content, strings, true},
                                          {"sourceMapURL", &row->source_map_url, strings, true}};
        code = check_row("shared.sources", i, cells, LENGTH_OF(cells), err);
    }
    return code;
}

static int check_libs(const struct profile *profile, struct error *err)
{
    size_t strings = profile->strings.entries.length;
    int code = 0;
    for (size_t i = 0; !code && i < profile->libs.length; i++) {
        const struct library *lib = &profile->libs.data[i];
        const struct reference cells[] = {{"arch", &lib->arch, strings, true},
                                          {"name", &lib->name, strings, true},
                                          {"path", &lib->path, strings, true},
                                          {"debugName", &lib->debug_name, strings, true},
                                          {"debugPath", &lib->debug_path, strings, true},
                                          {"breakpadId", &lib->breakpad_id, strings, true},
                                          {"codeId", &lib->code_id, strings, true}};
        code = check_row("libs", i, cells, LENGTH_OF(cells), err);
    }
    return code;
}

static int check_categories(const struct profile *profile, struct error *err)
{
    size_t strings = profile->strings.entries.length;
    int code = 0;
    for (size_t i = 0; !code && i < profile->categories.length; i++) {
        const struct category *category = &profile->categories.data[i];
        const struct reference cells[] = {{"name", &category->name, strings, false},
                                          {"color", &category->color, strings, false}};
        const struct reference subcategories = {"meta.categories.subcategories", category->subcategories.data, strings,
                                                false};
        code = check_row("meta.categories", i, cells, LENGTH_OF(cells), err);
        if (!code)
            code = check_columns(&subcategories, 1, category->subcategories.length, err);
    }
    return code;
}

/* Whether a look at each sample can be saved. There are millions of them, and without a branch for each the compiler
 * takes several at once. Times that never fall lie between the first and the last. */
static bool are_samples_right(const struct sample_table *samples, size_t stacks)
{
    uint32_t wrong_stacks = 0;
    uint64_t wrong_times = 0, wrong_weights = 0;
    size_t length = samples->length;
    for (size_t i = 0; i < length; i++)
        wrong_stacks |= samples->stack[i] + 1 > stacks; /* PROFILE_NONE + 1 is 0 */
    for (size_t i = 1; i < length; i++)
        wrong_times |= !(samples->time[i] >= samples->time[i - 1]);
    for (size_t i = 0; samples->weight && i < length; i++)
        wrong_weights |= !isfinite(samples->weight[i]);
    bool is_finite = length == 0 || (isfinite(samples->time[0]) && isfinite(samples->time[length - 1]));
    return is_finite && !wrong_stacks && !wrong_times && !wrong_weights;
}

static int check_samples(const struct profile *profile, size_t thread, struct error *err)
{
    const struct sample_table *samples = &profile->threads.data[thread].samples;
    if (are_samples_right(samples, profile->stacks.length))
        return 0;
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
    int code = 0;
    for (size_t i = 0; !code && i < profile->threads.length; i++) {
        const struct thread *thread = &profile->threads.data[i];
        const struct reference cells[] = {{"name", &thread->name, strings, false},
                                          {"processName", &thread->process_name, strings, true},
                                          {"processType", &thread->process_type, strings, false},
                                          {"pid", &thread->pid, strings, false},
                                          {"tid", &thread->tid, strings, false}};
        code = check_row("threads", i, cells, LENGTH_OF(cells), err);
        if (!code)
            code = check_samples(profile, i, err);
        if (!code)
            code = check_markers(profile, i, err);
    }
    return code;
}

static int check_counters(const struct profile *profile, struct error *err)
{
    size_t strings = profile->strings.entries.length;
    for (size_t i = 0; i < profile->counters.length; i++) {
        const struct counter *counter = &profile->counters.data[i];
        const struct reference cells[] = {{"mainThreadIndex", &counter->main_thread, profile->threads.length, false},
                                          {"name", &counter->name, strings, false},
                                          {"category", &counter->category, strings, false},
                                          {"description", &counter->description, strings, false},
                                          {"pid", &counter->pid, strings, false},
                                          {"display", &counter->json, strings, true}};
        int code = check_row("counters", i, cells, LENGTH_OF(cells), err);
        if (code)
            return code;
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
    const struct reference text = {"meta: text", texts, strings, true};
    int code = check_columns(&text, 1, LENGTH_OF(texts), err);
    for (size_t i = 0; !code && i < meta->extra.length; i++) {
        const struct extra_section *section = &meta->extra.data[i];
        const struct reference label = {"label", &section->label, strings, false};
        code = check_row("meta.extra", i, &label, 1, err);
        for (size_t k = 0; !code && k < section->entries.length; k++) {
            const struct extra_entry *entry = &section->entries.data[k];
            bool wrong = entry->label >= strings || entry->format >= strings || entry->value >= strings;
            code = wrong ? error_set(err, EINVAL, "meta.extra[%zu].entries[%zu] lacks its label, format or value", i, k)
                         : 0;
        }
    }
    if (!code && meta->kept_strings > strings)
        code = error_set(err, EINVAL, "the profile keeps %u strings, but has only %zu", meta->kept_strings, strings);
    const struct reference visible = {"meta.initialVisibleThreads", meta->initial_visible_threads.data,
                                      profile->threads.length, false};
    const struct reference selected = {"meta.initialSelectedThreads", meta->initial_selected_threads.data,
                                       profile->threads.length, false};
    if (!code)
        code = check_columns(&visible, 1, meta->initial_visible_threads.length, err);
    if (!code)
        code = check_columns(&selected, 1, meta->initial_selected_threads.length, err);
    return code;
}

typedef int (*check)(const struct profile *profile, struct error *err);

static int run_checks(const check *checks, size_t count, const struct profile *profile, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        int code = checks[i](profile, err);
        if (code)
            return code;
    }
    return 0;
}

int profile_check_tables(const struct profile *profile, struct error *err)
{
    const check checks[] = {check_resources, check_native_symbols, check_sources,
                            check_funcs,     check_frames,         check_stacks};
    return run_checks(checks, LENGTH_OF(checks), profile, err);
}

int profile_check(const struct profile *profile, struct error *err)
{
    const check checks[] = {check_meta,           check_libs,    check_categories,
                            profile_check_tables, check_threads, check_counters};
    return run_checks(checks, LENGTH_OF(checks), profile, err);
}
