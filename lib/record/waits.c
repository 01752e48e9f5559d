#include "record/waits.h"

#include "os/clock.h"
#include "os/file_io.h"
#include "os/file_proc.h"
#include "os/target_memory.h"
#include "process/socket_names.h"
#include "record/wait_reason.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STACK_COPY = 16 * 1024,     /* bytes; fits most waiting threads; a walk reads the rest if needed */
    LOOKS_AT_ONCE = 256,        /* most stacks read in one pass */
    NS_PER_WAIT_STACK = 500000, /* budget: a stack for each 0.5 ms; at 10-20 us each at most 2-4% of a CPU */
    OBJECTS_MAX = 65536,        /* names; waits for further objects have only a reason */
    SOCKETS_COST_NS = 50000000, /* CPU time for describing sockets, plus ... */
    SOCKETS_SHARE = 100,        /* ... 1/100 of the elapsed time */
    MAX_STACK_AGE_NS = 1000000, /* of a stack passed before a wait, to count as the wait's stack */
    LONG_INTERVALS = 4,         /* sampling intervals; longer waits are stored even without a stack */
};

static const uint64_t part_length = UINT64_C(1000000000); /* ns: long waits are stored in parts of this length */

int waits_init(struct waits *waits, const struct waits_options *options, struct error *err)
{
    *waits = (struct waits){.options = *options, .started = monotonic_ns()};
    tracker_expect_switches(options->tracker, true);
    waits->copy = malloc(STACK_COPY);
    waits->frames = malloc(CHUNK_MAX_FRAMES * sizeof(*waits->frames));
    waits->sps = malloc(CHUNK_MAX_FRAMES * sizeof(*waits->sps));
    if (!waits->copy || !waits->frames || !waits->sps)
        return error_no_memory(err);
    return stack_reader_init(&waits->reader, err);
}

void waits_destroy(struct waits *waits)
{
    stack_reader_destroy(&waits->reader);
    strings_destroy(&waits->objects);
    array_free(&waits->pending);
    free(waits->copy);
    free(waits->frames);
    free(waits->sps);
    *waits = (struct waits){0};
}

/* ---- storing ---- */

/* Returns the ns of waits that are not in the spool; of preemptions, or of time on other CPUs, if the thread is in one
 * now. */
static uint64_t *unstored(struct thread_run *run)
{
    return run->state == RUN_ELSEWHERE ? &run->was_elsewhere : run->preempted ? &run->was_ready : &run->waited;
}

static bool is_off_cpu(const struct thread_run *run)
{
    return run->state == RUN_WAITS || (run->state == RUN_ELSEWHERE && run->was_here);
}

/* Whether to store the wait of a thread up to `end` (ns). `is_last`: the thread has no later wait. */
static bool is_due(const struct waits *waits, struct thread_run *run, uint64_t end, bool is_last)
{
    uint64_t length = end > run->since ? end - run->since : 0;
    if (waits->options.only_runs)
        return false;
    if (run->stack && run->stack->taken > end)
        thread_run_forget_stack(run); /* read after the wait: not the wait's stack */
    /* a wait whose stack was not yet read counts for the thread's next stored wait */
    bool is_bare = (!run->in_pending || is_last) && length >= LONG_INTERVALS * waits->options.interval;
    bool is_seen = run->stack && (!run->stack->is_given || waits->options.no_looks);
    bool is_told = run->preempted || run->state == RUN_ELSEWHERE || is_seen || run->goes_on || is_bare;
    return length && is_told && *unstored(run) + length >= waits->options.interval;
}

/* Appends a description of the socket. The lists of very many sockets take long to read: beyond a limit of CPU time,
 * sockets have only their number. */
static void describe_socket(struct waits *waits, uint32_t pid, const char *name, char *text, size_t size)
{
    const char *socket = strstr(name, "socket:[");
    char what[SOCKET_NAME_SIZE];
    uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    snprintf(text, size, "%s", name);
    if (!socket || !pid || waits->socket_cost > SOCKETS_COST_NS + (monotonic_ns() - waits->started) / SOCKETS_SHARE)
        return;
    if (socket_name(pid, strtoull(socket + strlen("socket:["), NULL, 10), what, sizeof(what)))
        snprintf(text, size, "%s %s", name, what);
    waits->socket_cost += clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
}

/* *number: of the SPOOL_OBJECT with this name; 0 if the table is full. `pid`: process of the file descriptor; 0 for
 * other objects. */
static int object_number(struct waits *waits, uint32_t pid, const char *name, uint32_t *number, struct error *err)
{
    char text[WAIT_OBJECT_SIZE + SOCKET_NAME_SIZE];
    size_t known = waits->objects.entries.length;
    uint32_t found = strings_find(&waits->objects, name, strlen(name));
    *number = found == STRING_NONE ? 0 : found + 1;
    if (found != STRING_NONE || known >= OBJECTS_MAX)
        return 0;
    if (strings_add_z(&waits->objects, name) == STRING_NONE)
        return error_no_memory(err);
    *number = (uint32_t)known + 1;
    describe_socket(waits, pid, name, text, sizeof(text));
    const struct spool_object object = {.object = *number, .name = text};
    return spool_write_object(waits->options.spool, &object, err);
}

static int waker_number(struct waits *waits, const struct thread_waker *waker, uint32_t reason, uint32_t *number,
                        struct error *err)
{
    char name[WAKER_NAME_SIZE];
    if (!waker->is_known)
        return 0;
    wakers_name(&waits->wakers, waits->options.tracker, waker, reason, name, sizeof(name));
    return object_number(waits, 0, name, number, err);
}

/* Stores a wait up to `end` (ns), or its part that is not yet in the spool. */
static int store(struct waits *waits, struct tracked_thread *thread, uint64_t end, struct error *err)
{
    struct thread_run *run = &thread->run;
    const struct wait_stack *stack = run->stack;
    bool is_wait = run->state == RUN_WAITS;
    struct spool_wait wait = {.thread = thread->number,
                              .time_ns = end,
                              .cpu_time_ns = run->ran,
                              .wait_ns = end - run->since,
                              .goes_on = run->goes_on};
    if (stack) {
        wait.reason = stack->reason;
        wait.object = stack->object;
        wait.flags = stack->flags;
        wait.frames = (struct spool_list){stack->frames, stack->frame_count};
    }
    if (is_wait && run->preempted)
        wait.reason = REASON_PREEMPTED;
    run->ran = 0;
    *unstored(run) = 0;
    if (waits->paused || !thread_filter_matches(waits->options.filter, thread->name))
        return 0;
    waits->stored += is_wait && !run->goes_on;
    tracker_note_ran(waits->options.tracker, thread, wait.cpu_time_ns);
    waits->without_stack += is_wait && !run->goes_on && !wait.frames.count && !run->preempted;
    waits->truncated += !run->goes_on && wait.flags & SAMPLE_TRUNCATED;
    int code = is_wait ? waker_number(waits, &run->waker, wait.reason, &wait.waker, err)
                       : object_number(waits, 0, "on other CPUs", &wait.object, err);
    return code ? code : spool_write_wait(waits->options.spool, &wait, err);
}

/* ---- switches ---- */

static int leave_cpu(struct waits *waits, struct tracked_thread *thread, uint64_t time, bool preempted,
                     struct error *err)
{
    struct thread_run *run = &thread->run;
    if (run->state == RUN_ON && time > run->since)
        run->ran += time - run->since;
    run->state = RUN_WAITS;
    run->since = time;
    run->preempted = preempted;
    run->goes_on = false;
    run->awake = 0;
    run->waker = (struct thread_waker){0};
    if (!run->stack || !run->stack->is_given || run->stack->taken + MAX_STACK_AGE_NS < time)
        thread_run_forget_stack(run);
    if (preempted || waits->options.only_runs || waits->options.no_looks)
        return 0;
    waits->has_blocked = true;
    if (run->in_pending)
        return 0;
    run->in_pending = array_push(&waits->pending, thread->tid);
    return run->in_pending ? 0 : error_no_memory(err);
}

/* A thread found awake that has not run since has been runnable since then. */
static void split_off_ready(struct thread_run *run, uint64_t end)
{
    if (run->state != RUN_WAITS || !run->awake || run->awake >= end)
        return;
    run->waited += run->awake - run->since;
    run->since = run->awake;
    run->awake = 0;
    run->preempted = true;
    run->goes_on = false;
    run->waker = (struct thread_waker){0};
}

/* Ends a wait, or the time on other CPUs. */
static int end_wait(struct waits *waits, struct tracked_thread *thread, uint64_t time, bool is_last, struct error *err)
{
    struct thread_run *run = &thread->run;
    int code = 0;
    split_off_ready(run, time);
    if (is_off_cpu(run) && is_due(waits, run, time, is_last))
        code = store(waits, thread, time, err);
    else if (is_off_cpu(run) && time > run->since)
        *unstored(run) += time - run->since;
    thread_run_forget_stack(run);
    return code;
}

static int come_to_cpu(struct waits *waits, struct tracked_thread *thread, uint64_t time, struct error *err)
{
    struct thread_run *run = &thread->run;
    run->was_here = true;
    int code = end_wait(waits, thread, time, false, err);
    run->state = RUN_ON;
    run->since = time;
    return code;
}

/* Moves a thread to a CPU outside of the list. If it has never run on a recorded CPU, the wait before counts as time
 * there. */
static int go_elsewhere(struct waits *waits, struct tracked_thread *thread, uint64_t time, struct error *err)
{
    struct thread_run *run = &thread->run;
    if (run->state == RUN_ELSEWHERE)
        return 0;
    int code = run->was_here ? end_wait(waits, thread, time, false, err) : 0;
    thread_run_forget_stack(run);
    if (run->was_here || run->state != RUN_WAITS)
        run->since = time;
    run->state = RUN_ELSEWHERE;
    run->preempted = run->goes_on = false;
    return code;
}

static bool is_elsewhere(const struct waits *waits, const struct perf_record *record)
{
    return waits->options.cpus && !cpu_list_has(waits->options.cpus, record->cpu);
}

int waits_switch(struct waits *waits, const struct perf_record *record, struct error *err)
{
    struct tracked_process *process;
    struct tracked_thread *thread = tracker_thread(waits->options.tracker, record->tid, &process);
    if (!thread)
        return 0;
    tracker_note_run(waits->options.tracker, process, record->time, false);
    if (record->context_switch.out)
        *(record->context_switch.preempted ? &process->preemptions : &process->waits) += 1;
    if (is_elsewhere(waits, record))
        return go_elsewhere(waits, thread, record->time, err);
    return record->context_switch.out ? leave_cpu(waits, thread, record->time, record->context_switch.preempted, err)
                                      : come_to_cpu(waits, thread, record->time, err);
}

void waits_wakeup(struct waits *waits, const struct wakeup *wakeup)
{
    struct tracked_process *process;
    struct tracked_thread *thread = tracker_thread(waits->options.tracker, wakeup->woken, &process);
    if (thread && thread->run.state == RUN_WAITS && !thread->run.preempted)
        thread->run.waker = (struct thread_waker){
            .is_known = true, .pid = wakeup->by_pid, .tid = wakeup->by_tid, .context = wakeup->context};
}

void waits_exec(struct waits *waits, const struct perf_record *record)
{
    struct tracked_process *process;
    struct tracked_thread *thread = tracker_thread(waits->options.tracker, record->tid, &process);
    if (!thread)
        return;
    struct thread_run *run = &thread->run;
    run->was_here = !is_elsewhere(waits, record);
    if (run->was_here)
        return;
    run->state = RUN_ELSEWHERE;
    run->since = record->time;
    run->goes_on = false;
}

int waits_thread_ends(struct waits *waits, const struct perf_record *record, struct error *err)
{
    struct tracked_process *process;
    struct tracked_thread *thread = tracker_thread(waits->options.tracker, record->tid, &process);
    if (!thread)
        return 0;
    if (record->type == PERF_RECORD_EXIT) /* threads that it woke may need its name */
        wakers_thread_ends(&waits->wakers, record->tid, thread->name);
    if (thread->run.state != RUN_ELSEWHERE)
        return 0;
    int code = end_wait(waits, thread, record->time, true, err);
    thread->run.since = record->time;
    return code;
}

void waits_lost(struct waits *waits)
{
    struct tracked_process *process;
    waits->has_lost = true;
    for (size_t i = 0; i < tracker_thread_count(waits->options.tracker); i++) {
        struct tracked_thread *thread = tracker_thread_at(waits->options.tracker, i, &process);
        if (!thread)
            continue;
        thread_run_forget_stack(&thread->run);
        thread->run.state = RUN_UNKNOWN;
        thread->run.ran = 0;
    }
}

/* ---- looking at threads that wait ---- */

static struct unwind_result walk(struct waits *waits, struct tracked_process *process, uint32_t tid,
                                 const struct wait_state *state)
{
    struct unwind_regs regs;
    unwind_regs_of_waiting(&regs, state->sp, state->pc, state->is_in_call ? state->arguments : NULL);
    const struct target_thread thread = {process->pid, tid};
    size_t size = waits->copied = target_memory_read(thread, state->sp, waits->copy, STACK_COPY);
    struct unwind_stack stack = {.sp = state->sp,
                                 .bytes = waits->copy,
                                 .size = size,
                                 .read_above = stack_reader_read,
                                 .read_off_copied_stack = stack_reader_read_off_copied_stack,
                                 .read_below = stack_reader_read_below,
                                 .read_code = stack_reader_read_code,
                                 .context = &waits->reader,
                                 .sps = process->python ? waits->sps : NULL};
    stack_reader_start(&waits->reader, thread, monotonic_ns(), state->sp, waits->copy, size, size == STACK_COPY);
    if (process->dump)
        jitdump_unwind_follow(process->dump, &process->space);
    return unwind_walk(&process->space, &regs, &stack, waits->frames, CHUNK_MAX_FRAMES);
}

/* Adds the Python frames of a waiting thread. Valid only if the thread sleeps until after this read, as its next switch
 * shows. */
static int add_python_frames(struct waits *waits, struct tracked_process *process, uint32_t tid,
                             const struct wait_state *state, struct unwind_result *result, struct error *err)
{
    struct python_stacks *python = waits->options.python;
    struct python_stack stack = {.pcs = waits->frames,
                                 .sps = waits->sps,
                                 .count = result->frames,
                                 .max = CHUNK_MAX_FRAMES,
                                 .is_complete = result->end == UNWIND_COMPLETE};
    if (!python || !state->sp || !python_stack_has_python(process, &stack))
        return 0;
    const struct python_sample sample = {.pid = process->pid,
                                         .tid = tid,
                                         .time = monotonic_ns(),
                                         .sp = state->sp,
                                         .copy = waits->copy,
                                         .copy_size = waits->copied};
    bool is_added = false;
    if (python_stacks_read(python, process, &sample) != PYTHON_READ)
        return 0;
    int code = python_stacks_add(python, process, true, &stack, &is_added, err);
    result->frames = stack.count;
    return code;
}

static int keep_stack(struct waits *waits, uint32_t pid, struct thread_run *run, const struct wait_state *state,
                      const struct unwind_result *result, struct error *err)
{
    uint32_t object;
    int code = object_number(waits, pid, state->object, &object, err);
    if (code)
        return code;
    thread_run_forget_stack(run);
    run->stack = malloc(sizeof(*run->stack) + result->frames * sizeof(*run->stack->frames));
    if (!run->stack)
        return error_no_memory(err);
    *run->stack = (struct wait_stack){.taken = monotonic_ns(),
                                      .reason = state->reason,
                                      .object = object,
                                      .flags = (result->end == UNWIND_COMPLETE ? 0 : SAMPLE_TRUNCATED) |
                                               (result->used_no_cfi ? SAMPLE_WITHOUT_CFI : 0) |
                                               (result->used_read_above ? SAMPLE_COMPLETED_LIVE : 0),
                                      .frame_count = (uint32_t)result->frames};
    memcpy(run->stack->frames, waits->frames, result->frames * sizeof(*run->stack->frames));
    return 0;
}

/* Reads the stack of a waiting thread. The thread may already run again, which its next switch shows. */
static int read_stack(struct waits *waits, struct tracked_thread *thread, struct tracked_process *process,
                      struct error *err)
{
    struct wait_state state;
    int code = wait_state_read(process->pid, thread->tid, &state);
    if (code == -EACCES)
        waits->refused++;
    if (state.is_awake && !waits->options.late_switches)
        thread->run.awake = monotonic_ns();
    if (code <= 0)
        return 0;
    /* the mappings of the process may not be loaded yet */
    code = tracker_find(waits->options.tracker, process->pid, thread->tid, monotonic_ns(), &thread, &process, err);
    if (code < 0)
        return code;
    struct unwind_result result = {.end = UNWIND_COMPLETE};
    if (state.sp)
        result = walk(waits, process, thread->tid, &state);
    for (int round = 0; round < MAPPINGS_OF_STACK_MAX; round++) {
        const struct tracked_stack stack = {.pcs = waits->frames, .count = result.frames, .unmapped = result.unmapped};
        bool changed;
        code = tracker_check_stack(waits->options.tracker, process, &stack, monotonic_ns(), &changed, err);
        if (code < 0)
            return code;
        if (!changed)
            break;
        result = walk(waits, process, thread->tid, &state);
    }
    code = add_python_frames(waits, process, thread->tid, &state, &result, err);
    return code ? code : keep_stack(waits, process->pid, &thread->run, &state, &result, err);
}

int waits_look(struct waits *waits, struct error *err)
{
    uint64_t now = monotonic_ns();
    size_t kept = 0;
    int code = 0;
    waits->has_blocked = false;
    waits->looks += (now - waits->last_look) / NS_PER_WAIT_STACK;
    if (waits->looks > LOOKS_AT_ONCE)
        waits->looks = LOOKS_AT_ONCE;
    waits->last_look = now - (now - waits->last_look) % NS_PER_WAIT_STACK;
    for (size_t i = 0; i < waits->pending.length; i++) {
        struct tracked_process *process;
        uint32_t tid = waits->pending.data[i];
        struct tracked_thread *thread = tracker_thread(waits->options.tracker, tid, &process);
        if (!thread)
            continue;
        struct thread_run *run = &thread->run;
        bool waits_on = run->state == RUN_WAITS && !run->preempted && (!run->stack || run->stack->is_given);
        uint64_t length = now > run->since ? now - run->since : 0;
        if (waits_on && (length + run->waited < waits->options.interval || !waits->looks || code)) {
            waits->pending.data[kept++] = tid;
            continue;
        }
        run->in_pending = false;
        if (!waits_on)
            continue;
        waits->looks--;
        code = read_stack(waits, thread, process, err);
    }
    waits->pending.length = kept;
    return code;
}

bool waits_want_look(const struct waits *waits)
{
    return waits->has_blocked || waits->pending.length;
}

/* Whether a waiting thread last ran on a recorded CPU. */
static bool left_recorded_cpu(const struct waits *waits, uint32_t pid, uint32_t tid)
{
    char path[64], text[1024];
    struct proc_stat stat;
    if (!waits->options.cpus)
        return true;
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/stat", pid, tid);
    return file_read_text(path, text, sizeof(text)) && proc_stat_parse(text, &stat) &&
           cpu_list_has(waits->options.cpus, stat.cpu);
}

int waits_add_running(struct waits *waits, uint32_t tid, uint64_t time, struct error *err)
{
    struct tracked_process *process;
    struct tracked_thread *thread = tracker_thread(waits->options.tracker, tid, &process);
    struct wait_state state;
    if (!thread || thread->run.state != RUN_UNKNOWN || wait_state_read(process->pid, tid, &state) <= 0)
        return 0;
    if (!left_recorded_cpu(waits, process->pid, tid))
        return go_elsewhere(waits, thread, time, err);
    thread->run.was_here = true;
    return leave_cpu(waits, thread, time, false, err);
}

/* Finds threads that still sleep after a loss of records: no switch reports them. */
static int find_waiting_again(struct waits *waits, uint64_t now, struct error *err)
{
    struct tracked_process *process;
    int code = 0;
    waits->has_lost = false;
    for (size_t i = 0; i < tracker_thread_count(waits->options.tracker) && !code; i++) {
        const struct tracked_thread *thread = tracker_thread_at(waits->options.tracker, i, &process);
        if (thread && thread->run.state == RUN_UNKNOWN)
            code = waits_add_running(waits, thread->tid, now, err);
    }
    return code;
}

static int flush_wait(struct waits *waits, struct tracked_thread *thread, uint64_t now, bool end, struct error *err)
{
    struct thread_run *run = &thread->run;
    if (now <= run->since)
        return 0;
    if (end || run->awake + part_length < now) /* else the record of its switch may still come */
        split_off_ready(run, now);
    if (!is_off_cpu(run) || (!end && now - run->since < part_length) || !is_due(waits, run, now, end))
        return 0;
    int code = store(waits, thread, now, err);
    run->since = now;
    run->goes_on = true;
    return code;
}

int waits_flush(struct waits *waits, uint64_t now, bool end, struct error *err)
{
    struct tracked_process *process;
    int code = waits->has_lost && !end && !waits->options.only_runs ? find_waiting_again(waits, now, err) : 0;
    for (size_t i = 0; i < tracker_thread_count(waits->options.tracker) && !code; i++) {
        struct tracked_thread *thread = tracker_thread_at(waits->options.tracker, i, &process);
        if (!thread)
            continue;
        code = flush_wait(waits, thread, now, end, err);
        if (end && !code)
            code = tracker_write_unsampled(waits->options.tracker, thread, now, err);
    }
    return code;
}

int waits_pause(struct waits *waits, uint64_t time, struct error *err)
{
    int code = waits_flush(waits, time, true, err);
    waits->paused = true;
    tracker_expect_switches(waits->options.tracker, false);
    return code;
}

void waits_resume(struct waits *waits, uint64_t time)
{
    struct tracked_process *process;
    waits->paused = false;
    tracker_expect_switches(waits->options.tracker, true);
    for (size_t i = 0; i < tracker_thread_count(waits->options.tracker); i++) {
        struct tracked_thread *thread = tracker_thread_at(waits->options.tracker, i, &process);
        if (!thread)
            continue;
        struct thread_run *run = &thread->run;
        run->since = time;
        run->ran = run->waited = run->was_ready = run->was_elsewhere = 0;
        run->goes_on = false;
    }
}

/* ---- as a producer ---- */

static int run(void *self, uint64_t now, struct error *err)
{
    (void)now;
    return waits_look(self, err);
}

static int flush(void *self, uint64_t now, struct error *err)
{
    return waits_flush(self, now, false, err);
}

static int finish(void *self, uint64_t stopped, struct error *err)
{
    return waits_flush(self, stopped, true, err);
}

struct producer waits_producer(struct waits *waits)
{
    const struct waits_options *options = &waits->options;
    bool looks = options->late_switches || !options->only_runs;
    return (struct producer){.self = waits, .run = looks ? run : NULL, .flush = flush, .finish = finish};
}

void waits_note_refused(const struct waits *waits, struct record_result *result)
{
    char scope[16];
    if (!waits->refused)
        return;
    bool is_yama =
        file_read_text("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope)) && strcmp(scope, "0") != 0;
    record_result_add_note(result, "some waits have no stack: this user may not read the processes%s",
                           is_yama ? " (kernel.yama.ptrace_scope); 'sudo sysctl kernel.yama.ptrace_scope=0' permits it"
                                   : "");
}
