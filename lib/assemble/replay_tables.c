#include "assemble/replay_tables.h"

#include "assemble/replay_jit.h"
#include "spool/info.h"
#include "process/jit_files.h"
#include "language/python_frame.h"

#include <stdlib.h>
#include <string.h>

bool replay_knows_lib(const struct replay *replay, uint32_t number)
{
    return number < replay->libs.items.length && replay->libs.items.data[number].path;
}

bool replay_is_possible(const struct replay *replay, uint32_t number)
{
    enum { MOST_OF_WINDOWS = 1 << 20 };
    if (replay->input.window && spool_reader_keeps_last(replay->spool.reader)) /* most of its events were dropped */
        return number < MOST_OF_WINDOWS;
    return number <= spool_reader_bytes(replay->spool.reader) / SPOOL_EVENT_MIN;
}

/* Makes room for row `number` of a table, with unknown rows before it. 1; 0 if the number is damaged, which is counted;
 * or -ENOMEM. */
static int ensure_row(struct replay *replay, uint32_t number, void **rows, size_t *length, size_t *capacity,
                      size_t row_size, struct error *err)
{
    size_t more = number < *length ? 0 : number + 1 - *length;
    if (!replay_is_possible(replay, number)) {
        replay->spool.damaged_blocks++;
        return 0;
    }
    if (!array_grow(rows, *length, capacity, more, row_size))
        return error_no_memory(err);
    if (more)
        memset((char *)*rows + *length * row_size, 0, more * row_size);
    *length += more;
    return 1;
}

#define ENSURE_ROW(replay, table, number, err)                                                                         \
    ensure_row((replay), (number), (void **)&(table)->data, &(table)->length, &(table)->capacity,                      \
               sizeof(*(table)->data), (err))

void replay_note_time(struct replay *replay, uint64_t time)
{
    if (!time)
        return;
    if (!replay->range.first || time < replay->range.first)
        replay->range.first = time;
    if (time > replay->range.last)
        replay->range.last = time;
}

static struct replay_process *process_at(struct replay *replay, uint32_t number)
{
    return number < replay->processes.length && replay->processes.data[number].known ? &replay->processes.data[number]
                                                                                     : NULL;
}

bool replay_knows_thread(const struct replay *replay, uint32_t number)
{
    return number < replay->threads.length && replay->threads.data[number].known;
}

/* A file of which a process has a part already is not loaded again. A compiler maps its jitdump file to tell of it. */
static int note_load(struct replay *replay, const struct spool_event *event, struct error *err)
{
    if (replay->input.window || event->number == SPOOL_NO_NUMBER || !replay_knows_lib(replay, event->lib_number) ||
        replay->libs.items.data[event->lib_number].kind != SPOOL_LIB_FILE ||
        jit_files_is_jitdump(replay->libs.items.data[event->lib_number].path) ||
        event->time <= replay_info_number(replay, INFO_START_MONOTONIC, 0))
        return 0;
    uint64_t key = (uint64_t)event->number << 32 | event->lib_number;
    if (replay->libs.loads.length >= REPLAY_LOADS) {
        replay->libs.more_loads++;
        return 0;
    }
    if (hash_get(&replay->libs.loaded, key) != HASH_MISSING)
        return 0;
    struct replay_load load = {.process = event->number, .lib = event->lib_number, .time = event->time};
    return hash_set(&replay->libs.loaded, key, 1) && array_push(&replay->libs.loads, load) ? 0 : error_no_memory(err);
}

static int apply_map(struct replay *replay, const struct spool_event *event, struct error *err)
{
    struct address_space *space = &replay->libs.kernel;
    if (event->number != SPOOL_NO_NUMBER) {
        struct replay_process *process = process_at(replay, event->number);
        if (!process)
            return 0;
        process->map_generation++;
        space = &process->space;
        replay_jit_mapped(replay, event->number, event->lib_number);
    } else {
        replay->libs.kernel_generation++;
    }
    struct mapping mapping = {.start = event->start,
                              .end = event->end,
                              .rva = event->rva,
                              .lib = event->lib_number == SPOOL_NO_NUMBER ? MAPPING_NO_LIB : event->lib_number};
    if (mapping.start < mapping.end && !address_space_map(space, &mapping))
        return error_no_memory(err);
    return note_load(replay, event, err);
}

static void end_thread(struct replay *replay, const struct spool_event *event)
{
    if (!replay_knows_thread(replay, event->number))
        return;
    struct replay_thread *thread = &replay->threads.data[event->number];
    thread->end = event->time;
    array_free(&thread->last_stack.pcs);
    array_free(&thread->last_stack.stacks);
    struct replay_process *process = process_at(replay, thread->process);
    if (process && process->live_threads && --process->live_threads == 0) {
        process->end = event->time;
        address_space_destroy(&process->space);
        process->space = (struct address_space){0};
        process->map_generation++;
    }
}

static void note_rest(struct replay *replay, const struct spool_event *event)
{
    if (!replay_knows_thread(replay, event->number))
        return;
    struct replay_thread *thread = &replay->threads.data[event->number];
    replay->cpu_time.has_rests = true;
    thread->cpu_time.rest += event->count;
}

static int start_process(struct replay *replay, const struct spool_event *event, struct error *err)
{
    int is_there = ENSURE_ROW(replay, &replay->processes, event->number, err);
    if (is_there <= 0)
        return is_there;
    struct replay_process *process = &replay->processes.data[event->number];
    if (process->known)
        return 0;
    *process = (struct replay_process){
        .known = true,
        .parent = event->parent,
        .pid = event->pid,
        .start = event->time,
        .main_thread = REPLAY_NONE,
        .name = strings_add_z(&replay->strings, event->name),
    };
    if (process->name == STRING_NONE)
        return error_no_memory(err);
    const struct replay_process *parent = process_at(replay, event->parent);
    if (parent && event->exec)
        process->instance = parent->instance + 1;
    else if (parent && !address_space_copy(&process->space, &parent->space))
        return error_no_memory(err);
    return 0;
}

/* The counters of a thread continue over exec. */
static void start_main_thread(struct replay *replay, struct replay_process *process, uint32_t number)
{
    const struct replay_process *before = process_at(replay, process->parent);
    process->main_thread = number;
    if (!before || before->pid != process->pid || before->main_thread == REPLAY_NONE)
        return;
    struct replay_thread *caller = &replay->threads.data[before->main_thread];
    caller->cpu_time.goes_on = true;
    replay->threads.data[number].cpu_time.covered_until = caller->cpu_time.covered_until;
}

static int start_thread(struct replay *replay, const struct spool_event *event, struct error *err)
{
    int is_there = ENSURE_ROW(replay, &replay->threads, event->number, err);
    if (is_there <= 0)
        return is_there;
    struct replay_thread *thread = &replay->threads.data[event->number];
    struct replay_process *process = process_at(replay, event->process);
    if (thread->known || !process)
        return 0;
    *thread = (struct replay_thread){
        .known = true,
        .process = event->process,
        .tid = event->tid,
        .start = event->time,
        .cpu_time.covered_until = event->time,
        .name = strings_add_z(&replay->strings, event->name),
    };
    if (event->tid == process->pid)
        start_main_thread(replay, process, event->number);
    process->live_threads++;
    return thread->name == STRING_NONE ? error_no_memory(err) : 0;
}

static int rename_thread(struct replay *replay, const struct spool_event *event, struct error *err)
{
    if (!replay_knows_thread(replay, event->number))
        return 0;
    struct replay_thread *thread = &replay->threads.data[event->number];
    uint32_t name = strings_add_z(&replay->strings, event->name);
    if (name == STRING_NONE)
        return error_no_memory(err);
    thread->name = name;
    struct replay_process *process = process_at(replay, thread->process);
    if (process && process->pid == thread->tid)
        process->name = name;
    return 0;
}

static int add_lib(struct replay *replay, const struct spool_event *event, struct error *err)
{
    int is_there = ENSURE_ROW(replay, &replay->libs.items, event->number, err);
    if (is_there <= 0)
        return is_there;
    struct spool_lib *lib = &replay->libs.items.data[event->number];
    *lib = event->lib;
    lib->path = arena_copy(&replay->libs.arena, lib->path, strlen(lib->path));
    lib->build_id =
        (const unsigned char *)arena_copy(&replay->libs.arena, (const char *)lib->build_id, lib->build_id_size);
    lib->image = (const unsigned char *)arena_copy(&replay->libs.arena, (const char *)lib->image, lib->image_size);
    return lib->path && lib->build_id && lib->image ? 0 : error_no_memory(err);
}

static int add_object(struct replay *replay, const struct spool_event *event, struct error *err)
{
    if (!event->number || !replay_is_possible(replay, event->number)) {
        replay->spool.damaged_blocks++;
        return 0;
    }
    while (replay->objects.length < event->number)
        if (!array_push(&replay->objects, STRING_NONE))
            return error_no_memory(err);
    uint32_t *name = &replay->objects.data[event->number - 1];
    *name = strings_add_z(&replay->strings, event->name);
    return *name == STRING_NONE ? error_no_memory(err) : 0;
}

static int add_python_function(struct replay *replay, const struct spool_event *event, struct error *err)
{
    if (!replay_is_possible(replay, event->number)) {
        replay->spool.damaged_blocks++;
        return 0;
    }
    while (replay->python_functions.length <= event->number)
        if (!array_push(&replay->python_functions, (struct replay_function){STRING_NONE, STRING_NONE, 0}))
            return error_no_memory(err);
    struct replay_function *function = &replay->python_functions.data[event->number];
    function->name = strings_add_z(&replay->strings, event->name);
    function->file = strings_add_z(&replay->strings, event->value);
    function->line = event->count <= PYTHON_LINE_MAX ? (uint32_t)event->count : 0;
    return function->name == STRING_NONE || function->file == STRING_NONE ? error_no_memory(err) : 0;
}

static int add_info(struct replay *replay, const struct spool_event *event, struct error *err)
{
    struct replay_info info = {
        .name = strings_add_z(&replay->strings, event->name),
        .value = strings_add_z(&replay->strings, event->value),
    };
    if (info.name == STRING_NONE || info.value == STRING_NONE)
        return error_no_memory(err);
    for (size_t i = 0; i < replay->infos.items.length; i++)
        if (replay->infos.items.data[i].name == info.name) {
            replay->infos.items.data[i].value = info.value;
            return 0;
        }
    return array_push(&replay->infos.items, info) ? 0 : error_no_memory(err);
}

/* Applies an event at its time. */
static int apply_event(struct replay *replay, const struct spool_event *event, struct error *err)
{
    switch (event->kind) {
    case SPOOL_PROCESS:
        return start_process(replay, event, err);
    case SPOOL_THREAD:
        return start_thread(replay, event, err);
    case SPOOL_NAME:
        return rename_thread(replay, event, err);
    case SPOOL_MAP:
        return apply_map(replay, event, err);
    case SPOOL_THREAD_END:
        end_thread(replay, event);
        return 0;
    case SPOOL_LOST:
        if (replay->spool.keeps_last && !replay->samples.count) /* before the samples that are there */
            return 0;
        replay->samples.lost += event->count;
        return replay_marks_event(&replay->marks, event, err);
    case SPOOL_UNSAMPLED:
        note_rest(replay, event);
        return 0;
    case SPOOL_UNSEEN:
        if (process_at(replay, event->number))
            process_at(replay, event->number)->unseen += event->count;
        return 0;
    default:
        return 0;
    }
}

int replay_apply_pending(struct replay *replay, uint64_t time, struct error *err)
{
    int code = 0;
    while (!code && replay->queue.done < replay->queue.events.length &&
           replay->queue.events.data[replay->queue.done].time <= time)
        code = apply_event(replay, &replay->queue.events.data[replay->queue.done++], err);
    size_t rest = replay->queue.events.length - replay->queue.done;
    if (replay->queue.done >= rest) {
        if (rest)
            memmove(replay->queue.events.data, replay->queue.events.data + replay->queue.done,
                    rest * sizeof(*replay->queue.events.data));
        replay->queue.events.length = rest;
        replay->queue.done = 0;
    }
    return code;
}

/* The recorder writes samples about every second. */
static const uint64_t longest_delay_ns = UINT64_C(4) * 1000 * 1000 * 1000;

/* The events before a window, whose samples are passed over, do not wait for its first sample: there may be millions.
 */
static int apply_before_window(struct replay *replay, uint64_t time, struct error *err)
{
    bool is_before = replay->input.window && !replay->range.first_sample && time > longest_delay_ns;
    return is_before ? replay_apply_pending(replay, time - longest_delay_ns, err) : 0;
}

static int queue_event(struct replay *replay, const struct spool_event *event, struct error *err)
{
    struct spool_event copy = *event;
    uint32_t name = strings_add_z(&replay->strings, event->name ? event->name : "");
    if (name == STRING_NONE)
        return error_no_memory(err);
    copy.name = strings_text(&replay->strings, name); /* the event's own text was freed with its block */
    return array_push(&replay->queue.events, copy) ? apply_before_window(replay, event->time, err)
                                                   : error_no_memory(err);
}

/* The kernel's image and modules are mapped from the start; only code that the kernel generates comes and goes. */
static bool is_timed(const struct replay *replay, const struct spool_event *kernel_map)
{
    return !replay_knows_lib(replay, kernel_map->lib_number) ||
           replay->libs.items.data[kernel_map->lib_number].kind == SPOOL_LIB_KERNEL_CODE;
}

int replay_take_event(struct replay *replay, const struct spool_event *event, struct error *err)
{
    if (program_marks_is_event(event)) {
        if (replay->range.first && event->time > replay->range.first) /* programs may tell of what was before */
            replay_note_time(replay, event->time);
        return replay->input.window ? 0 : program_marks_event(&replay->program_marks, event, err);
    }
    replay_note_time(replay, event->time);
    switch (event->kind) {
    case SPOOL_INFO:
        if (strcmp(event->name, INFO_INTERVAL) == 0)
            replay->infos.interval = strtoull(event->value, NULL, 10);
        return add_info(replay, event, err);
    case SPOOL_LIB:
        return add_lib(replay, event, err);
    case SPOOL_PAUSED:
    case SPOOL_RESUMED:
    case SPOOL_MARK:
    case SPOOL_RUN: /* these come from the recorder, whose time is not that of the records around them */
        return replay_marks_event(&replay->marks, event, err);
    case SPOOL_OBJECT:
        return add_object(replay, event, err);
    case SPOOL_PYTHON_FUNCTION:
        return add_python_function(replay, event, err);
    default:
        if (event->kind == SPOOL_MAP && event->number == SPOOL_NO_NUMBER && !is_timed(replay, event))
            return apply_map(replay, event, err);
        return queue_event(replay, event, err);
    }
}
