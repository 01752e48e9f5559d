#include "record/wait_readings.h"

#include "base/random.h"
#include "os/clock.h"
#include "os/file_io.h"
#include "os/target_memory.h"
#include "process/wait_classes.h"
#include "process/wait_reason.h"
#include "record/wait_store.h"
#include "unwind/unwind.h"

#include <sched.h>

enum {
    LOOKS_AT_ONCE = 256,      /* most stacks read in one pass */
    NS_PER_READING = 700000,  /* time per reading of a stack or a run delay, which takes 10-20 us: 1.5-3 % of a CPU */
    PASSES_ON_CPU = 4,        /* mean number of passes on the CPU, over the threads that the recorder reads */
    SLOW_MOVE_NS = 500000,    /* a move to an idle CPU takes 30 us */
    PASSES_WITHOUT_MOVE = 64, /* 256 ms: slow moves take little of the recorder's time */
    RUN_DELAY_AGE_NS = 20000000, /* age of a run delay after which a pass reads the run delay again */
};

static bool reads_run_delay(const struct waits *waits)
{
    const struct waits_options *options = &waits->options;
    return !options->late_switches && !options->no_looks && !options->only_runs && !options->cpus;
}

/* Reads the runnable time (ns) of a thread so far, from schedstat in proc(5). */
static bool read_delay(uint32_t pid, uint32_t tid, uint64_t *delay)
{
    char path[64], text[128];
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/schedstat", pid, tid);
    return file_read_text(path, text, sizeof(text)) && sscanf(text, "%*u %" SCNu64, delay) == 1;
}

void read_run_delay(struct waits *waits, uint32_t pid, struct tracked_thread *thread)
{
    struct thread_run *run = &thread->run;
    uint64_t delay;
    bool has_waits = false;
    if (!reads_run_delay(waits))
        return;
    for (size_t i = 0; run->waits && i < WAIT_CLASSES; i++)
        has_waits |= run->waits->classes[i].waited_ns != 0;
    if (run->has_run_delay && !has_waits)
        return;
    if (!read_delay(pid, thread->tid, &delay))
        return;
    uint64_t grown = subtract_or_zero(delay, run->run_delay), shown = run->ready_since_reading;
    if (run->has_run_delay)
        take_runnable_time(run, subtract_or_zero(grown, shown) - flush_found_time(run, subtract_or_zero(grown, shown)));
    run->ready_since_reading = run->has_run_delay ? subtract_or_zero(shown, grown) : 0;
    run->awake_since_reading = 0;
    run->has_run_delay = true;
    run->run_delay = delay;
    run->run_delay_read = monotonic_ns();
}

uint64_t find_most_runnable_time(struct waits *waits, struct tracked_thread *thread, uint64_t end)
{
    const struct thread_run *run = &thread->run;
    struct tracked_process *process;
    uint64_t delay;
    if (!reads_run_delay(waits) || run->run_delay_read >= end ||
        !tracker_find_thread(waits->options.tracker, thread->tid, &process) ||
        !read_delay(process->pid, thread->tid, &delay))
        return UINT64_MAX;
    return subtract_or_zero(delay, run->run_delay + run->ready_since_reading);
}

uint64_t random_below(struct waits *waits, uint64_t limit)
{
    return limit ? draw_random_bits(&waits->random) % limit : 0;
}

void plan_wait_reading(struct waits *waits, uint64_t now)
{
    waits->next_look = now + LOOK_NS / 8 + random_below(waits, LOOK_NS * 7 / 4);
}

static unsigned char *get_copy(const struct waits *waits, const struct wait_reading *reading)
{
    return waits->copies + (size_t)(reading - waits->readings.data) * STACK_COPY;
}

static struct unwind_result walk_stack(struct waits *waits, struct tracked_process *process,
                                       const struct wait_reading *reading)
{
    const struct wait_state *state = &reading->state;
    struct unwind_regs regs;
    unwind_regs_fill_waiting(&regs, state->sp, state->pc, state->number < 0 ? NULL : state->arguments);
    const struct target_thread thread = {process->pid, reading->tid};
    struct unwind_stack stack = {.sp = state->sp,
                                 .bytes = get_copy(waits, reading),
                                 .size = reading->copied,
                                 .read_above = stack_reader_read,
                                 .read_off_copied_stack = stack_reader_read_off_copied_stack,
                                 .read_below = stack_reader_read_code,
                                 .read_code = stack_reader_read_code,
                                 .context = &waits->reader,
                                 .sps = process->python ? waits->sps : NULL};
    stack_reader_start(&waits->reader, thread, monotonic_ns(), state->sp, stack.bytes, stack.size,
                       stack.size == STACK_COPY);
    if (process->dump)
        jitdump_unwind_follow(process->dump, &process->space);
    return unwind_walk(&process->space, &regs, &stack, waits->frames, CHUNK_MAX_FRAMES);
}

/* Adds the Python frames of a waiting thread. Valid only if the thread sleeps until after this read, as its next switch
 * shows. */
static int add_python_frames(struct waits *waits, struct tracked_process *process, const struct wait_reading *reading,
                             struct unwind_result *result, struct error *err)
{
    struct python_stacks *python = waits->options.python;
    struct python_stack stack = {.pcs = waits->frames,
                                 .sps = waits->sps,
                                 .count = result->frames,
                                 .max = CHUNK_MAX_FRAMES,
                                 .is_complete = result->end == UNWIND_COMPLETE};
    if (!python || !reading->state.sp || !python_stack_has_python(process, &stack))
        return 0;
    const struct python_sample sample = {.pid = process->pid,
                                         .tid = reading->tid,
                                         .time = monotonic_ns(),
                                         .sp = reading->state.sp,
                                         .copy = get_copy(waits, reading),
                                         .copy_size = reading->copied};
    bool is_added = false;
    if (python_stacks_read(python, process, &sample) != PYTHON_READ)
        return 0;
    int code = python_stacks_add(python, process, true, &stack, &is_added, err);
    result->frames = stack.count;
    return code;
}

static int keep_stack(struct waits *waits, uint32_t pid, struct thread_run *run, const struct wait_state *state,
                      uint64_t taken, const struct unwind_result *result, struct error *err)
{
    uint32_t object;
    int code = find_wait_object(waits, pid, state->object, &object, err);
    if (code)
        return code;
    thread_run_forget_stack(run);
    run->stack = malloc(sizeof(*run->stack) + result->frames * sizeof(*run->stack->frames));
    if (!run->stack)
        return error_no_memory(err);
    *run->stack = (struct wait_stack){.asked = state->asked,
                                      .known = state->known,
                                      .taken = taken,
                                      .reason = state->reason,
                                      .object = object,
                                      .flags = (result->end == UNWIND_COMPLETE ? 0 : SAMPLE_TRUNCATED) |
                                               (result->used_no_cfi ? SAMPLE_WITHOUT_CFI : 0) |
                                               (result->used_read_above ? SAMPLE_COMPLETED_LIVE : 0),
                                      .frame_count = (uint32_t)result->frames};
    memcpy(run->stack->frames, waits->frames, result->frames * sizeof(*run->stack->frames));
    return 0;
}

/* Whether a thread waits at another place than at the last reading. */
static bool has_moved_on(uint32_t pid, struct tracked_thread *thread, const struct wait_state *before)
{
    struct wait_state now;
    return wait_state_read(pid, thread->tid, &thread->run.call, &now) <= 0 || now.sp != before->sp ||
           now.pc != before->pc || memcmp(now.arguments, before->arguments, sizeof(now.arguments)) != 0;
}

/* Reads the system call of a thread. Returns whether the thread waits. `planned`: ns, the planned time, or 0 (now). */
static bool read_call(struct waits *waits, struct tracked_thread *thread, const struct tracked_process *process,
                      uint64_t planned, struct wait_state *state)
{
    int code = wait_state_read(process->pid, thread->tid, &thread->run.call, state);
    if (planned)
        state->asked = planned;
    thread->run.is_refused = code == -EACCES;
    waits->refused += thread->run.is_refused;
    if (state->is_awake && !waits->options.late_switches) {
        thread->run.awake_asked = state->asked;
        thread->run.awake = state->known;
    }
    return code > 0;
}

/* Reads the reason and the stack of a thread that read_call() has found waiting. */
static int read_reason_and_stack(struct waits *waits, struct tracked_thread *thread, struct tracked_process *process,
                                 struct wait_reading *reading, struct error *err)
{
    struct wait_state *state = &reading->state;
    wait_state_describe(process->pid, thread->tid, state);
    if (waits->is_placed && state->cpu == (uint32_t)sched_getcpu()) {
        thread->run.cpu = state->cpu; /* the thread has moved to this CPU */
        return 0;
    }
    if (state->reason == REASON_STOPPED && waits->options.late_switches && !thread->run.is_stopped)
        return 0; /* the sampler has stopped the thread, for a sample */
    /* the mappings of the process may not be loaded yet */
    int code = tracker_find_thread_and_process(waits->options.tracker, process->pid, thread->tid, monotonic_ns(),
                                               &thread, &process, err);
    if (code < 0)
        return code;
    struct unwind_result result = {.end = UNWIND_COMPLETE};
    if (state->sp)
        result = walk_stack(waits, process, reading);
    for (int round = 0; round < MAPPINGS_OF_STACK_MAX; round++) {
        const struct tracked_stack stack = {.pcs = waits->frames, .count = result.frames, .unmapped = result.unmapped};
        bool changed;
        code = tracker_check_stack(waits->options.tracker, process, &stack, monotonic_ns(), &changed, err);
        if (code < 0)
            return code;
        if (!changed)
            break;
        result = walk_stack(waits, process, reading);
    }
    bool has_copy_only = !result.used_read_above && !waits->reader.went_off_copied_stack &&
                         result.end != UNWIND_SAVED_BELOW && !process->python;
    code = add_python_frames(waits, process, reading, &result, err);
    uint64_t taken = has_copy_only && state->sp ? reading->copy_read : monotonic_ns();
    bool has_moved =
        has_copy_only ? reading->has_moved : waits->options.late_switches && has_moved_on(process->pid, thread, state);
    if (has_moved)
        result = (struct unwind_result){.end = UNWIND_COMPLETE};
    return code ? code : keep_stack(waits, process->pid, &thread->run, state, taken, &result, err);
}

/* Copies the stacks of the threads that the readings have found waiting. */
static int copy_stacks(struct waits *waits, struct error *err)
{
    if (waits->readings.length > waits->copy_count) {
        unsigned char *copies = realloc(waits->copies, waits->readings.length * STACK_COPY);
        if (!copies)
            return error_no_memory(err);
        waits->copies = copies;
        waits->copy_count = waits->readings.length;
    }
    for (size_t i = 0; i < waits->readings.length; i++) {
        struct wait_reading *reading = &waits->readings.data[i];
        struct tracked_process *process;
        struct tracked_thread *thread = tracker_find_thread(waits->options.tracker, reading->tid, &process);
        if (!thread || !reading->waits || !reading->state.sp)
            continue;
        const struct target_thread target = {process->pid, reading->tid};
        reading->copied = target_memory_read(target, reading->state.sp, get_copy(waits, reading), STACK_COPY);
        reading->copy_read = monotonic_ns();
        reading->has_moved = waits->options.late_switches && has_moved_on(process->pid, thread, &reading->state);
    }
    return 0;
}

int read_wait_stack(struct waits *waits, struct tracked_thread *thread, struct tracked_process *process,
                    struct error *err)
{
    struct wait_reading reading = {.tid = thread->tid};
    reading.waits = read_call(waits, thread, process, 0, &reading.state);
    waits->readings.length = 0;
    if (!array_push(&waits->readings, reading))
        return error_no_memory(err);
    int code = copy_stacks(waits, err);
    return code || !reading.waits ? code : read_reason_and_stack(waits, thread, process, waits->readings.data, err);
}

enum read_threads { READ_OF_OWN_CPU, READ_OF_OTHER_CPUS, READ_ALL };

/* Takes the threads that this pass reads from the pending threads, until the budget is used, and reads their calls. */
static int read_calls(struct waits *waits, uint64_t now, enum read_threads which, struct error *err)
{
    uint32_t own_cpu = (uint32_t)sched_getcpu();
    size_t kept = 0;
    bool enough = true;
    waits->readings.length = 0;
    for (size_t i = 0; i < waits->pending.length; i++) {
        struct tracked_process *process;
        struct wait_reading reading = {.tid = waits->pending.data[i]};
        struct tracked_thread *thread = tracker_find_thread(waits->options.tracker, reading.tid, &process);
        if (!thread)
            continue;
        struct thread_run *run = &thread->run;
        bool is_near = run->cpu == own_cpu;
        bool is_later = is_near && (run->read_at >= waits->planned ||
                                    (run->state == RUN_WAITS && run->began > waits->planned)); /* for the next pass */
        bool may_wait = run->state == RUN_ON || (run->state == RUN_WAITS && !run->is_runnable);
        bool is_unknown = may_wait && (!run->stack || run->stack->is_from_event);
        if (which == (is_near ? READ_OF_OTHER_CPUS : READ_OF_OWN_CPU) ||
            (is_unknown && (!waits->looks || !enough || is_later))) {
            waits->pending.data[kept++] = reading.tid;
            continue;
        }
        run->in_pending = false;
        if (is_unknown) {
            waits->looks--;
            run->read_at = now;
            waits->has_read_near |= is_near;
            reading.waits = read_call(waits, thread, process, is_near ? waits->planned : 0, &reading.state);
        }
        enough = array_push(&waits->readings, reading);
    }
    waits->pending.length = kept;
    return enough ? 0 : error_no_memory(err);
}

/* Reads what the pass still needs of a thread. A thread that has moved to the recorder's CPU becomes pending again. */
static int finish_reading(struct waits *waits, uint64_t now, struct wait_reading *reading, struct error *err)
{
    struct tracked_process *process;
    struct tracked_thread *thread = tracker_find_thread(waits->options.tracker, reading->tid, &process);
    if (!thread)
        return 0;
    struct thread_run *run = &thread->run;
    uint32_t cpu = run->cpu;
    int code = reading->waits ? read_reason_and_stack(waits, thread, process, reading, err) : 0;
    if (!code && run->cpu != cpu) {
        run->in_pending = array_push(&waits->pending, reading->tid);
        code = run->in_pending ? 0 : error_no_memory(err);
    }
    if (!code && waits->looks && now > run->run_delay_read + RUN_DELAY_AGE_NS && reads_run_delay(waits)) {
        waits->looks--;
        read_run_delay(waits, process->pid, thread);
    }
    return code;
}

/*
 * Reads waiting threads until the budget is used. The pass first reads the calls of all threads, which takes the same
 * time for each thread. Otherwise the time at which the pass reads a thread would depend on what the thread before
 * waits for, and waits of related threads would count too much or too little. The pass then copies all stacks, before
 * the threads run again, and walks the copies.
 */
static int read_pending(struct waits *waits, uint64_t now, enum read_threads which, struct error *err)
{
    int code = read_calls(waits, now, which, err);
    if (!code)
        code = copy_stacks(waits, err);
    for (size_t i = 0; i < waits->readings.length && !code; i++)
        code = finish_reading(waits, now, &waits->readings.data[i], err);
    return code;
}

/* Moves the recorder to another CPU, once in several passes. The recorder reads the threads of its own CPU later than
 * planned, because the CPU first leaves its idle state, and so misses the shortest waits there. */
static void move_at_random(struct waits *waits)
{
    cpu_set_t allowed, others;
    if (random_below(waits, PASSES_ON_CPU) || sched_getaffinity(0, sizeof(allowed), &allowed))
        return;
    others = allowed;
    CPU_CLR((size_t)sched_getcpu(), &others);
    if (CPU_COUNT(&others) && !sched_setaffinity(0, sizeof(others), &others))
        sched_setaffinity(0, sizeof(allowed), &allowed);
}

/* With ptrace, the recorder sleeps on the CPU of the threads that it samples, and sees the starts of waits late. It can
 * therefore not correct readings on its CPU. */
static bool reads_from_other_cpus(const struct waits *waits)
{
    return waits->options.late_switches && CPU_COUNT(&waits->cpus) > 1 && !waits->stays;
}

/* Moves the recorder to other CPUs. After a move that takes long, because other processes use these CPUs, the recorder
 * stays on its CPU for several passes. */
static bool move_to(struct waits *waits, const cpu_set_t *cpus)
{
    uint64_t start = monotonic_ns();
    bool is_moved = sched_setaffinity(0, sizeof(*cpus), cpus) == 0;
    if (!is_moved || monotonic_ns() - start > SLOW_MOVE_NS)
        waits->stays = PASSES_WITHOUT_MOVE;
    return is_moved;
}

/* Reads each thread from another CPU than that of the thread. */
static int read_from_other_cpus(struct waits *waits, uint64_t now, struct error *err)
{
    cpu_set_t before, others = waits->cpus;
    int code = read_pending(waits, now, READ_OF_OTHER_CPUS, err);
    if (code || !waits->pending.length || sched_getaffinity(0, sizeof(before), &before))
        return code;
    CPU_CLR((size_t)sched_getcpu(), &others);
    if (!move_to(waits, &others))
        return 0;
    code = read_pending(waits, now, READ_ALL, err);
    move_to(waits, &before);
    return code;
}

int waits_start_reading(struct waits *waits, struct error *err)
{
    uint64_t now = monotonic_ns();
    if (now < waits->next_look)
        return 0;
    waits->planned = waits->next_look;
    waits->looks += (now - waits->last_look) / NS_PER_READING;
    if (waits->looks > LOOKS_AT_ONCE)
        waits->looks = LOOKS_AT_ONCE;
    waits->last_look = now - (now - waits->last_look) % NS_PER_READING;
    return reads_from_other_cpus(waits) ? 0 : read_pending(waits, now, READ_OF_OWN_CPU, err);
}

bool waits_are_due(const struct waits *waits)
{
    return waits->planned == waits->next_look;
}

int waits_read_stacks(struct waits *waits, struct error *err)
{
    uint64_t now = monotonic_ns();
    if (!waits_are_due(waits))
        return 0;
    plan_wait_reading(waits, now);
    if (waits->is_placed)
        return read_pending(waits, now, READ_OF_OTHER_CPUS, err);
    if (reads_from_other_cpus(waits))
        return read_from_other_cpus(waits, now, err);
    waits->stays -= waits->stays > 0;
    int code = read_pending(waits, now, READ_ALL, err);
    if (waits->has_read_near)
        move_at_random(waits);
    waits->has_read_near = false;
    return code;
}

bool waits_want_reading(const struct waits *waits)
{
    return waits->pending.length || waits->planned < waits->active_until;
}
