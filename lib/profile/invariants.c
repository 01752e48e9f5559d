/*
 * Checks the invariants of a profile, so that code for a checked profile needs no bounds checks. An error names the
 * location as the file does ("shared.stackTable.frame[17]"), so that the author of the producer can fix it.
 */
#include "profile/profile.h"

/* Values that must be row indexes: a column, or a member of each struct of an array. */
struct reference {
    const char *name;
    const void *first;
    size_t size;   /* bytes from one value to the next */
    size_t rows;   /* number of rows of the table that the indexes refer to */
    bool optional; /* PROFILE_NONE is allowed */
};

#define LENGTH_OF(list)               (sizeof(list) / sizeof(*(list)))
#define COLUMN(values)                (values), sizeof(*(values))
#define MEMBER(structs, member)       (structs) ? &(structs)->member : NULL, sizeof(*(structs))
#define CHECK(path, list, count, err) check_references((path), (list), LENGTH_OF(list), (count), (err))

/* Fails with the path of a wrong index. `place` is the path without the row: "shared.sources.id" of
 * "shared.sources.id[3]". */
static int fail_wrong_reference(const char *place, size_t i, uint32_t value, size_t rows, struct error *err)
{
    if (value == PROFILE_NONE)
        return error_set(err, EINVAL, "%s[%zu] is missing", place, i);
    return error_set(err, EINVAL, "%s[%zu] is %u, but that table has only %zu rows", place, i, value, rows);
}

/* Checks the `length` rows of the table at `path`. */
static int check_references(const char *path, const struct reference *list, size_t count, size_t length,
                            struct error *err)
{
    for (const struct reference *reference = list; reference < list + count; reference++) {
        const char *at = reference->first;
        for (size_t i = 0; i < length; i++, at += reference->size) {
            uint32_t value = *(const uint32_t *)(const void *)at;
            if (value < reference->rows || (reference->optional && value == PROFILE_NONE))
                continue;
            char place[128];
            snprintf(place, sizeof(place), "%s.%s", path, reference->name);
            return fail_wrong_reference(place, i, value, reference->rows, err);
        }
    }
    return 0;
}

static int check_stacks(const struct profile *profile, struct error *err)
{
    const struct stack_table *stacks = &profile->stacks;
    const struct profile_rows *before = &profile->meta.rows_before;
    for (size_t i = 0; i < stacks->length; i++)
        if (stacks->prefix[i] >= before->stacks + i && stacks->prefix[i] != PROFILE_NONE)
            return error_set(
                err, EINVAL,
                "shared.stackTable: the caller of stack %zu is stack %u, which must come earlier in the table", i,
                stacks->prefix[i]);
    const struct reference columns[] = {
        {"frame", COLUMN(stacks->frame), before->frames + profile->frames.length, false}};
    return CHECK("shared.stackTable", columns, stacks->length, err);
}

static int check_subcategories(const struct profile *profile, struct error *err)
{
    const struct frame_table *frames = &profile->frames;
    for (size_t i = 0; i < frames->length; i++) {
        uint32_t category = frames->category[i], subcategory = frames->subcategory[i];
        if ((category == PROFILE_NONE) != (subcategory == PROFILE_NONE))
            return error_set(
                err, EINVAL,
                "shared.frameTable: frame %zu has a category without subcategory, or a subcategory without category",
                i);
        if (category == PROFILE_NONE)
            continue;
        size_t subcategories = profile->categories.data[category].subcategories.length;
        if (subcategory >= subcategories)
            return fail_wrong_reference("shared.frameTable.subcategory", i, subcategory, subcategories, err);
    }
    return 0;
}

static int check_frames(const struct profile *profile, struct error *err)
{
    const struct frame_table *frames = &profile->frames;
    const struct profile_rows *before = &profile->meta.rows_before;
    const struct reference columns[] = {
        {"func", COLUMN(frames->func), before->funcs + profile->funcs.length, false},
        {"lib", COLUMN(frames->lib), profile->libs.length, true},
        {"nativeSymbol", COLUMN(frames->native_symbol), before->native_symbols + profile->native_symbols.length, true},
        {"category", COLUMN(frames->category), profile->categories.length, true},
    };
    int code = CHECK("shared.frameTable", columns, frames->length, err);
    return code ? code : check_subcategories(profile, err);
}

static int check_funcs(const struct profile *profile, struct error *err)
{
    const struct func_table *funcs = &profile->funcs;
    const struct profile_rows *before = &profile->meta.rows_before;
    const struct reference columns[] = {
        {"name", COLUMN(funcs->name), profile->strings.entries.length, false},
        {"resource", COLUMN(funcs->resource), before->resources + profile->resources.length, true},
        {"source", COLUMN(funcs->source), before->sources + profile->sources.length, true},
    };
    return CHECK("shared.funcTable", columns, funcs->length, err);
}

static int check_resources(const struct profile *profile, struct error *err)
{
    size_t strings = profile->strings.entries.length;
    const struct resource *rows = profile->resources.data;
    const struct reference members[] = {{"name", MEMBER(rows, name), strings, false},
                                        {"host", MEMBER(rows, host), strings, true}};
    return CHECK("shared.resourceTable", members, profile->resources.length, err);
}

static int check_native_symbols(const struct profile *profile, struct error *err)
{
    size_t strings = profile->strings.entries.length;
    const struct native_symbol *rows = profile->native_symbols.data;
    const struct reference members[] = {{"name", MEMBER(rows, name), strings, false},
                                        {"libIndex", MEMBER(rows, lib), profile->libs.length, false}};
    return CHECK("shared.nativeSymbols", members, profile->native_symbols.length, err);
}

static int check_sources(const struct profile *profile, struct error *err)
{
    size_t strings = profile->strings.entries.length;
    const struct source *rows = profile->sources.data;
    const struct reference members[] = {{"filename", MEMBER(rows, filename), strings, false},
                                        {"id", MEMBER(rows, id), strings, true},
                                        {"content", MEMBER(rows, content), strings, true},
                                        {"sourceMapURL", MEMBER(rows, source_map_url), strings, true}};
    return CHECK("shared.sources", members, profile->sources.length, err);
}

static int check_libs(const struct profile *profile, struct error *err)
{
    size_t strings = profile->strings.entries.length;
    const struct library *rows = profile->libs.data;
    const struct reference members[] = {{"arch", MEMBER(rows, arch), strings, true},
                                        {"name", MEMBER(rows, name), strings, true},
                                        {"path", MEMBER(rows, path), strings, true},
                                        {"debugName", MEMBER(rows, debug_name), strings, true},
                                        {"debugPath", MEMBER(rows, debug_path), strings, true},
                                        {"breakpadId", MEMBER(rows, breakpad_id), strings, true},
                                        {"codeId", MEMBER(rows, code_id), strings, true}};
    return CHECK("libs", members, profile->libs.length, err);
}

static int check_categories(const struct profile *profile, struct error *err)
{
    size_t strings = profile->strings.entries.length;
    const struct category *rows = profile->categories.data;
    const struct reference members[] = {{"name", MEMBER(rows, name), strings, false},
                                        {"color", MEMBER(rows, color), strings, false}};
    int code = CHECK("meta.categories", members, profile->categories.length, err);
    for (size_t i = 0; !code && i < profile->categories.length; i++) {
        const struct reference names[] = {{"subcategories", COLUMN(rows[i].subcategories.data), strings, false}};
        code = CHECK("meta.categories", names, rows[i].subcategories.length, err);
    }
    return code;
}

/* Returns whether all samples are valid, without a branch per sample, so the compiler vectorizes the loop. The times
 * ascend, so the first and the last time bound all times. */
static bool are_samples_valid(const struct sample_table *samples, size_t stacks)
{
    uint32_t wrong_stacks = 0;
    uint64_t wrong_times = 0, wrong_weights = 0;
    size_t length = samples->length;
    for (size_t i = 0; i < length; i++)
        wrong_stacks |= samples->stack[i] + 1 > stacks; /* PROFILE_NONE + 1 is 0 */
    for (size_t i = 0; samples->waker_stack && i < length; i++)
        wrong_stacks |= samples->waker_stack[i] + 1 > stacks;
    for (size_t i = 1; i < length; i++)
        wrong_times |= !(samples->time[i] >= samples->time[i - 1]);
    for (size_t i = 0; samples->weight && i < length; i++)
        wrong_weights |= !isfinite(samples->weight[i]);
    bool is_finite = length == 0 || (isfinite(samples->time[0]) && isfinite(samples->time[length - 1]));
    return is_finite && !wrong_stacks && !wrong_times && !wrong_weights;
}

static int check_samples(const struct profile *profile, size_t thread, enum sample_table_kind kind, struct error *err)
{
    static const char *const keys[] = {"samples", "jsAllocations", "nativeAllocations", "eventSamples"};
    const struct sample_table *samples = thread_samples(&profile->threads.data[thread], kind);
    const char *key = keys[kind < TABLE_EVENTS ? kind : TABLE_EVENTS];
    size_t stacks = profile->meta.rows_before.stacks + profile->stacks.length;
    if (are_samples_valid(samples, stacks))
        return 0;
    for (size_t i = 0; i < samples->length; i++) {
        if (samples->stack[i] >= stacks && samples->stack[i] != PROFILE_NONE)
            return error_set(err, EINVAL, "threads[%zu].%s.stack[%zu] is %u, but the table has only %zu stacks", thread,
                             key, i, samples->stack[i], stacks);
        if (samples->waker_stack && samples->waker_stack[i] >= stacks && samples->waker_stack[i] != PROFILE_NONE)
            return error_set(err, EINVAL, "threads[%zu].%s.wakerStack[%zu] is %u, but the table has only %zu stacks",
                             thread, key, i, samples->waker_stack[i], stacks);
        if (!isfinite(samples->time[i]) || (i && samples->time[i] < samples->time[i - 1]))
            return error_set(err, EINVAL, "threads[%zu].%s.time[%zu] is earlier than the previous sample", thread, key,
                             i);
        if (samples->weight && !isfinite(samples->weight[i]))
            return error_set(err, EINVAL, "threads[%zu].%s.weight[%zu] is not a number", thread, key, i);
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

static int check_comparison(const struct profile *profile, struct error *err)
{
    const struct profile_comparison *comparison = &profile->meta.comparison;
    size_t strings = profile->strings.entries.length;
    if (!profile_is_comparison(profile))
        return 0;
    const struct reference names[] = {{"name", COLUMN(comparison->name), strings, false}};
    int code = CHECK("meta.comparison", names, PROFILE_SIDES, err);
    if (!code && comparison->runs[SIDE_NEW] == 0)
        code = error_set(err, EINVAL, "meta.comparison has no runs of the new side");
    if (!code && comparison->scaled_by != PROFILE_NONE && comparison->scaled_by >= strings)
        code = error_set(err, EINVAL, "meta.comparison.scaledBy is out of range");
    for (size_t i = 0; !code && i < profile->threads.length; i++)
        if (profile->threads.data[i].side >= PROFILE_SIDES)
            code = error_set(err, EINVAL, "threads[%zu].comparisonSide is out of range", i);
    return code;
}

static int check_threads(const struct profile *profile, struct error *err)
{
    size_t strings = profile->strings.entries.length;
    if (profile->threads.length == 0)
        return error_set(err, EINVAL, "the profile has no threads");
    const struct thread *rows = profile->threads.data;
    const struct reference members[] = {{"name", MEMBER(rows, name), strings, false},
                                        {"processName", MEMBER(rows, process_name), strings, true},
                                        {"processType", MEMBER(rows, process_type), strings, false},
                                        {"pid", MEMBER(rows, pid), strings, false},
                                        {"tid", MEMBER(rows, tid), strings, false}};
    int code = CHECK("threads", members, profile->threads.length, err);
    for (size_t i = 0; !code && i < profile->threads.length; i++) {
        for (int kind = TABLE_SAMPLES; !code && kind < SAMPLE_TABLES; kind++)
            code = check_samples(profile, i, (enum sample_table_kind)kind, err);
        if (!code)
            code = check_markers(profile, i, err);
    }
    return code;
}

static int check_counters(const struct profile *profile, struct error *err)
{
    size_t strings = profile->strings.entries.length;
    const struct counter *rows = profile->counters.data;
    const struct reference members[] = {{"mainThreadIndex", MEMBER(rows, main_thread), profile->threads.length, false},
                                        {"name", MEMBER(rows, name), strings, false},
                                        {"category", MEMBER(rows, category), strings, false},
                                        {"description", MEMBER(rows, description), strings, false},
                                        {"pid", MEMBER(rows, pid), strings, false},
                                        {"display", MEMBER(rows, json), strings, true}};
    int code = CHECK("counters", members, profile->counters.length, err);
    for (size_t i = 0; !code && i < profile->counters.length; i++)
        for (size_t k = 0; !code && k < rows[i].length; k++)
            if (!isfinite(rows[i].time[k]) || !isfinite(rows[i].count[k]) ||
                (k && rows[i].time[k] < rows[i].time[k - 1]))
                code =
                    error_set(err, EINVAL,
                              "counters[%zu].samples[%zu] is earlier than the previous sample, or not a number", i, k);
    return code;
}

static int check_meta(const struct profile *profile, struct error *err)
{
    const struct profile_meta *meta = &profile->meta;
    const struct thread_list *visible = &meta->initial_visible_threads, *selected = &meta->initial_selected_threads;
    size_t strings = profile->strings.entries.length, threads = profile->threads.length;
    const uint32_t texts[] = {meta->product,       meta->os,        meta->abi,           meta->platform,
                              meta->cpu_name,      meta->arguments, meta->imported_from, meta->misc,
                              meta->marker_schema, meta->warning,   meta->added_next};
    const struct reference text[] = {{"text", COLUMN(texts), strings, true}};
    const struct reference shown[] = {{"initialVisibleThreads", COLUMN(visible->data), threads, false}};
    const struct reference chosen[] = {{"initialSelectedThreads", COLUMN(selected->data), threads, false}};
    const struct extra_section *sections = meta->extra.data;
    const struct reference label[] = {{"label", MEMBER(sections, label), strings, false}};
    int code = CHECK("meta", text, LENGTH_OF(texts), err);
    if (!code)
        code = CHECK("meta.extra", label, meta->extra.length, err);
    for (size_t i = 0; !code && i < meta->extra.length; i++) {
        const struct extra_entry *entries = sections[i].entries.data;
        const struct reference members[] = {{"label", MEMBER(entries, label), strings, false},
                                            {"format", MEMBER(entries, format), strings, false},
                                            {"value", MEMBER(entries, value), strings, false}};
        code = CHECK("meta.extra.entries", members, sections[i].entries.length, err);
    }
    if (!code && meta->kept_strings > strings)
        code = error_set(err, EINVAL, "the profile reserves %u strings, but has only %zu", meta->kept_strings, strings);
    if (!code)
        code = CHECK("meta", shown, visible->length, err);
    if (!code)
        code = CHECK("meta", chosen, selected->length, err);
    return code ? code : check_comparison(profile, err);
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
