#include "profile/build_samples.h"

#include "base/hash.h"
#include "profile/append.h"
#include "profile/sort_samples.h"

int build_times(struct build *build, struct column *time, struct column *deltas, size_t rows, const char *path)
{
    bool is_finite = false;
    build_truncate_column(time, rows);
    build_truncate_column(deltas, rows);
    if (!time->present && deltas->present) {
        *time = *deltas;
        *deltas = (struct column){0};
        double *times = time->data, now = 0;
        for (size_t i = 0; i < time->length; i++)
            times[i] = now += times[i];
        is_finite = isfinite(now); /* a value that is not finite makes all later sums not finite */
    }
    if (!time->present && rows)
        return error_set(build->err, EINVAL, "%s has neither time nor timeDeltas", path);
    /* The Firefox Profiler shifts the first time of the tables of child processes. In empty tables, the
     * shifted time becomes null. */
    if (time->length != rows && rows)
        return error_set(build->err, EINVAL, "%s has %zu times, but %zu rows", path, time->length, rows);
    const double *times = time->data;
    for (size_t i = 0; !is_finite && i < rows; i++)
        if (!isfinite(times[i]))
            return error_set(build->err, EINVAL, "%s: the time of row %zu is null", path, i);
    return 0;
}

/* ---- the table ---- */

static bool text_equals(const struct build *build, uint32_t text, const char *wanted)
{
    return text != PROFILE_NONE && strcmp(strings_text(&build->raw->texts, text), wanted) == 0;
}

/* Builds the column of wakers. Drops a column with another length, because tools that remove samples may not know the
 * column. */
static int build_wakers(struct build *build, struct raw_samples *raw, struct sample_table *samples)
{
    int code = 0;
    if (raw->waker.length != samples->length)
        return 0;
    samples->waker = build_take_column(&raw->waker);
    for (size_t i = 0; samples->waker && i < samples->length && !code; i++)
        if (text_equals(build, samples->waker[i], "")) /* null */
            samples->waker[i] = PROFILE_NONE;
        else
            code = build_text(build, &samples->waker[i]);
    return code;
}

/* Returns whether the table of stacks is complete, so that the stacks of wakers are valid. */
static bool has_all_stacks(const struct build *build, const struct raw_samples *raw)
{
    return !raw->stack_table_length || raw->stack_table_length - 1 == build->profile->stacks.length;
}

static int build_table(struct build *build, struct raw_samples *raw, const char *path, struct sample_table *samples)
{
    size_t rows = build_rows(raw->length, &raw->stack);
    const struct {
        const char *key;
        struct column *column;
        bool is_needed;
    } columns[] = {{"stack", &raw->stack, true},
                   {"weight", &raw->weight, false},
                   {"threadCPUDelta", &raw->cpu_delta, false},
                   {"memoryAddress", &raw->address, false}};
    build_truncate_column(&raw->waker, rows);
    build_truncate_column(&raw->waker_stack, rows);
    for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
        build_truncate_column(columns[i].column, rows);
        if ((columns[i].is_needed || columns[i].column->present) && columns[i].column->length != rows)
            return error_set(build->err, EINVAL, "%s.%s has %zu entries, but its table has %zu rows", path,
                             columns[i].key, columns[i].column->length, rows);
    }
    int code = build_times(build, &raw->time, &raw->time_deltas, rows, path);
    if (code)
        return code;
    if (text_equals(build, raw->weight_type, "tracing-ms"))
        samples->weight_type = WEIGHT_TRACING_MS;
    else if (text_equals(build, raw->weight_type, "bytes"))
        samples->weight_type = WEIGHT_BYTES;
    samples->stack = build_take_column(&raw->stack);
    samples->time = build_take_column(&raw->time);
    samples->weight = build_take_column(&raw->weight);
    samples->cpu_delta = build_take_column(&raw->cpu_delta);
    samples->address = build_take_column(&raw->address);
    samples->length = rows;
    if (raw->waker_stack.length == rows && has_all_stacks(build, raw))
        samples->waker_stack = build_take_column(&raw->waker_stack);
    code = build_wakers(build, raw, samples);
    if (code)
        return code;
    if (samples_are_sorted(samples->time, rows))
        return 0;
    build->sorted = true;
    return samples_sort(samples) ? 0 : error_no_memory(build->err);
}

/* ---- allocations ---- */

/* Finds the allocation of each deallocation: the last unfreed allocation at its address. An address is a number of at
 * most 53 bits in the file. */
static int pair_allocations(struct build *build, struct sample_table *table)
{
    struct hash live = {0}; /* maps the bits of an address to a row */
    bool done = (table->partner = malloc((table->length + 1) * sizeof(*table->partner))) != NULL;
    for (uint32_t i = 0; done && i < table->length; i++) {
        uint64_t address;
        memcpy(&address, &table->address[i], sizeof(address));
        table->partner[i] = PROFILE_NONE;
        if (isnan(table->address[i]))
            continue;
        if (table->weight[i] >= 0) {
            done = hash_set(&live, address, i);
            continue;
        }
        uint32_t allocation = hash_get(&live, address);
        if (allocation == HASH_MISSING)
            continue;
        table->partner[i] = allocation;
        table->partner[allocation] = i;
        hash_remove(&live, address);
    }
    hash_destroy(&live);
    return done ? 0 : error_no_memory(build->err);
}

static int build_allocations(struct build *build, struct raw_samples *raw, const char *path, struct thread *thread)
{
    struct sample_table *table = array_push_zero(&thread->more);
    if (!table)
        return error_no_memory(build->err);
    int code = build_table(build, raw, path, table);
    table->weight_type = WEIGHT_BYTES;
    if (!code && !table->weight && table->length)
        return error_set(build->err, EINVAL, "%s has no weights, which are the bytes of allocations", path);
    return code || !table->address ? code : pair_allocations(build, table);
}

/* ---- events ---- */

/* Returns the index of the event in meta.events, or PROFILE_NONE if the event is missing. */
static uint32_t find_event(const struct build *build, uint32_t name)
{
    const struct profile *profile = build->profile;
    for (uint32_t i = 0; i < profile->meta.events.length; i++)
        if (text_equals(build, name, strings_text(&profile->strings, profile->meta.events.data[i].name)))
            return i;
    return PROFILE_NONE;
}

static int build_events(struct build *build, struct raw_thread *raw, size_t index, struct thread *thread)
{
    char path[64];
    int code = 0;
    for (size_t i = 0; !code && i < raw->events.length; i++) {
        uint32_t event = find_event(build, raw->events.data[i]->event);
        if (event == PROFILE_NONE)
            continue;
        while (thread->more.length < TABLE_EVENTS + (size_t)event)
            if (!array_push_zero(&thread->more))
                return error_no_memory(build->err);
        struct sample_table *table = &thread->more.data[TABLE_EVENTS + event - 1];
        if (table->stack)
            continue; /* a duplicate */
        snprintf(path, sizeof(path), "threads[%zu].eventSamples[%zu]", index, i);
        code = build_table(build, &raw->events.data[i]->samples, path, table);
    }
    return code;
}

static int build_all_allocations(struct build *build, struct raw_thread *raw, size_t index, struct thread *thread)
{
    char path[64];
    const struct raw_samples *js = &raw->js_allocations, *native = &raw->native_allocations;
    if (!js->stack.present && !js->weight.present && !native->stack.present && !native->weight.present)
        return 0;
    snprintf(path, sizeof(path), "threads[%zu].jsAllocations", index);
    int code = build_allocations(build, &raw->js_allocations, path, thread);
    snprintf(path, sizeof(path), "threads[%zu].nativeAllocations", index);
    return code ? code : build_allocations(build, &raw->native_allocations, path, thread);
}

/* ---- slices ---- */

/* `path` is the place of the slices in the file, for errors. */
static int build_slices(struct build *build, struct raw_slices *raw, const char *path, struct slice_table *slices)
{
    size_t rows = build_rows(raw->length, &raw->cpu);
    struct column *columns[] = {&raw->cpu, &raw->duration, &raw->off_cpu};
    for (size_t i = 0; rows && i < sizeof(columns) / sizeof(*columns); i++) {
        build_truncate_column(columns[i], rows);
        if (columns[i]->length != rows)
            return error_set(build->err, EINVAL, "%s has %zu rows, but a column of %zu", path, rows,
                             columns[i]->length);
    }
    int code = rows ? build_times(build, &raw->time, &raw->time_deltas, rows, path) : 0;
    if (code || !rows)
        return code;
    *slices = (struct slice_table){.cpu = build_take_column(&raw->cpu),
                                   .start = build_take_column(&raw->time),
                                   .end = build_take_column(&raw->duration),
                                   .off_cpu = build_take_column(&raw->off_cpu),
                                   .length = rows};
    for (size_t i = 0; i < rows; i++) {
        double length = slices->end[i];
        slices->end[i] += slices->start[i];
        if (!(length >= 0 && slices->off_cpu[i] >= 0 && slices->off_cpu[i] <= length && isfinite(slices->end[i])) ||
            slices->cpu[i] == PROFILE_NONE || (i && slices->start[i] < slices->start[i - 1]))
            return error_set(build->err, EINVAL, "%s: row %zu has no CPU or impossible times", path, i);
    }
    return 0;
}

/* ---- pieces of a growing profile ---- */

/* Returns the sample table of a piece. NULL if memory ran out, or, with `code` set, if the table does not exist. */
static struct sample_table *find_added_table(struct build *build, const struct raw_added *raw)
{
    struct thread *thread = &build->profile->threads.data[raw->thread];
    uint32_t event = raw->event == PROFILE_NONE ? 0 : find_event(build, raw->event);
    if (raw->event == PROFILE_NONE)
        return &thread->samples;
    while (event != PROFILE_NONE && thread->more.length < TABLE_EVENTS + (size_t)event)
        if (!array_push_zero(&thread->more))
            event = PROFILE_NONE;
    return event == PROFILE_NONE ? NULL : &thread->more.data[TABLE_EVENTS + event - 1];
}

static int build_added_slices(struct build *build, struct raw_added *raw, const char *path)
{
    struct slice_table rows = {0};
    int code = build_slices(build, &raw->slices, path, &rows);
    if (!code)
        code = slice_table_append(&build->profile->threads.data[raw->thread].slices, &rows, build->err);
    slice_table_free(&rows);
    return code;
}

static int build_added_rows(struct build *build, struct raw_added *raw, const char *path)
{
    struct sample_table *table = raw->thread < build->profile->threads.length ? find_added_table(build, raw) : NULL,
                        rows = {0};
    if (!table)
        return error_set(build->err, EINVAL, "%s belong to no thread or event of the profile", path);
    if (raw->slices.cpu.length)
        return build_added_slices(build, raw, path);
    int code = build_table(build, &raw->samples, path, &rows);
    if (!table->joins)
        table->joins = build->profile->meta.added_from ? (size_t)raw->first + 1 : 1;
    if (!code && raw->first < table->joins - 1)
        code = error_set(build->err, EINVAL, "%s repeat earlier rows", path);
    if (!code)
        code = sample_table_append(table, raw->first - (table->joins - 1), &rows, build->err);
    sample_table_free(&rows);
    return code;
}

int build_added_samples(struct build *build)
{
    char path[64];
    int code = 0;
    for (size_t i = 0; !code && i < build->raw->added.length; i++) {
        snprintf(path, sizeof(path), "added[%zu]", i);
        if (!build->raw->added.data[i]->tables.length)
            code = build_added_rows(build, build->raw->added.data[i], path);
    }
    return code;
}

int build_samples(struct build *build, struct raw_thread *raw, size_t index, struct thread *thread)
{
    char path[64];
    snprintf(path, sizeof(path), "threads[%zu].samples", index);
    int code = build_table(build, &raw->samples, path, &thread->samples);
    if (!code)
        code = build_all_allocations(build, raw, index, thread);
    snprintf(path, sizeof(path), "threads[%zu].cpuSlices", index);
    if (!code)
        code = build_slices(build, &raw->slices, path, &thread->slices);
    return code ? code : build_events(build, raw, index, thread);
}

/* ---- CPU time ---- */

/* Estimates the number of CPU time units in 1 ms, if the profile lacks it: the highest rate of any thread. */
static double find_highest_rate(const struct profile *profile)
{
    double most = 0;
    for (size_t t = 0; t < profile->threads.length; t++) {
        const struct sample_table *samples = &profile->threads.data[t].samples;
        for (size_t i = 1; samples->cpu_delta && i < samples->length; i++) {
            double rate = samples->cpu_delta[i] / (samples->time[i] - samples->time[i - 1]);
            if (isfinite(rate) && rate > most)
                most = rate;
        }
    }
    return most;
}

/* Returns the µs per unit of CPU time, or 0 for an unknown unit. */
static double get_microseconds_per_unit(const struct build *build, uint32_t unit)
{
    if (text_equals(build, unit, "\xc2\xb5s") || text_equals(build, unit, "\xce\xbcs") ||
        text_equals(build, unit, "us"))
        return 1;
    if (text_equals(build, unit, "ns"))
        return 1e-3;
    if (text_equals(build, unit, "variable CPU cycles")) {
        double most = find_highest_rate(build->profile);
        return most > 0 ? 1000 / most : 0;
    }
    return 0;
}

void build_cpu_deltas(struct build *build, uint32_t unit)
{
    struct profile *profile = build->profile;
    double scale = build->cpu_scale = get_microseconds_per_unit(build, unit);
    profile->meta.has_cpu_delta = scale > 0;
    for (size_t t = 0; t < profile->threads.length; t++) {
        struct sample_table *samples = &profile->threads.data[t].samples;
        if (scale == 0) {
            free(samples->cpu_delta);
            samples->cpu_delta = NULL;
        }
        for (size_t i = 0; scale != 1 && samples->cpu_delta && i < samples->length; i++)
            samples->cpu_delta[i] *= scale;
    }
}
