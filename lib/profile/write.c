/*
 * The order of a profile file: meta, libs, shared tables, then thread by thread. A sample table is written a column at
 * a time, as the format requires; columns also compress best. Each column is one pass over the sample source.
 *
 * To keep files small, prefixes are offsets; times are deltas and CPU times µs on one grid (quantize.h), so a busy
 * thread has equal numbers in both columns. All readers of version 70 understand this.
 */
#include "profile/write.h"

#include "profile/quantize.h"
#include "profile/write_meta.h"
#include "profile/write_tables.h"

/* Samples in the profile's own tables, as a sample source. */
struct table_source {
    const struct profile *profile;
    const struct sample_table *samples;
    const struct slice_table *slices;
    size_t row;
};

static int table_rewind(void *context, size_t thread, struct error *err)
{
    (void)err;
    struct table_source *source = context;
    source->samples = &source->profile->threads.data[thread].samples;
    source->row = 0;
    return 0;
}

static int table_rewind_event(void *context, size_t thread, size_t event, struct error *err)
{
    (void)err;
    struct table_source *source = context;
    source->samples = thread_samples(&source->profile->threads.data[thread], TABLE_EVENTS + (unsigned)event);
    source->row = 0;
    return 0;
}

static bool table_next(void *context, struct sample_row *row)
{
    struct table_source *source = context;
    const struct sample_table *samples = source->samples;
    if (source->row == samples->length)
        return false;
    size_t i = source->row++;
    *row = (struct sample_row){.stack = samples->stack[i],
                               .time = samples->time[i],
                               .weight = samples->weight ? samples->weight[i] : 1,
                               .cpu_delta = samples->cpu_delta ? samples->cpu_delta[i] : NAN,
                               .waker = samples->waker ? samples->waker[i] : PROFILE_NONE,
                               .waker_stack = samples->waker_stack ? samples->waker_stack[i] : PROFILE_NONE};
    return true;
}

static int table_rewind_slices(void *context, size_t thread, struct error *err)
{
    (void)err;
    struct table_source *source = context;
    source->slices = &source->profile->threads.data[thread].slices;
    source->row = 0;
    return 0;
}

static bool table_next_slice(void *context, struct slice_row *row)
{
    struct table_source *source = context;
    const struct slice_table *slices = source->slices;
    if (source->row == slices->length)
        return false;
    size_t i = source->row++;
    *row = (struct slice_row){slices->cpu[i], slices->start[i], slices->end[i], slices->off_cpu[i]};
    return true;
}

struct profile_writer {
    struct json_writer json;
    const struct profile *profile;
    struct string_map strings;
    struct sample_source samples;
    size_t event; /* 1 + the event whose samples are written, or 0 (the thread's samples) */
    struct table_source tables;
    bool from_tables;
    bool has_grid; /* times are deltas on `grid`; else absolute, with all digits */
    struct time_grid grid;
    double microseconds_per_step;
    struct error *err;
};

/* Begins a pass over the samples of a thread. A source that fails ends the writing. */
static void rewind_samples(struct profile_writer *writer, size_t thread)
{
    const struct sample_source *samples = &writer->samples;
    if (!writer->json.status)
        writer->json.status = writer->event
                                  ? samples->rewind_event(samples->context, thread, writer->event - 1, writer->err)
                                  : samples->rewind(samples->context, thread, writer->err);
}

/* Begins a pass over the samples, and opens the array of a column. */
static void open_samples_column(struct profile_writer *writer, const char *key, size_t thread)
{
    json_member_open(&writer->json, key, '[');
    rewind_samples(writer, thread);
}

static bool next_sample(struct profile_writer *writer, struct sample_row *row)
{
    return !writer->json.status && writer->samples.next(writer->samples.context, row);
}

static void write_stack(struct json_writer *json, uint32_t stack)
{
    if (stack == PROFILE_NONE)
        json_null(json);
    else
        json_unsigned(json, stack);
}

static size_t write_sample_stacks(struct profile_writer *writer, size_t thread)
{
    struct sample_row row;
    size_t count = 0;
    open_samples_column(writer, "stack", thread);
    for (; next_sample(writer, &row); count++)
        write_stack(&writer->json, row.stack);
    json_close(&writer->json, ']');
    return count;
}

static void write_times(struct profile_writer *writer, size_t thread)
{
    struct sample_row row;
    open_samples_column(writer, "time", thread);
    while (next_sample(writer, &row))
        json_double(&writer->json, row.time);
    json_close(&writer->json, ']');
}

static void write_time_deltas(struct profile_writer *writer, size_t thread)
{
    struct sample_row row;
    struct time_quantizer times;
    time_quantizer_init(&times, writer->grid);
    open_samples_column(writer, "timeDeltas", thread);
    while (next_sample(writer, &row))
        json_decimal(&writer->json, time_quantizer_next(&times, row.time) * writer->grid.step, writer->grid.decimals);
    json_close(&writer->json, ']');
}

static void write_cpu_deltas(struct profile_writer *writer, size_t thread)
{
    struct sample_row row;
    struct time_quantizer times;
    struct cpu_quantizer cpu;
    time_quantizer_init(&times, writer->grid);
    cpu_quantizer_init(&cpu, writer->has_grid ? writer->microseconds_per_step : 0);
    open_samples_column(writer, "threadCPUDelta", thread);
    while (next_sample(writer, &row)) {
        double wall = -1;
        if (writer->has_grid && writer->microseconds_per_step >= 1) /* false if CPU times are written unchanged */
            wall = (double)time_quantizer_next(&times, row.time) * writer->microseconds_per_step;
        if (isfinite(row.cpu_delta))
            json_signed(&writer->json, cpu_quantizer_next(&cpu, row.cpu_delta, wall));
        else
            json_null(&writer->json);
    }
    json_close(&writer->json, ']');
}

static void write_weights(struct profile_writer *writer, size_t thread)
{
    struct sample_row row;
    open_samples_column(writer, "weight", thread);
    while (next_sample(writer, &row))
        json_double(&writer->json, row.weight);
    json_close(&writer->json, ']');
}

/* Writes texts, not indexes of the string table: some readers do not know the column, and drop strings without known
 * references. */
static void write_wakers(struct profile_writer *writer, size_t thread)
{
    struct sample_row row;
    open_samples_column(writer, "waker", thread);
    while (next_sample(writer, &row))
        if (row.waker == PROFILE_NONE)
            json_null(&writer->json);
        else
            write_string(&writer->json, writer->profile, row.waker);
    json_close(&writer->json, ']');
}

static void write_waker_stacks(struct profile_writer *writer, size_t thread)
{
    struct sample_row row;
    open_samples_column(writer, "wakerStack", thread);
    while (next_sample(writer, &row))
        write_stack(&writer->json, row.waker_stack);
    json_close(&writer->json, ']');
}

static void write_samples(struct profile_writer *writer, size_t index)
{
    static const char *const weight_types[] = {
        [WEIGHT_SAMPLES] = "samples", [WEIGHT_TRACING_MS] = "tracing-ms", [WEIGHT_BYTES] = "bytes"};
    struct json_writer *json = &writer->json;
    const struct sample_table *table = &writer->profile->threads.data[index].samples;
    bool has_weight = writer->from_tables ? table->weight != NULL : writer->samples.has_weight;
    bool has_cpu_delta = writer->from_tables ? table->cpu_delta != NULL : writer->samples.has_cpu_delta;
    bool has_wakers = writer->from_tables ? table->waker != NULL : writer->samples.has_wakers;

    json_open(json, '{');
    size_t length = write_sample_stacks(writer, index);
    if (writer->has_grid)
        write_time_deltas(writer, index);
    else
        write_times(writer, index);
    if (has_weight) {
        write_weights(writer, index);
    } else {
        json_member_text(json, "weight", NULL);
    }
    json_member_text(json, "weightType", weight_types[table->weight_type]);
    if (has_cpu_delta && writer->profile->meta.has_cpu_delta)
        write_cpu_deltas(writer, index);
    if (has_wakers)
        write_wakers(writer, index);
    /* a tool that does not know the column may drop stacks: the length of the table shows whether the indexes hold */
    if (writer->from_tables ? table->waker_stack != NULL : writer->samples.has_wakers) {
        write_waker_stacks(writer, index);
        json_member_unsigned(json, "stackTableLength", writer->profile->stacks.length);
    }
    json_member_unsigned(json, "length", length);
    json_close(json, '}');
}

static void write_event(struct profile_writer *writer, size_t index, uint32_t name)
{
    struct json_writer *json = &writer->json;
    json_open(json, '{');
    write_string_member(json, "event", writer->profile, name);
    size_t length = write_sample_stacks(writer, index);
    if (writer->has_grid)
        write_time_deltas(writer, index);
    else
        write_times(writer, index);
    write_weights(writer, index);
    json_member_unsigned(json, "length", length);
    json_close(json, '}');
}

/* Omits events without samples in this thread. */
static void write_events(struct profile_writer *writer, size_t index)
{
    struct sample_row row;
    bool has_any = false;
    for (size_t i = 0; writer->samples.rewind_event && i < writer->profile->meta.events.length; i++) {
        writer->event = i + 1;
        rewind_samples(writer, index);
        if (!next_sample(writer, &row))
            continue;
        if (!has_any)
            json_member_open(&writer->json, "eventSamples", '[');
        has_any = true;
        write_event(writer, index, writer->profile->meta.events.data[i].name);
    }
    writer->event = 0;
    if (has_any)
        json_close(&writer->json, ']');
}

enum slice_column { SLICE_CPU, SLICE_START, SLICE_DURATION, SLICE_OFF_CPU, SLICE_COLUMNS };

/* Writes times in whole microseconds: a slice is often shorter than the resolution of sample times. */
static size_t write_slice_column(struct profile_writer *writer, size_t index, enum slice_column column)
{
    static const char *const keys[] = {"cpu", "timeDeltas", "duration", "offCpu"};
    const struct time_grid grid = {.step = 1, .decimals = 3};
    const struct sample_source *samples = &writer->samples;
    struct json_writer *json = &writer->json;
    struct time_quantizer times;
    struct slice_row row;
    size_t count = 0;
    time_quantizer_init(&times, grid);
    if (!json->status)
        json->status = samples->rewind_slices(samples->context, index, writer->err);
    for (; !json->status && samples->next_slice(samples->context, &row); count++) {
        if (count == 0)
            json_member_open(json, keys[column], '[');
        int64_t delta = time_quantizer_next(&times, row.start), end = time_quantizer_round(&times, row.end);
        int64_t length = end > times.sum ? end - times.sum : 0, off = time_quantizer_round(&times, row.off_cpu);
        if (column == SLICE_CPU)
            json_unsigned(json, row.cpu);
        else if (column == SLICE_START)
            json_decimal(json, delta, grid.decimals);
        else if (column == SLICE_DURATION)
            json_decimal(json, length, grid.decimals);
        else
            json_decimal(json, off < length ? off : length, grid.decimals);
    }
    if (count)
        json_close(json, ']');
    return count;
}

static void write_slices(struct profile_writer *writer, size_t index)
{
    struct json_writer *json = &writer->json;
    struct slice_row row;
    if (!writer->samples.rewind_slices || json->status)
        return;
    json->status = writer->samples.rewind_slices(writer->samples.context, index, writer->err);
    if (json->status || !writer->samples.next_slice(writer->samples.context, &row))
        return;
    size_t length = 0;
    json_member_open(json, "cpuSlices", '{');
    for (int column = 0; column < SLICE_COLUMNS; column++)
        length = write_slice_column(writer, index, (enum slice_column)column);
    json_member_unsigned(json, "length", length);
    json_close(json, '}');
}

/* A thread id is a number in most files; a text such as "1234.1" stays text. */
static void write_thread_id(struct json_writer *json, const struct profile *profile, uint32_t tid)
{
    const char *text = strings_text(&profile->strings, tid);
    size_t length = profile->strings.entries.data[tid].length;
    bool plain = length > 0 && length < 16 && strspn(text, "0123456789") == length && (text[0] != '0' || length == 1);
    if (plain)
        json_raw(json, text, length);
    else
        write_string(json, profile, tid);
}

static void write_paused_ranges(struct json_writer *json, const struct profile *profile, const struct thread *thread)
{
    json_member_open(json, "pausedRanges", '[');
    for (size_t i = 0; i < thread->paused.length; i++) {
        const struct paused_range *range = &thread->paused.data[i];
        json_open(json, '{');
        json_member_double(json, "startTime", isinf(range->start) ? NAN : range->start);
        json_member_double(json, "endTime", isinf(range->end) ? NAN : range->end);
        json_member_text(json, "reason",
                         range->reason == PROFILE_NONE ? "profiler-paused" : profile_text(profile, range->reason));
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_thread(struct profile_writer *writer, size_t index)
{
    struct json_writer *json = &writer->json;
    const struct profile *profile = writer->profile;
    const struct thread *thread = &profile->threads.data[index];
    json_open(json, '{');
    write_string_member(json, "processType", profile, thread->process_type);
    json_member_double(json, "processStartupTime", isfinite(thread->process_start) ? thread->process_start : 0);
    json_member_double(json, "processShutdownTime", thread->process_end);
    json_member_double(json, "registerTime", isfinite(thread->start) ? thread->start : 0);
    json_member_double(json, "unregisterTime", thread->end);
    write_paused_ranges(json, profile, thread);
    write_string_member(json, "name", profile, thread->name);
    json_member_bool(json, "isMainThread", thread->is_main);
    if (thread->process_name != PROFILE_NONE) {
        write_string_member(json, "processName", profile, thread->process_name);
    }
    write_string_member(json, "pid", profile, thread->pid);
    json_key(json, "tid");
    write_thread_id(json, profile, thread->tid);
    if (profile_is_comparison(profile)) {
        json_member_unsigned(json, "comparisonSide", thread->side);
        json_member_unsigned(json, "comparisonRun", thread->run);
    }
    json_key(json, "samples");
    write_samples(writer, index);
    write_allocations(json, thread);
    write_events(writer, index);
    write_slices(writer, index);
    json_key(json, "markers");
    write_markers(json, &thread->markers, profile, &writer->strings);
    json_close(json, '}');
}

static int write_all(struct profile_writer *writer)
{
    struct json_writer *json = &writer->json;
    json_open(json, '{');
    json_key(json, "meta");
    write_meta(json, writer->profile);
    json_key(json, "libs");
    write_libs(json, writer->profile);
    json_key(json, "shared");
    write_shared(json, writer->profile, &writer->strings, false);
    json_member_open(json, "threads", '[');
    for (size_t i = 0; i < writer->profile->threads.length; i++)
        write_thread(writer, i);
    json_close(json, ']');
    if (writer->profile->counters.length) {
        json_key(json, "counters");
        write_counters(json, writer->profile);
    }
    json_close(json, '}');
    return json_writer_finish(json);
}

double profile_find_time_resolution(const struct profile *profile)
{
    static const double resolutions[] = {1, 0.1, 0.01, 0.001, 0.0001, 0.00001, 0.000001};
    for (size_t i = 0; i < sizeof(resolutions) / sizeof(*resolutions); i++) {
        bool fits = true;
        for (size_t t = 0; fits && t < profile->threads.length; t++) {
            const struct thread *thread = &profile->threads.data[t];
            fits = times_have_resolution(thread->samples.time, thread->samples.length, resolutions[i]);
            for (int k = TABLE_EVENTS; fits && k <= (int)thread->more.length; k++) {
                const struct sample_table *table = thread_samples(thread, (enum sample_table_kind)k);
                fits = times_have_resolution(table->time, table->length, resolutions[i]);
            }
        }
        if (fits)
            return resolutions[i];
    }
    return 0;
}

static void write_added(struct profile_writer *writer, const struct added_samples *added)
{
    struct json_writer *json = &writer->json;
    const struct profile_meta *meta = &writer->profile->meta;
    json_open(json, '{');
    json_member_unsigned(json, "thread", added->thread);
    json_member_unsigned(json, "first", added->first);
    if (added->event >= 0)
        write_string_member(json, "event", writer->profile, meta->events.data[added->event].name);
    writer->event = (size_t)added->event + 1;
    size_t length = write_sample_stacks(writer, added->thread);
    if (writer->has_grid)
        write_time_deltas(writer, added->thread);
    else
        write_times(writer, added->thread);
    if (writer->samples.has_weight || writer->event)
        write_weights(writer, added->thread);
    if (writer->samples.has_cpu_delta && meta->has_cpu_delta && !writer->event)
        write_cpu_deltas(writer, added->thread);
    if (writer->samples.has_wakers && !writer->event) {
        write_wakers(writer, added->thread);
        write_waker_stacks(writer, added->thread);
    }
    json_member_unsigned(json, "length", length);
    json_close(json, '}');
}

static struct profile_writer *writer_new(const struct profile *profile, const struct sample_source *samples,
                                         double time_resolution, const struct byte_sink *sink, struct error *err)
{
    struct profile_writer *writer = calloc(1, sizeof(*writer));
    if (!writer)
        return NULL;
    writer->profile = profile;
    writer->err = err;
    writer->from_tables = samples == NULL;
    writer->tables = (struct table_source){.profile = profile};
    writer->samples = samples ? *samples
                              : (struct sample_source){.rewind = table_rewind,
                                                       .rewind_event = table_rewind_event,
                                                       .next = table_next,
                                                       .rewind_slices = table_rewind_slices,
                                                       .next_slice = table_next_slice,
                                                       .context = &writer->tables};
    writer->grid = (struct time_grid){.step = 1, .decimals = 0};
    writer->has_grid = make_time_grid(time_resolution, &writer->grid);
    writer->microseconds_per_step = time_resolution * 1000;
    json_writer_init(&writer->json, sink, err);
    return writer;
}

int profile_write_added(const struct profile *profile, const struct sample_source *samples,
                        const struct added_samples *added, double time_resolution, const struct byte_sink *sink,
                        struct error *err)
{
    struct profile_writer *writer = writer_new(profile, samples, time_resolution, sink, err);
    if (!writer)
        return error_no_memory(err);
    write_added(writer, added);
    int code = json_writer_finish(&writer->json);
    free(writer);
    return code;
}

int profile_write_added_slices(const struct profile *profile, const struct sample_source *samples, size_t thread,
                               const struct byte_sink *sink, struct error *err)
{
    struct profile_writer *writer = writer_new(profile, samples, 0, sink, err);
    if (!writer)
        return error_no_memory(err);
    json_open(&writer->json, '{');
    json_member_unsigned(&writer->json, "thread", thread);
    write_slices(writer, thread);
    json_close(&writer->json, '}');
    int code = json_writer_finish(&writer->json);
    free(writer);
    return code;
}

int profile_write_added_tables(const struct profile *profile, const struct profile_rows *from,
                               const struct byte_sink *sink, struct error *err)
{
    const struct profile rows = profile_borrow_rows(profile, from);
    struct json_writer json;
    struct string_map strings;
    json_writer_init(&json, sink, err);
    if (!string_map_init(&strings, &rows))
        return error_no_memory(err);
    json_open(&json, '{');
    json_member_open(&json, "tables", '[');
    json_open(&json, '{');
    json_member_unsigned(&json, "stacks", from->stacks);
    json_member_unsigned(&json, "frames", from->frames);
    json_member_unsigned(&json, "funcs", from->funcs);
    json_member_unsigned(&json, "resources", from->resources);
    json_member_unsigned(&json, "nativeSymbols", from->native_symbols);
    json_member_unsigned(&json, "sources", from->sources);
    json_key(&json, "shared");
    write_shared(&json, &rows, &strings, true);
    json_close(&json, '}');
    json_close(&json, ']');
    json_close(&json, '}');
    string_map_destroy(&strings);
    return json_writer_finish(&json);
}

int profile_write(const struct profile *profile, const struct sample_source *samples, double time_resolution,
                  const struct byte_sink *sink, struct error *err)
{
    struct profile_writer *writer = writer_new(profile, samples, time_resolution, sink, err);
    if (!writer)
        return error_no_memory(err);
    int code = string_map_init(&writer->strings, profile) ? write_all(writer) : error_no_memory(err);
    string_map_destroy(&writer->strings);
    free(writer);
    return code;
}
