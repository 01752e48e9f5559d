#include "assemble/sample_rows.h"

#include "assemble/event_store.h"
#include "spool/info.h"

static void begin_rounding(struct sample_rows *source)
{
    struct time_grid grid;
    double resolution = assembly_get_time_resolution(source->assembly);
    if (source->state.times.steps_per_ms > 0 || !make_time_grid(resolution, &grid))
        return;
    time_quantizer_init(&source->state.times, grid);
    cpu_quantizer_init(&source->state.cpu_times, resolution * 1000);
}

/* Restarts at `start` for a new pass over the rows of a table. */
static int rewind_thread(void *context, size_t thread, struct error *err)
{
    struct sample_rows *source = context;
    const struct replay *replay = &source->assembly->replay;
    uint32_t number = source->assembly->order.data[thread];
    source->thread = &replay->threads.data[number];
    source->of_event = false;
    source->state = source->start;
    source->number = number;
    begin_rounding(source);
    if (source->assembly->window) {
        struct window_thread before = recording_window_get_thread(source->assembly->window, number);
        source->state.cpu = before.cpu;
        source->state.time = before.time ? assembly_convert_to_ms(source->assembly, before.time) : NAN;
    }
    int code = sample_cursor_start(&source->cursor, replay->samples.store, number, err);
    source->cursor.position = source->start.position;
    return code;
}

static int rewind_event(void *context, size_t thread, size_t event, struct error *err)
{
    struct sample_rows *source = context;
    const struct replay_event *recorded = &source->assembly->replay.events.data[event];
    const struct sample_store *store = recorded->store;
    source->scale = recorded->scale;
    source->state = source->start;
    source->of_event = true;
    source->is_empty = store == NULL;
    if (!store)
        return 0;
    int code = sample_cursor_start(&source->cursor, store, source->assembly->order.data[thread], err);
    source->cursor.position = source->start.position;
    return code;
}

static uint32_t get_profile_stack(const struct assembly *assembly, uint32_t stack)
{
    return stack == REPLAY_NONE ? PROFILE_NONE : assembly->stack_map.data[stack];
}

/* Returns the weight of an event sample in whole events. The fraction counts for the thread's next sample. */
static double take_event_weight(struct sample_rows *source, uint64_t period)
{
    double events = source->state.carried + (double)period * source->scale, whole = floor(events);
    if (source->scale == 1)
        return (double)period;
    source->state.carried = events - whole;
    return whole;
}

static bool next_event(struct sample_rows *source, struct sample_row *row)
{
    struct event_sample sample;
    int got = source->is_empty ? 0 : event_store_next(&source->cursor, &sample, source->err);
    if (got < 0)
        source->code = got;
    if (got <= 0)
        return false;
    source->state.row++;
    source->state.position = source->cursor.position;
    *row = (struct sample_row){.stack = get_profile_stack(source->assembly, sample.stack),
                               .time = assembly_convert_to_ms(source->assembly, sample.time),
                               .weight = take_event_weight(source, sample.period),
                               .waker = PROFILE_NONE,
                               .waker_stack = PROFILE_NONE};
    return true;
}

/* µs */
static double get_cpu_time_us(const struct sample_rows *source, const struct stored_sample *sample)
{
    const struct replay *replay = &source->assembly->replay;
    double scale = replay->processes.data[source->thread->process].scale;
    double cpu_time = stored_sample_get_cpu_time(sample) * (SAMPLE_CPU_UNIT / 1e3);
    double excess = cpu_time - (double)replay->infos.interval / 1e3;
    cpu_time *= scale > 0 ? scale : 1;
    return excess > 0 ? cpu_time - excess * replay->cpu_time.excess_removed : cpu_time;
}

/* Rounds times like profile_write(), so that a written profile has the same times. */
static void round_times(struct sample_rows_state *state, double *time, double *cpu_delta)
{
    double steps_per_ms = state->times.steps_per_ms;
    int64_t steps = time_quantizer_next(&state->times, *time);
    *time = (double)state->times.sum / steps_per_ms;
    *cpu_delta = (double)cpu_quantizer_next(&state->cpu_times, *cpu_delta, (double)steps * 1000 / steps_per_ms);
}

/* Returns the factor of unseen waits. The kernel counts CPU time for each switch, which the waits contain. Threads with
 * many short waits have most of this time. */
static double compute_unseen_part(const struct sample_rows *source)
{
    const struct replay_thread_time *time = &source->thread->cpu_time;
    double scale = source->assembly->replay.processes.data[source->thread->process].scale;
    double more = scale > 1 ? (scale - 1) * (double)time->covered : 0;
    return more < (double)time->unseen ? 1 - more / (double)time->unseen : 0;
}

/*
 * In a recording of waits, weights are in ms. A sample on a CPU weighs the CPU time since the last sample, and the end
 * of a wait weighs the time for which the wait stands. So the weights add up to the CPU time and the waits of the
 * thread. The start of a wait, and the row of the CPU time before a wait, weigh 0.
 */
static double compute_weight(struct sample_rows *source, const struct stored_sample *sample, double time, double cpu)
{
    struct sample_rows_state *state = &source->state;
    double before = state->time, weight = 0;
    state->row++;
    state->time = time;
    state->cpu += cpu;
    if (sample->kind == STORED_CPU && sample->stack != REPLAY_NONE) {
        weight = state->cpu;
        state->cpu = 0;
    }
    if (sample->kind == STORED_WAIT_BEGIN)
        state->unseen = round(sample->unseen * (SAMPLE_CPU_UNIT / 1e3) * compute_unseen_part(source)) / 1e3;
    if (sample->kind == STORED_WAIT_END)
        weight = fmax(0, time - before) + state->unseen;
    return weight;
}

static void set_waker(const struct assembly *assembly, const struct stored_sample *sample, struct sample_row *row)
{
    uint32_t number = stored_sample_ends_wait(sample) ? sample->waker : 0;
    row->waker = row->waker_stack = PROFILE_NONE;
    if (!number)
        return;
    const struct replay_waker *waker = &assembly->replay.wakers.all.data[number - 1];
    row->waker = waker->object <= assembly->wakers.length ? assembly->wakers.data[waker->object - 1] : PROFILE_NONE;
    row->waker_stack = get_profile_stack(assembly, waker->stack);
}

bool sample_rows_next(void *context, struct sample_row *row)
{
    struct sample_rows *source = context;
    const struct assembly *assembly = source->assembly;
    struct stored_sample sample = {0};
    if (source->of_event)
        return next_event(source, row);
    int got = sample_cursor_next(&source->cursor, &sample, source->err);
    if (got < 0)
        source->code = got;
    if (got == 0 && assembly->window && source->number < assembly->window_threads.length)
        assembly->window_threads.data[source->number].cpu = source->state.cpu;
    if (got <= 0)
        return false;
    source->state.position = source->cursor.position;
    double time = assembly_convert_to_ms(assembly, sample.time), cpu_delta = get_cpu_time_us(source, &sample);
    round_times(&source->state, &time, &cpu_delta);
    *row = (struct sample_row){
        .stack = get_profile_stack(assembly, sample.stack),
        .time = time,
        .weight = compute_weight(source, &sample, time, cpu_delta / 1e3),
        .cpu_delta = cpu_delta,
    };
    set_waker(assembly, &sample, row);
    return true;
}

static int rewind_slices(void *context, size_t thread, struct error *err)
{
    struct sample_rows *source = context;
    const struct assembly *assembly = source->assembly;
    int code = sample_cursor_start(&source->cursor, assembly->replay.samples.slices, assembly->order.data[thread], err);
    source->cursor.position = source->start.position;
    return code;
}

static bool next_slice(void *context, struct slice_row *row)
{
    struct sample_rows *source = context;
    struct stored_sample begin, end;
    int got = sample_cursor_next(&source->cursor, &begin, source->err);
    if (got > 0)
        got = sample_cursor_next(&source->cursor, &end, source->err);
    if (got < 0)
        source->code = got;
    if (got <= 0)
        return false;
    *row = (struct slice_row){.cpu = begin.cpu,
                              .start = assembly_convert_to_ms(source->assembly, begin.time),
                              .end = assembly_convert_to_ms(source->assembly, end.time),
                              .off_cpu = end.off_cpu * (SAMPLE_CPU_UNIT / 1e6)};
    return true;
}

struct sample_source make_sample_rows_source(struct sample_rows *rows)
{
    const struct assembly *assembly = rows->assembly;
    rows->start = SAMPLE_ROWS_START;
    return (struct sample_source){.rewind = rewind_thread,
                                  .rewind_event = assembly->profile.meta.events.length ? rewind_event : NULL,
                                  .next = sample_rows_next,
                                  .rewind_slices = rewind_slices,
                                  .next_slice = next_slice,
                                  .has_weight = replay_get_info_number(&assembly->replay, INFO_OFF_CPU, 0) != 0,
                                  .has_cpu_delta = true,
                                  .has_wakers = assembly->wakers.length != 0,
                                  .context = rows};
}
