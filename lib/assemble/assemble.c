/*
 * Assembles a profile in four steps: replay the spool into tables of addresses and stacks (replay.c), symbolize the
 * addresses (symbolize_frames.c), map each recorded stack to symbolized frames, including frames of inlined calls, and
 * write the profile. The samples are streamed from their store, thread by thread.
 *
 * Memory grows with the distinct stacks and addresses of a recording, not with its samples.
 */
#include "assemble/assembly.h"
#include "assemble/assemble.h"

#include "base/search.h"
#include "assemble/assembly_window.h"

#include "assemble/profile_metadata.h"
#include "assemble/process_perf_map.h"
#include "assemble/memory_markers.h"
#include "assemble/process_markers.h"
#include "assemble/program_markers.h"
#include "assemble/profile_counters.h"
#include "assemble/recording_markers.h"
#include "assemble/replay.h"
#include "assemble/replay_events.h"
#include "assemble/replay_names.h"
#include "assemble/sample_rows.h"
#include "assemble/symbolize_frames.h"
#include "assemble/unsampled.h"
#include "assemble/wait_kinds.h"
#include "file/profile_file.h"
#include "profile/write.h"
#include "spool/info.h"
#include "sample/event_list.h"

#include <sys/stat.h>
#include <unistd.h>

/* ---- stacks ---- */

/* Maps the stacks of the replay to stacks of the profile. The last address of a replayed stack may have several frames
 * (inlined calls), which become a chain of stacks below the caller's stack. Distinct addresses have distinct frames, so
 * all chains differ and need no lookup. Two kinds of addresses share a frame: the addresses of a JIT function in a perf
 * map, and the words of a lock. */
static int map_stacks(struct assembly *assembly, struct error *err)
{
    const struct replay *replay = &assembly->replay;
    for (size_t i = assembly->stack_map.length; i < replay->stacks.items.length; i++) {
        const struct replay_stack *stack = &replay->stacks.items.data[i];
        const struct symbolized_frame *named = &assembly->symbolization.named.data[stack->frame];
        uint32_t prefix = stack->prefix == REPLAY_NONE ? PROFILE_NONE : assembly->stack_map.data[stack->prefix];
        bool is_wait = replay->stacks.frames.data[stack->frame].lib == REPLAY_LIB_WAIT;
        for (uint32_t k = 0; k < named->count; k++) {
            uint32_t frame = assembly->symbolization.frames.data[named->first + k];
            if (is_wait)
                frame = wait_kinds_add_frame(&assembly->interner, prefix, frame);
            if (frame == PROFILE_NONE)
                return error_no_memory(err);
            prefix = is_wait || assembly->symbolization.shares_frames
                         ? intern_stack(&assembly->interner, prefix, frame)
                         : profile_add_stack(&assembly->profile, prefix, frame);
            if (prefix == PROFILE_NONE)
                return error_no_memory(err);
        }
        if (!array_push(&assembly->stack_map, prefix))
            return error_no_memory(err);
    }
    return 0;
}

/* ---- threads ---- */

static bool has_waits(const struct replay *replay)
{
    return replay_get_info_number(replay, INFO_OFF_CPU, 0) != 0;
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
    return ORDER(left_number, right_number);
}

static bool is_listed(const struct stable_numbers *numbers, uint32_t thread)
{
    for (size_t i = 0; numbers && i < numbers->threads.length; i++)
        if (numbers->threads.data[i] == thread)
            return true;
    return false;
}

/* Chooses the threads of the profile. The threads of `numbers` (NULL: none) come first, in their order. */
static int choose_threads(struct assembly *assembly, struct stable_numbers *numbers, struct error *err)
{
    struct replay *replay = &assembly->replay;
    size_t before = numbers ? numbers->threads.length : 0;
    if (before && !array_append(&assembly->order, numbers->threads.data, before))
        return error_no_memory(err);
    uint32_t first_known = REPLAY_NONE;
    for (size_t i = 0; i < replay->threads.length; i++) {
        if (replay->threads.data[i].known && first_known == REPLAY_NONE)
            first_known = (uint32_t)i;
        if (replay_is_shown(replay, &replay->threads.data[i]) && !is_listed(numbers, (uint32_t)i) &&
            !array_push(&assembly->order, (uint32_t)i))
            return error_no_memory(err);
    }
    /* a profile needs a thread, even if the target ended before its first sample */
    if (!assembly->order.length && first_known != REPLAY_NONE && !array_push(&assembly->order, first_known))
        return error_no_memory(err);
    if (!assembly->order.length)
        return error_set(err, ENODATA, "%s",
                         replay->spool.damaged_blocks
                             ? "the records of the threads are in a damaged part of the recording"
                             : "the recording has no thread: the target never started");
    qsort_r(assembly->order.data + before, assembly->order.length - before, sizeof(uint32_t), compare_threads, replay);
    bool is_noted =
        !numbers || array_append(&numbers->threads, assembly->order.data + before, assembly->order.length - before);
    return is_noted ? 0 : error_no_memory(err);
}

static double get_end_ms(const struct assembly *assembly, uint64_t time)
{
    return time ? assembly_convert_to_ms(assembly, time) : NAN;
}

static uint32_t get_thread_name(struct profile *profile, const struct replay *replay,
                                const struct replay_thread *thread)
{
    char text[96];
    const char *name = strings_text(&replay->strings, thread->name);
    if (thread->threads_in_row <= 1)
        return strings_add_z(&profile->strings, name);
    snprintf(text, sizeof(text), "%.32s (%" PRIu32 " threads, none sampled)", name, thread->threads_in_row);
    return strings_add_z(&profile->strings, text);
}

/* Returns the end of the recording; for an unfinished recording, its last record. */
static uint64_t find_end_time(const struct replay *replay)
{
    uint64_t end = replay_get_info_number(replay, INFO_END_MONOTONIC, 0);
    return end > replay->range.last ? end : replay->range.last;
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
    thread->name = get_thread_name(&assembly->profile, replay, from);
    thread->process_name = strings_add_z(strings, strings_text(&replay->strings, process->name));
    thread->process_type = strings_add_z(strings, from->process == 0 ? "default" : "process");
    thread->pid = strings_add_z(strings, pid);
    thread->tid = strings_add_z(strings, tid);
    thread->is_main = replay_is_main_thread(replay, from);
    thread->samples.weight_type = has_waits(replay) ? WEIGHT_TRACING_MS : WEIGHT_SAMPLES;
    thread->process_start = assembly_convert_to_ms(assembly, process->start);
    thread->process_end = get_end_ms(assembly, process->end);
    thread->start = assembly_convert_to_ms(assembly, from->start);
    thread->end = get_end_ms(assembly, from->end);
    if (assembly->window)
        assembly_window_set_range(assembly, from, find_end_time(replay), thread);
    if (thread->name == STRING_NONE || thread->process_name == STRING_NONE || thread->process_type == STRING_NONE ||
        thread->pid == STRING_NONE || thread->tid == STRING_NONE)
        return error_no_memory(err);
    return 0;
}

static int add_threads(struct assembly *assembly, struct stable_numbers *numbers, struct error *err)
{
    int code = choose_threads(assembly, numbers, err);
    for (size_t i = 0; !code && i < assembly->order.length; i++)
        code = add_thread(assembly, &assembly->replay.threads.data[assembly->order.data[i]], err);
    return code;
}

/* Time 0 of the profile: the start of the recording, or its first event if that is earlier or the start is unknown. For
 * a flight recorder: the start of its oldest sample. */
static uint64_t find_zero_time(const struct replay *replay)
{
    uint64_t start = replay_get_info_number(replay, INFO_START_MONOTONIC, 0);
    if (replay->spool.keeps_last && replay->range.first_sample > start + replay->infos.interval)
        return replay->range.first_sample - replay->infos.interval;
    return start && (start < replay->range.first || !replay->range.first) ? start : replay->range.first;
}

/* ---- markers ---- */

/* Lists for each thread of the replay the profile's thread that shows it, or PROFILE_NONE. Returns NULL if memory ran
 * out. */
static uint32_t *list_profile_rows(const struct assembly *assembly)
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
    struct marker_rows rows = {
        .profile = &assembly->profile, .start_ns = assembly->start_ns, .end_ns = find_end_time(&assembly->replay)};
    uint32_t *rows_of = list_profile_rows(assembly);
    if (!rows_of)
        return error_no_memory(err);
    const struct shown_threads shown = {.rows_of = rows_of, .replay = &assembly->replay};
    recording_markers_add(&rows, &assembly->replay.marks, &assembly->replay.program_marks);
    size_t counters = program_markers_add(&rows, &shown), processes = process_markers_add(&rows, &shown);
    processes += memory_markers_add(&rows, &shown);
    int code = marker_rows_fill(&rows, err);
    bool has_markers = rows.entries.length != 0;
    if (!code && has_markers)
        assembly->profile.meta.marker_schema = strings_add_z(&assembly->profile.strings, recording_marker_schema);
    if (!code && has_markers && assembly->profile.meta.marker_schema == STRING_NONE)
        code = error_no_memory(err);
    if (!code)
        code = metadata_add_omitted(&assembly->profile, counters, processes, err);
    marker_rows_destroy(&rows);
    free(rows_of);
    return code;
}

/* ---- more tables ---- */

/* Adds the names of wakers to the strings of the profile. */
static int add_wakers(struct assembly *assembly, struct error *err)
{
    const struct replay *replay = &assembly->replay;
    for (uint32_t i = 0; replay_get_info_number(replay, INFO_WAKERS, 0) && i < replay->objects.length; i++) {
        const char *name = replay_get_object(replay, i + 1);
        uint32_t text = name ? strings_add_z(&assembly->profile.strings, name) : STRING_NONE;
        if ((name && text == STRING_NONE) || !array_push(&assembly->wakers, name ? text : PROFILE_NONE))
            return error_no_memory(err);
    }
    return 0;
}

static int add_events(struct assembly *assembly, struct error *err)
{
    _Static_assert((int)EVENTS_MAX == (int)PROFILE_EVENTS_MAX, "a profile has room for all events of a recording");
    const struct replay *replay = &assembly->replay;
    assembly->profile.meta.has_only_events = replay_has_only_events(replay);
    for (size_t i = 0; i < replay->events.length; i++) {
        char number[32];
        const char *name = replay_get_event_name(replay, i);
        snprintf(number, sizeof(number), "event %zu", i + 1);
        struct profile_event event = {.name = strings_add_z(&assembly->profile.strings, name ? name : number),
                                      .period = (double)replay_get_event_number(replay, INFO_EVENT_PERIOD, i)};
        if (event.name == STRING_NONE || !array_push(&assembly->profile.meta.events, event))
            return error_no_memory(err);
    }
    return 0;
}

/* ---- writing ---- */

double assembly_get_time_resolution(const struct assembly *assembly)
{
    double resolution = pow(10, floor(log10(assembly->profile.meta.interval / 100) + 1e-9));
    return resolution < 0.001 ? 0.001 : resolution;
}

/* `path` NULL: writes to a file in memory; the caller then owns its descriptor result->memory_fd. */
static int write_profile(struct assembly *assembly, const char *path, bool keeps_old, struct assemble_result *result,
                         struct error *err)
{
    struct profile_file *file;
    int *memory_fd = &result->memory_fd;
    int code = path ? profile_file_create(&file, path, err) : profile_file_create_in_memory(&file, memory_fd, err);
    if (code)
        return code;
    if (path && keeps_old)
        profile_file_keep_old(file, &result->has_old);
    struct sample_rows rows = {.assembly = assembly, .err = err};
    const struct sample_source source = make_sample_rows_source(&rows);
    struct byte_sink sink = profile_file_make_sink(file);
    code = profile_write(&assembly->profile, &source, assembly_get_time_resolution(assembly), &sink, err);
    sample_cursor_destroy(&rows.cursor);
    if (!code)
        code = rows.code;
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
        result->bytes = (uint64_t)status.st_size;
    return code;
}

/* Returns whether to print the library. Only the profile's metadata lists a stripped program with few addresses. The
 * same holds for a library with names for most addresses, unless its other addresses have a twentieth of all samples,
 * or most of the samples without names. */
static bool is_worth_printing(const struct assembly *assembly, const struct missing_symbols *missing)
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
        if (!is_worth_printing(assembly, from) || result->missing_symbols_count++ >= ASSEMBLE_MISSING_SYMBOLS)
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

/* Describes the sampled events, as many as fit in the text. */
static void describe_events(const struct replay *replay, char *text, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < replay->events.length && used < size; i++) {
        const char *name = replay_get_event_name(replay, i);
        uint64_t lost = replay_get_event_number(replay, INFO_EVENT_LOST, i);
        used += (size_t)snprintf(text + used, size - used, "%s%s %.0f", used ? ", " : "", name ? name : "?",
                                 replay_get_event_total(replay, i));
        if (lost && used < size)
            used +=
                (size_t)snprintf(text + used, size - used, " (%" PRIu64 " sample%s lost)", lost, lost == 1 ? "" : "s");
    }
}

void assembly_describe_result(const struct assembly *assembly, struct assemble_result *result)
{
    const struct replay *replay = &assembly->replay;
    result->samples = replay->samples.count;
    result->waits = replay->samples.waits;
    result->lost = replay->samples.lost;
    result->has_all_cpu_time = unsampled_is_complete(replay);
    result->damaged = replay->spool.damaged_blocks;
    result->damaged_bytes = replay->spool.damaged_bytes;
    result->samples_without_thread = replay->samples.without_thread;
    result->rest = replay->spool.rest;
    result->is_finished = replay_get_info(replay, INFO_END_MONOTONIC) != NULL;
    result->length = replay->range.last > assembly->start_ns ? replay->range.last - assembly->start_ns : 0;
    result->last_realtime = replay_convert_to_realtime(replay, replay->range.last);
    describe_events(replay, result->events, sizeof(result->events));
    result->addresses = assembly->symbolization.addresses;
    result->unnamed = assembly->symbolization.unnamed;
    result->trust = assembly->trust.all;
    result->recorder_cpu = replay_get_info_number(replay, INFO_RECORDER_CPU, 0);
    result->recorder_wall = replay_get_wall_time(replay);
    for (size_t i = 0; i < replay->threads.length; i++)
        result->threads += replay->threads.data[i].samples != 0;
    for (size_t i = 0; i < replay->processes.length; i++)
        result->processes += replay->processes.data[i].samples != 0;
}

void assembly_init(struct assembly *assembly, const struct assemble_options *options)
{
    *assembly = (struct assembly){.replay.input.perf_map_directory = PERF_MAP_DIRECTORY,
                                  .window = options->window,
                                  .replay.input.rest_path = options->rest,
                                  .replay.input.window = options->window,
                                  .replay.input.jit_files = options->files ? &options->files->jit : NULL};
    interner_init(&assembly->interner, &assembly->profile);
}

int assembly_add_stacks(struct assembly *assembly, const struct assemble_options *options, struct error *err)
{
    struct stable_numbers *numbers = options->numbers;
    const struct symbolizer_options symbols = {.threads = options->threads,
                                               .use_cache = true,
                                               .cache_directory = options->cache_directory,
                                               .search = options->search};
    bool is_first = assembly->symbolization.named.length == 0;
    if (!is_first && assembly->symbolization.named.length == assembly->replay.stacks.frames.length)
        return map_stacks(assembly, err);
    if (!assembly->symbolizer)
        assembly->symbolizer = symbolizer_new(&symbols);
    int code = assembly->symbolizer ? 0 : error_no_memory(err);
    if (!code && numbers && is_first)
        code = stable_numbers_add_funcs(numbers, &assembly->interner, err);
    if (!code)
        code = symbolize_frames(&assembly->symbolization,
                                &(struct symbolize_frames_input){.replay = &assembly->replay,
                                                                 .symbolizer = assembly->symbolizer,
                                                                 .profile = &assembly->profile,
                                                                 .interner = &assembly->interner,
                                                                 .files = options->files,
                                                                 .cache_directory = options->cache_directory},
                                err);
    if (!code && numbers)
        code = stable_numbers_store_funcs(numbers, &assembly->profile, err);
    return code ? code : map_stacks(assembly, err);
}

int assembly_describe(struct assembly *assembly, const struct assemble_options *options, struct assemble_result *result,
                      struct error *err)
{
    struct stable_numbers *numbers = options->numbers;
    uint64_t range_start = find_zero_time(&assembly->replay);
    assembly->start_ns = numbers && numbers->start_ns ? numbers->start_ns : range_start;
    if (numbers)
        numbers->start_ns = assembly->start_ns;
    int code = assembly->window ? assembly_window_begin(assembly, err) : 0;
    if (!code)
        code = add_threads(assembly, numbers, err);
    if (!code)
        code = add_wakers(assembly, err);
    if (!code)
        code = trust_find(&assembly->trust, &assembly->replay, &assembly->symbolization, err);
    if (!code) {
        const struct metadata_source source = {
            .replay = &assembly->replay,
            .symbolization = &assembly->symbolization,
            .hints = &result->hints,
            .trust = &assembly->trust,
            .start_ns = assembly->start_ns,
            .range_start = assembly->window ? NAN : assembly_convert_to_ms(assembly, range_start),
            .listener = options->listener};
        hints_find(&result->hints, &assembly->replay, &assembly->symbolization);
        code = fill_metadata(&assembly->profile, &source, err);
    }
    if (!code)
        code = add_events(assembly, err);
    if (!code && !assembly->window)
        code = add_markers(assembly, err);
    if (!code && !assembly->window) {
        const struct profile_counters_source source = {.replay = &assembly->replay,
                                                       .order = assembly->order.data,
                                                       .count = assembly->order.length,
                                                       .start_ns = assembly->start_ns,
                                                       .end_ns = find_end_time(&assembly->replay)};
        code = profile_counters_fill(&assembly->profile, &source, err);
    }
    return code;
}

void assembly_remove_description(struct assembly *assembly)
{
    profile_forget_description(&assembly->profile);
    trust_destroy(&assembly->trust);
    assembly->trust = (struct trust){0};
    assembly->order.length = assembly->wakers.length = 0;
}

void assembly_destroy(struct assembly *assembly)
{
    symbolizer_free(assembly->symbolizer);
    symbolization_destroy(&assembly->symbolization);
    trust_destroy(&assembly->trust);
    interner_destroy(&assembly->interner);
    profile_destroy(&assembly->profile);
    replay_destroy(&assembly->replay);
    array_free(&assembly->stack_map);
    array_free(&assembly->order);
    array_free(&assembly->wakers);
    array_free(&assembly->window_threads);
}

int assemble_recording(const char *spool_path, const char *output_path, const struct assemble_options *options,
                       struct assemble_result *result, struct error *err)
{
    struct assembly assembly;
    *result = (struct assemble_result){.memory_fd = -1};
    assembly_init(&assembly, options);
    int code = replay_spool(&assembly.replay, spool_path, err);
    if (!code)
        code = assembly_add_stacks(&assembly, options, err);
    if (!code)
        code = assembly_describe(&assembly, options, result, err);
    if (!code)
        code = write_profile(&assembly, output_path, options->keeps_old, result, err);
    if (!code)
        assembly_describe_result(&assembly, result);
    if (!code)
        list_missing_symbols(&assembly, result);
    if (!code && options->window)
        assembly_window_move_to(options->window, &assembly, find_end_time(&assembly.replay));
    assembly_destroy(&assembly);
    return code;
}
