/*
 * Assembles a profile in four steps: replay the spool into tables of addresses and stacks (replay.c), symbolize the
 * addresses (symbolization.c), map each recorded stack to symbolized frames, including frames of inlined calls, and
 * write the profile. The samples are streamed from their store, thread by thread.
 *
 * Memory grows with the distinct stacks and addresses of a recording, not with its samples.
 */
#include "assemble/assemble.h"

#include "assemble/metadata.h"
#include "assemble/process_perf_map.h"
#include "assemble/process_markers.h"
#include "assemble/program_markers.h"
#include "assemble/profile_counters.h"
#include "assemble/recording_markers.h"
#include "assemble/replay.h"
#include "assemble/replay_events.h"
#include "assemble/symbolization.h"
#include "profile/file.h"
#include "profile/write.h"
#include "record/info.h"
#include "sample/event_list.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct assembly {
    struct replay replay;
    struct profile profile;
    struct interner interner;
    struct symbolization symbolization;
    struct trust trust;
    uint32_t *stack_map;    /* per stack of the replay: the profile's stack */
    ARRAY(uint32_t) order;  /* the profile's threads, as indexes of the replay's */
    ARRAY(uint32_t) wakers; /* the profile's strings of the replay's objects; empty: nobody noted who woke whom */
    uint64_t start_ns;      /* CLOCK_MONOTONIC at time 0 of the profile */
};

/* ---- stacks ---- */

/* The last address of a replayed stack may stand for several frames. They are chained below the caller's stack.
 * Distinct addresses give distinct frames, so all chains differ and need no lookup. The exception is JIT code named by
 * a perf map: all addresses of a function share one frame. */
static int map_stacks(struct assembly *assembly, struct error *err)
{
    const struct replay *replay = &assembly->replay;
    assembly->stack_map = malloc((replay->stacks.length + 1) * sizeof(*assembly->stack_map));
    if (!assembly->stack_map)
        return error_no_memory(err);
    for (size_t i = 0; i < replay->stacks.length; i++) {
        const struct replay_stack *stack = &replay->stacks.data[i];
        const struct symbolized_frame *named = &assembly->symbolization.named.data[stack->frame];
        uint32_t prefix = stack->prefix == REPLAY_NONE ? PROFILE_NONE : assembly->stack_map[stack->prefix];
        for (uint32_t k = 0; k < named->count; k++) {
            uint32_t frame = assembly->symbolization.frames.data[named->first + k];
            prefix = assembly->symbolization.shares_frames ? intern_stack(&assembly->interner, prefix, frame)
                                                           : profile_add_stack(&assembly->profile, prefix, frame);
            if (prefix == PROFILE_NONE)
                return error_no_memory(err);
        }
        assembly->stack_map[i] = prefix;
    }
    return 0;
}

/* ---- threads ---- */

static bool records_waits(const struct replay *replay)
{
    return replay_info_number(replay, INFO_OFF_CPU, 0) != 0;
}

/* Orders by process, the main thread first, then by start. */
static int compare_threads(const void *a, const void *b, void *context)
{
    const struct replay *replay = context;
    uint32_t left_number = *(const uint32_t *)a, right_number = *(const uint32_t *)b;
    const struct replay_thread *left = &replay->threads.data[left_number];
    const struct replay_thread *right = &replay->threads.data[right_number];
    if (left->process != right->process)
        return left->process < right->process ? -1 : 1;
    if (replay_is_main_thread(replay, left) != replay_is_main_thread(replay, right))
        return replay_is_main_thread(replay, left) ? -1 : 1;
    if (left->start != right->start)
        return left->start < right->start ? -1 : 1;
    return left_number < right_number ? -1 : left_number > right_number;
}

static int choose_threads(struct assembly *assembly, struct error *err)
{
    struct replay *replay = &assembly->replay;
    uint32_t first_known = REPLAY_NONE;
    for (size_t i = 0; i < replay->threads.length; i++) {
        if (replay->threads.data[i].known && first_known == REPLAY_NONE)
            first_known = (uint32_t)i;
        if (replay_is_shown(replay, &replay->threads.data[i]) && !array_push(&assembly->order, (uint32_t)i))
            return error_no_memory(err);
    }
    /* a profile needs a thread, also if the target ended before its first sample */
    if (!assembly->order.length && first_known != REPLAY_NONE && !array_push(&assembly->order, first_known))
        return error_no_memory(err);
    if (!assembly->order.length)
        return error_set(err, ENODATA, "the recording holds no thread: the target never started");
    qsort_r(assembly->order.data, assembly->order.length, sizeof(uint32_t), compare_threads, replay);
    return 0;
}

static double to_ms(const struct assembly *assembly, uint64_t time)
{
    return time > assembly->start_ns ? (double)(time - assembly->start_ns) / 1e6 : 0;
}

static double to_end_ms(const struct assembly *assembly, uint64_t time)
{
    return time ? to_ms(assembly, time) : NAN;
}

static uint32_t thread_name(struct profile *profile, const struct replay *replay, const struct replay_thread *thread)
{
    char text[96];
    const char *name = strings_text(&replay->strings, thread->name);
    if (thread->threads_in_row <= 1)
        return strings_add_z(&profile->strings, name);
    snprintf(text, sizeof(text), "%.32s (%" PRIu32 " threads, none sampled)", name, thread->threads_in_row);
    return strings_add_z(&profile->strings, text);
}

static int add_thread(struct assembly *assembly, const struct replay_thread *from, struct error *err)
{
    const struct replay *replay = &assembly->replay;
    const struct replay_process *process = &replay->processes.data[from->process];
    struct strings *strings = &assembly->profile.strings;
    char pid[32], tid[32];
    int length = snprintf(pid, sizeof(pid), "%" PRIu32, process->pid);
    if (process->instance)
        snprintf(pid + length, sizeof(pid) - (size_t)length, ".%" PRIu32, process->instance);
    snprintf(tid, sizeof(tid), "%" PRIu32, from->tid);
    struct thread *thread = profile_add_thread(&assembly->profile);
    if (!thread)
        return error_no_memory(err);
    thread->name = thread_name(&assembly->profile, replay, from);
    thread->process_name = strings_add_z(strings, strings_text(&replay->strings, process->name));
    thread->process_type = strings_add_z(strings, from->process == 0 ? "default" : "process");
    thread->pid = strings_add_z(strings, pid);
    thread->tid = strings_add_z(strings, tid);
    thread->is_main = replay_is_main_thread(replay, from);
    thread->samples.weight_type = records_waits(replay) ? WEIGHT_TRACING_MS : WEIGHT_SAMPLES;
    thread->process_start = to_ms(assembly, process->start);
    thread->process_end = to_end_ms(assembly, process->end);
    thread->start = to_ms(assembly, from->start);
    thread->end = to_end_ms(assembly, from->end);
    if (thread->name == STRING_NONE || thread->process_name == STRING_NONE || thread->process_type == STRING_NONE ||
        thread->pid == STRING_NONE || thread->tid == STRING_NONE)
        return error_no_memory(err);
    return 0;
}

static int add_threads(struct assembly *assembly, struct error *err)
{
    int code = choose_threads(assembly, err);
    for (size_t i = 0; !code && i < assembly->order.length; i++)
        code = add_thread(assembly, &assembly->replay.threads.data[assembly->order.data[i]], err);
    return code;
}

/* Time 0 of the profile: the start of the recording, or its first event if that is earlier or the start is unknown. Of
 * a flight recorder it is the start of what there is. */
static uint64_t zero_time(const struct replay *replay)
{
    uint64_t start = replay_info_number(replay, INFO_START_MONOTONIC, 0);
    if (replay->keeps_last && replay->first_sample_time > start + replay->interval)
        return replay->first_sample_time - replay->interval;
    return start && (start < replay->first_time || !replay->first_time) ? start : replay->first_time;
}

/* The end of the recording; of one that has none, its last record. */
static uint64_t end_time(const struct replay *replay)
{
    uint64_t end = replay_info_number(replay, INFO_END_MONOTONIC, 0);
    return end > replay->last_time ? end : replay->last_time;
}

/* ---- markers ---- */

/* For each thread of the replay, the profile's thread that shows it; PROFILE_NONE. NULL if memory ran out. */
static uint32_t *list_rows(const struct assembly *assembly)
{
    size_t count = assembly->replay.threads.length;
    uint32_t *rows = malloc((count + 1) * sizeof(*rows));
    for (size_t i = 0; rows && i < count; i++)
        rows[i] = PROFILE_NONE;
    for (size_t i = 0; rows && i < assembly->order.length; i++)
        rows[assembly->order.data[i]] = (uint32_t)i;
    return rows;
}

static int add_markers(struct assembly *assembly, struct error *err)
{
    struct marker_rows rows;
    uint32_t *rows_of = list_rows(assembly);
    if (!rows_of)
        return error_no_memory(err);
    const struct shown_threads shown = {.rows_of = rows_of, .replay = &assembly->replay};
    marker_rows_init(&rows, &assembly->profile, assembly->start_ns, end_time(&assembly->replay));
    recording_markers_add(&rows, &assembly->replay.marks, &assembly->replay.program_marks);
    size_t counters = program_markers_add(&rows, &shown), processes = process_markers_add(&rows, &shown);
    int code = marker_rows_fill(&rows, err);
    bool has_markers = rows.entries.length != 0;
    if (!code && has_markers)
        assembly->profile.meta.marker_schema = strings_add_z(&assembly->profile.strings, recording_marker_schema);
    if (!code && has_markers && assembly->profile.meta.marker_schema == STRING_NONE)
        code = error_no_memory(err);
    if (!code)
        code = metadata_note_markers(&assembly->profile, counters, processes, err);
    marker_rows_destroy(&rows);
    free(rows_of);
    return code;
}

/* ---- writing ---- */

struct source_context {
    const struct assembly *assembly;
    struct sample_cursor cursor;
    const struct replay_thread *thread;
    bool of_event, is_empty; /* the samples of an event, of which there are none */
    double scale;            /* of their weights */
    double carried;          /* part of an event that the weight of no sample has yet */
    uint64_t row;            /* samples of the thread so far */
    double cpu, waited;      /* ms that the weight of no sample has yet: on a CPU, and off it */
    double time;             /* ms: of the last sample; NAN before the first */
    struct error *err;
    int code; /* of the first failed read */
};

static int rewind_samples(void *context, size_t thread, struct error *err)
{
    struct source_context *source = context;
    const struct replay *replay = &source->assembly->replay;
    uint32_t number = source->assembly->order.data[thread];
    source->thread = &replay->threads.data[number];
    source->of_event = false;
    source->row = 0;
    source->cpu = source->waited = 0;
    source->time = NAN;
    return sample_cursor_start(&source->cursor, replay->samples, number, err);
}

static int rewind_event(void *context, size_t thread, size_t event, struct error *err)
{
    struct source_context *source = context;
    const struct replay_event *recorded = &source->assembly->replay.events.data[event];
    const struct sample_store *store = recorded->store;
    source->scale = recorded->scale;
    source->carried = 0.5;
    source->of_event = true;
    source->is_empty = store == NULL;
    return store ? sample_cursor_start(&source->cursor, store, source->assembly->order.data[thread], err) : 0;
}

static uint32_t profile_stack(const struct assembly *assembly, uint32_t stack)
{
    return stack == REPLAY_NONE ? PROFILE_NONE : assembly->stack_map[stack];
}

/* Whole events: what a sample stands for beyond them counts for the next one of the thread. */
static double event_weight(struct source_context *source, uint64_t period)
{
    double events = source->carried + (double)period * source->scale, whole = floor(events);
    if (source->scale == 1)
        return (double)period;
    source->carried = events - whole;
    return whole;
}

static bool next_event(struct source_context *source, struct sample_row *row)
{
    struct event_sample sample;
    int got = source->is_empty ? 0 : event_store_next(&source->cursor, &sample, source->err);
    if (got < 0)
        source->code = got;
    if (got <= 0)
        return false;
    *row = (struct sample_row){.stack = profile_stack(source->assembly, sample.stack),
                               .time = to_ms(source->assembly, sample.time),
                               .weight = event_weight(source, sample.period),
                               .waker = PROFILE_NONE};
    return true;
}

/* µs */
static double cpu_time_of(const struct replay *replay, const struct stored_sample *sample)
{
    if (sample->is_end)
        return 0;
    double cpu_time = sample->cpu_time * (SAMPLE_CPU_UNIT / 1e3);
    double excess = cpu_time - (double)replay->interval / 1e3;
    cpu_time *= 1 + replay->spread;
    return excess > 0 ? cpu_time - excess * replay->excess_removed : cpu_time;
}

/* ms that the thread waited after its last wait in the store: waits too short to be stored, of which none follows. */
static double waited_at_end(const struct source_context *source)
{
    const struct replay_thread *thread = source->thread;
    const struct replay *replay = &source->assembly->replay;
    uint64_t end = thread->end ? thread->end : replay->last_time;
    double passed = end > thread->last_wait_end ? (double)(end - thread->last_wait_end) : 0;
    return fmax(0, passed - (double)thread->ran_since_wait * (1 + replay->spread)) / 1e6;
}

/*
 * With waits, weights are ms: those of samples on a CPU the CPU time, those of waits the time off the CPU since the
 * last wait. So each sums up to that of the thread. The beginning of a wait weighs nothing; the CPU time before it is
 * that of the next sample on a CPU, if there is one.
 */
static double weight_of(struct source_context *source, const struct stored_sample *sample, double time, double cpu)
{
    double before = isnan(source->time) ? to_ms(source->assembly, source->thread->start) : source->time, weight = 0;
    bool is_end = sample->is_end || (sample->is_wait && sample->cpu_time == 0);
    source->row++;
    source->time = time;
    source->cpu += cpu;
    source->waited += fmax(0, time - before - cpu);
    if (!sample->is_wait || source->row > source->thread->last_run) {
        weight += source->cpu;
        source->cpu = 0;
    }
    if (is_end) {
        weight += source->waited;
        source->waited = 0;
    }
    if (is_end && source->row == source->thread->last_wait)
        weight += waited_at_end(source);
    return weight;
}

/* String index; PROFILE_NONE: it is not known who ended the wait. */
static uint32_t waker_of(const struct assembly *assembly, const struct stored_sample *sample)
{
    uint32_t number = sample->is_end ? sample->cpu_time : 0;
    return number && number <= assembly->wakers.length ? assembly->wakers.data[number - 1] : PROFILE_NONE;
}

/* The names of those who wake threads are texts of the profile. */
static int add_wakers(struct assembly *assembly, struct error *err)
{
    const struct replay *replay = &assembly->replay;
    for (uint32_t i = 0; replay_info_number(replay, INFO_WAKERS, 0) && i < replay->objects.length; i++) {
        const char *name = replay_object(replay, i + 1);
        uint32_t text = name ? strings_add_z(&assembly->profile.strings, name) : STRING_NONE;
        if ((name && text == STRING_NONE) || !array_push(&assembly->wakers, name ? text : PROFILE_NONE))
            return error_no_memory(err);
    }
    return 0;
}

static int add_events(struct assembly *assembly, struct error *err)
{
    _Static_assert((int)EVENTS_MAX == (int)PROFILE_EVENTS_MAX, "a profile takes all events of a recording");
    const struct replay *replay = &assembly->replay;
    assembly->profile.meta.has_only_events = replay_has_only_events(replay);
    for (size_t i = 0; i < replay->events.length; i++) {
        char number[32];
        const char *name = replay_event_name(replay, i);
        snprintf(number, sizeof(number), "event %zu", i + 1);
        struct profile_event event = {.name = strings_add_z(&assembly->profile.strings, name ? name : number),
                                      .period = (double)replay_event_number(replay, INFO_EVENT_PERIOD, i)};
        if (event.name == STRING_NONE || !array_push(&assembly->profile.meta.events, event))
            return error_no_memory(err);
    }
    return 0;
}

static bool next_sample(void *context, struct sample_row *row)
{
    struct source_context *source = context;
    const struct assembly *assembly = source->assembly;
    struct stored_sample sample = {0};
    if (source->of_event)
        return next_event(source, row);
    int got = sample_cursor_next(&source->cursor, &sample, source->err);
    if (got < 0)
        source->code = got;
    if (got <= 0)
        return false;
    double time = to_ms(assembly, sample.time), cpu_delta = cpu_time_of(&assembly->replay, &sample);
    *row = (struct sample_row){
        .stack = profile_stack(assembly, sample.stack),
        .time = time,
        .weight = weight_of(source, &sample, time, cpu_delta / 1e3),
        .cpu_delta = cpu_delta,
        .waker = waker_of(assembly, &sample),
    };
    return true;
}

/* A hundredth of the interval: fine enough to order samples and show jitter, coarse enough to compress well. */
static double time_resolution(double interval)
{
    double resolution = pow(10, floor(log10(interval / 100) + 1e-9));
    return resolution < 0.001 ? 0.001 : resolution;
}

/* `path` NULL: to a file in memory, whose descriptor *memory_fd becomes the caller's. */
static int write_profile(struct assembly *assembly, const char *path, int *memory_fd, uint64_t *bytes,
                         struct error *err)
{
    struct profile_file *file;
    int code = path ? profile_file_create(&file, path, err) : profile_file_create_in_memory(&file, memory_fd, err);
    if (code)
        return code;
    struct source_context context = {.assembly = assembly, .err = err};
    struct sample_source source = {.rewind = rewind_samples,
                                   .rewind_event = assembly->profile.meta.events.length ? rewind_event : NULL,
                                   .next = next_sample,
                                   .has_weight = records_waits(&assembly->replay),
                                   .has_cpu_delta = true,
                                   .has_wakers = assembly->wakers.length != 0,
                                   .context = &context};
    struct byte_sink sink = profile_file_sink(file);
    code = profile_write(&assembly->profile, &source, time_resolution(assembly->profile.meta.interval), &sink, err);
    sample_cursor_destroy(&context.cursor);
    if (!code)
        code = context.code;
    if (code)
        profile_file_abandon(file);
    else
        code = profile_file_commit(file, err);
    if (code && !path) {
        close(*memory_fd);
        *memory_fd = -1;
    }
    struct stat status;
    if (!code && (path ? stat(path, &status) : fstat(*memory_fd, &status)) == 0)
        *bytes = (uint64_t)status.st_size;
    return code;
}

/* Whether to print the library. A stripped program with few addresses only appears in the profile's metadata; so does a
 * library with most of its names, unless the others are those of a twentieth of the samples, or of much of what makes a
 * profile without names. */
static bool is_worth_saying(const struct assembly *assembly, const struct missing_symbols *missing)
{
    enum { FIFTIETH = 50, TWENTIETH = 20, FIFTH = 5 };
    const struct trust_counts *all = &assembly->trust.all;
    if (missing->is_partial)
        return missing->samples && (missing->samples >= all->samples / TWENTIETH ||
                                    (all->unnamed >= all->samples / FIFTH && missing->samples >= all->unnamed / FIFTH));
    return missing->reason != MISSING_SYMBOLS_STRIPPED ||
           missing->unnamed >= assembly->symbolization.addresses / FIFTIETH;
}

static void list_missing_symbols(const struct assembly *assembly, struct assemble_result *result)
{
    const struct symbolization *symbolization = &assembly->symbolization;
    for (size_t i = 0; i < symbolization->missing_symbols.length; i++) {
        const struct missing_symbols *from = &symbolization->missing_symbols.data[i];
        if (!is_worth_saying(assembly, from) || result->missing_symbols_count++ >= ASSEMBLE_MISSING_SYMBOLS)
            continue;
        struct assemble_missing_symbols *missing = &result->missing_symbols[result->missing_symbols_count - 1];
        missing->reason = from->reason;
        missing->is_packaged = from->is_packaged;
        missing->is_partial = from->is_partial;
        missing->samples = from->samples;
        snprintf(missing->library, sizeof(missing->library), "%s",
                 strings_text(&assembly->profile.strings, from->library));
    }
    result->gone_count = symbolization->gone.length;
    if (symbolization->gone.length)
        snprintf(result->gone, sizeof(result->gone), "%s",
                 strings_text(&assembly->profile.strings, symbolization->gone.data[0]));
}

/* What does not fit is left out. */
static void describe_events(const struct replay *replay, char *text, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < replay->events.length && used < size; i++) {
        const char *name = replay_event_name(replay, i);
        uint64_t lost = replay_event_number(replay, INFO_EVENT_LOST, i);
        used += (size_t)snprintf(text + used, size - used, "%s%s %.0f", used ? ", " : "", name ? name : "?",
                                 replay_event_total(replay, i));
        if (lost && used < size)
            used +=
                (size_t)snprintf(text + used, size - used, " (%" PRIu64 " sample%s lost)", lost, lost == 1 ? "" : "s");
    }
}

static void fill_result(const struct assembly *assembly, struct assemble_result *result)
{
    const struct replay *replay = &assembly->replay;
    result->samples = replay->sample_count;
    result->waits = replay->wait_count;
    result->lost = replay->lost;
    result->damaged = replay->damaged_blocks;
    result->damaged_bytes = replay->damaged_bytes;
    result->samples_without_thread = replay->samples_without_thread;
    result->rest = replay->rest;
    result->is_finished = replay_info(replay, INFO_END_MONOTONIC) != NULL;
    result->length = replay->last_time > assembly->start_ns ? replay->last_time - assembly->start_ns : 0;
    result->last_realtime = replay_realtime(replay, replay->last_time);
    describe_events(replay, result->events, sizeof(result->events));
    result->addresses = assembly->symbolization.addresses;
    result->unnamed = assembly->symbolization.unnamed;
    result->trust = assembly->trust.all;
    result->recorder_cpu = replay_info_number(replay, INFO_RECORDER_CPU, 0);
    result->recorder_wall = replay_wall(replay);
    for (size_t i = 0; i < replay->threads.length; i++)
        result->threads += replay->threads.data[i].samples != 0;
    for (size_t i = 0; i < replay->processes.length; i++)
        result->processes += replay->processes.data[i].samples != 0;
}

int assemble_recording(const char *spool_path, const char *output_path, const struct assemble_options *options,
                       struct assemble_result *result, struct error *err)
{
    struct assembly assembly = {.replay.perf_map_folder = PERF_MAP_FOLDER,
                                .replay.rest_path = options->rest,
                                .replay.jit_files = options->files ? &options->files->jit : NULL};
    struct symbolizer *symbolizer = NULL;
    *result = (struct assemble_result){.memory_fd = -1};
    interner_init(&assembly.interner, &assembly.profile);
    int code = replay_spool(&assembly.replay, spool_path, err);
    if (code)
        goto out;
    struct symbolizer_options symbols = {.threads = options->threads,
                                         .use_cache = true,
                                         .cache_folder = options->cache_folder,
                                         .search = options->search};
    symbolizer = symbolizer_new(&symbols);
    if (!symbolizer) {
        code = error_no_memory(err);
        goto out;
    }
    code = symbolize_frames(&assembly.symbolization, &assembly.replay, options->files, options->cache_folder,
                            symbolizer, &assembly.profile, &assembly.interner, err);
    if (code)
        goto out;
    assembly.start_ns = zero_time(&assembly.replay);
    code = map_stacks(&assembly, err);
    if (!code)
        code = add_threads(&assembly, err);
    if (!code)
        code = add_wakers(&assembly, err);
    if (!code)
        code = trust_find(&assembly.trust, &assembly.replay, &assembly.symbolization, err);
    if (!code) {
        const struct metadata_source source = {.replay = &assembly.replay,
                                               .symbolization = &assembly.symbolization,
                                               .hints = &result->hints,
                                               .trust = &assembly.trust,
                                               .start_ns = assembly.start_ns,
                                               .listener = options->listener};
        hints_find(&result->hints, &assembly.replay, &assembly.symbolization);
        code = fill_metadata(&assembly.profile, &source, err);
    }
    if (!code)
        code = add_events(&assembly, err);
    if (!code)
        code = add_markers(&assembly, err);
    if (!code) {
        const struct profile_counters_source source = {.replay = &assembly.replay,
                                                       .order = assembly.order.data,
                                                       .count = assembly.order.length,
                                                       .start_ns = assembly.start_ns,
                                                       .end_ns = end_time(&assembly.replay)};
        code = profile_counters_fill(&assembly.profile, &source, err);
    }
    if (!code)
        code = write_profile(&assembly, output_path, &result->memory_fd, &result->bytes, err);
    if (!code)
        fill_result(&assembly, result);
    if (!code)
        list_missing_symbols(&assembly, result);
out:
    symbolizer_free(symbolizer);
    symbolization_destroy(&assembly.symbolization);
    trust_destroy(&assembly.trust);
    interner_destroy(&assembly.interner);
    profile_destroy(&assembly.profile);
    replay_destroy(&assembly.replay);
    array_free(&assembly.order);
    array_free(&assembly.wakers);
    free(assembly.stack_map);
    return code;
}
