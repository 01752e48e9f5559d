#include "record/waits.h"

#include "os/clock.h"
#include "os/file_io.h"
#include "os/file_proc.h"
#include "process/wait_classes.h"
#include "record/cpu_slices.h"
#include "record/wait_ends.h"
#include "record/wait_readings.h"
#include "process/wait_reason.h"
#include "record/wait_store.h"

#include <linux/perf_event.h>
#include <sched.h>

enum {
    MAX_STACK_AGE_NS = 1000000, /* highest age (ns) at which a stack from before a wait counts as the wait's stack */
};

int waits_init(struct waits *waits, const struct waits_options *options, struct error *err)
{
    *waits = (struct waits){.options = *options, .started = monotonic_ns()};
    waits->random = waits->started | 1;
    tracker_expect_switches(options->tracker, true);
    if (sched_getaffinity(0, sizeof(waits->cpus), &waits->cpus))
        CPU_ZERO(&waits->cpus);
    waits->frames = malloc(CHUNK_MAX_FRAMES * sizeof(*waits->frames));
    waits->sps = malloc(CHUNK_MAX_FRAMES * sizeof(*waits->sps));
    if (!waits->frames || !waits->sps)
        return error_no_memory(err);
    return stack_reader_init(&waits->reader, err);
}

void waits_destroy(struct waits *waits)
{
    stack_reader_destroy(&waits->reader);
    strings_destroy(&waits->objects);
    array_free(&waits->pending);
    array_free(&waits->readings);
    free(waits->copies);
    free(waits->frames);
    free(waits->sps);
    *waits = (struct waits){0};
}

/* ---- switches ---- */

static int leave_cpu(struct waits *waits, struct tracked_thread *thread, uint64_t time, bool preempted,
                     struct error *err)
{
    struct thread_run *run = &thread->run;
    int code = cpu_slices_add_running_time(waits, thread, time, err);
    if (code)
        return code;
    if (run->state == RUN_ON && time > run->since)
        run->ran += time - run->since;
    if (!run->known_since)
        run->known_since = run->since ? run->since : time;
    run->state = RUN_WAITS;
    run->since = run->began = time;
    run->is_runnable = preempted;
    run->goes_on = false;
    if (run->awake_asked < time)
        run->awake = 0;
    run->waker = (struct thread_waker){0};
    if (run->stack && (run->stack->is_from_event ? run->stack->taken + MAX_STACK_AGE_NS : run->stack->asked) < time)
        thread_run_forget_stack(run);
    if (preempted || waits->options.only_runs || waits->options.no_looks)
        return 0;
    if (!waits_want_reading(waits)) /* the next pass was planned long ago */
        waits->next_look = monotonic_ns();
    waits->active_until = time + ACTIVE_NS;
    if (run->in_pending)
        return 0;
    run->in_pending = array_push(&waits->pending, thread->tid);
    return run->in_pending ? 0 : error_no_memory(err);
}

static int end_wait(struct waits *waits, struct tracked_thread *thread, uint64_t time, struct error *err)
{
    int code = add_late_switch(&thread->run, time, err);
    if (!code)
        code = wait_ends_store(waits, thread, time, false, err);
    const struct wait_stack *stack = thread->run.stack;
    if (stack && (stack->is_from_event || stack->asked < time)) /* a later stack belongs to the next wait */
        thread_run_forget_stack(&thread->run);
    return code;
}

static int come_to_cpu(struct waits *waits, struct tracked_thread *thread, uint64_t time, struct error *err)
{
    struct thread_run *run = &thread->run;
    run->was_here = true;
    if (!run->known_since)
        run->known_since = run->since ? run->since : time;
    int code = end_wait(waits, thread, time, err);
    run->state = RUN_ON;
    run->since = run->on_cpu_since = time;
    return code;
}

/* Moves a thread to a CPU outside of the list. If the thread has never run on a recorded CPU, its wait before counts as
 * time on the other CPUs. */
static int move_to_other_cpu(struct waits *waits, struct tracked_thread *thread, uint64_t time, struct error *err)
{
    struct thread_run *run = &thread->run;
    if (run->state == RUN_ON_OTHER_CPU)
        return 0;
    int code = run->was_here ? end_wait(waits, thread, time, err) : 0;
    thread_run_forget_stack(run);
    if (run->was_here || run->state != RUN_WAITS)
        run->since = time;
    run->state = RUN_ON_OTHER_CPU;
    run->on_cpu_since = 0;
    run->is_runnable = run->goes_on = false;
    return code;
}

static bool is_elsewhere(const struct waits *waits, const struct perf_record *record)
{
    return waits->options.cpus && !cpu_list_has(waits->options.cpus, record->cpu);
}

int waits_handle_switch(struct waits *waits, const struct perf_record *record, struct error *err)
{
    struct tracked_process *process;
    struct tracked_thread *thread = tracker_find_thread(waits->options.tracker, record->tid, &process);
    if (!thread)
        return 0;
    uint64_t time = record->time > thread->run.since ? record->time : thread->run.since; /* ptrace: a part is stored */
    thread->run.cpu = record->cpu;
    thread->run.uncounted += thread->run.ended;
    thread->run.ended = record->context_switch.ended;
    thread->run.has_mean_lengths = waits->options.late_switches;
    thread->run.slept_until = record->context_switch.slept_until;
    thread->run.is_stopped = record->context_switch.stopped;
    tracker_report_run(waits->options.tracker, process, record->time, false);
    if (record->context_switch.out)
        *(record->context_switch.preempted ? &process->preemptions : &process->waits) += 1;
    if (is_elsewhere(waits, record))
        return move_to_other_cpu(waits, thread, time, err);
    return record->context_switch.out ? leave_cpu(waits, thread, time, record->context_switch.preempted, err)
                                      : come_to_cpu(waits, thread, time, err);
}

bool waits_handle_wakeup(struct waits *waits, const struct wakeup *wakeup)
{
    struct tracked_process *process;
    struct tracked_thread *thread = tracker_find_thread(waits->options.tracker, wakeup->woken, &process);
    if (thread && thread->run.state == RUN_WAITS && !thread->run.is_runnable)
        thread->run.waker = (struct thread_waker){.is_known = true,
                                                  .pid = wakeup->by_pid,
                                                  .tid = wakeup->by_tid,
                                                  .context = wakeup->context,
                                                  .time = wakeup->time};
    return thread != NULL;
}

struct tracked_thread *waits_find_woken(const struct waits *waits, const struct wakeup *wakeup)
{
    struct tracked_process *process;
    struct tracked_thread *thread = tracker_find_thread(waits->options.tracker, wakeup->woken, &process);
    if (!thread || thread->run.state != RUN_WAITS || thread->run.is_runnable || waits->paused ||
        !thread_filter_matches(waits->options.filter, thread->name))
        return NULL;
    bool is_long = wakeup->time >= thread->run.began + LOOK_NS;
    return is_long || thread->run.stack || waits->options.no_looks ? thread : NULL;
}

void waits_handle_exec(struct waits *waits, const struct perf_record *record)
{
    struct tracked_process *process;
    struct tracked_thread *thread = tracker_find_thread(waits->options.tracker, record->tid, &process);
    if (!thread)
        return;
    struct thread_run *run = &thread->run;
    run->was_here = !is_elsewhere(waits, record);
    run->cpu = record->cpu;
    run->on_cpu_since = run->was_here ? record->time : 0;
    if (run->was_here)
        return;
    run->state = RUN_ON_OTHER_CPU;
    run->since = record->time;
    run->goes_on = false;
}

/* Stores the sums of a thread whose waits end here: no later wait stands for them. */
static int store_rest(struct waits *waits, struct tracked_thread *thread, struct error *err)
{
    const struct thread_run *run = &thread->run;
    uint64_t mean = run->ready_count ? run->was_ready / run->ready_count : 0, last = get_end_of_sums(run);
    uint64_t end = subtract_or_zero(last, mean) > run->known_since ? last - mean : last; /* rows do not overlap */
    take_expected_runnable_time(&thread->run);
    int code = add_late_switch(&thread->run, run->since, err);
    if (!code)
        code = waits->options.late_switches ? add_missing_waits(&thread->run, err) : 0;
    if (!code)
        code = store_unseen_waits(waits, thread, UINT64_MAX, end, err);
    thread_run_forget_last_waits(&thread->run);
    return code ? code : store_runnable_time(waits, thread, last, err);
}

static int end_waits_of_thread(struct waits *waits, struct tracked_thread *thread, uint64_t time, struct error *err)
{
    int code = 0;
    if (thread->run.state == RUN_ON_OTHER_CPU) {
        code = end_wait(waits, thread, time, err);
        thread->run.since = time;
    }
    if (!code)
        code = store_rest(waits, thread, err);
    /* A reader forgets the mappings of the process after the slice that ends with the last thread. */
    return code ? code : cpu_slices_flush(waits, thread, time, true, err);
}

static int end_waits_of_program(struct waits *waits, const struct perf_record *record, struct error *err)
{
    const struct tracked_process *process = tracker_find_process(waits->options.tracker, record->pid);
    int code = 0;
    for (struct tracked_thread *thread = process ? process->threads : NULL; thread && !code; thread = thread->next)
        code = end_waits_of_thread(waits, thread, record->time, err);
    return code;
}

int waits_end_tasks(struct waits *waits, const struct perf_record *record, struct error *err)
{
    struct tracked_process *process;
    if (record->type == PERF_RECORD_COMM && record->comm.exec)
        return end_waits_of_program(waits, record, err);
    if (record->type != PERF_RECORD_EXIT)
        return 0;
    struct tracked_thread *thread = tracker_find_thread(waits->options.tracker, record->tid, &process);
    if (!thread)
        return 0;
    wakers_handle_thread_end(&waits->wakers, record->tid,
                             thread->name); /* the threads that it woke may need its name */
    return end_waits_of_thread(waits, thread, record->time, err);
}

void waits_add_loss(struct waits *waits)
{
    struct tracked_process *process;
    waits->has_lost = true;
    for (size_t i = 0; i < tracker_count_threads(waits->options.tracker); i++) {
        struct tracked_thread *thread = tracker_get_thread_at(waits->options.tracker, i, &process);
        if (!thread)
            continue;
        thread_run_forget_stack(&thread->run);
        thread->run.state = RUN_UNKNOWN;
        thread->run.has_run_delay = false;
        thread->run.ran = thread->run.on_cpu_since = 0;
    }
}

/* ---- running threads, flushes and pauses ---- */

/* Whether a waiting thread last ran on a recorded CPU. */
static bool left_recorded_cpu(const struct waits *waits, uint32_t tid)
{
    struct proc_stat stat;
    return !waits->options.cpus || (proc_stat_read(tid, &stat) && cpu_list_has(waits->options.cpus, stat.cpu));
}

int waits_add_running(struct waits *waits, uint32_t tid, uint64_t time, struct error *err)
{
    struct tracked_process *process;
    struct tracked_thread *thread = tracker_find_thread(waits->options.tracker, tid, &process);
    struct wait_state state;
    if (!thread || thread->run.state != RUN_UNKNOWN ||
        wait_state_read(process->pid, tid, &thread->run.call, &state) <= 0)
        return 0;
    if (!left_recorded_cpu(waits, tid))
        return move_to_other_cpu(waits, thread, time, err);
    thread->run.was_here = true;
    thread->run.cpu = UINT32_MAX; /* unknown */
    return leave_cpu(waits, thread, time, false, err);
}

/* Finds threads that still sleep after a loss of records: no switch reports them. */
static int find_waiting_again(struct waits *waits, uint64_t now, struct error *err)
{
    struct tracked_process *process;
    int code = 0;
    waits->has_lost = false;
    for (size_t i = 0; i < tracker_count_threads(waits->options.tracker) && !code; i++) {
        const struct tracked_thread *thread = tracker_get_thread_at(waits->options.tracker, i, &process);
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
    int code = 0;
    if (!end && run->awake + part_length < now) /* the record of a more recent switch may still come */
        code = split_off_runnable_wait(run, now, err);
    if (code || !is_off_cpu(run) || (!end && now - run->since < part_length))
        return code;
    if (end) {
        code = wait_ends_store(waits, thread, now, true, err); /* after a pause, the wait continues with its stack */
    } else if (run->is_runnable || run->state == RUN_ON_OTHER_CPU || run->stack || !run->in_pending) {
        const struct stored_wait part = {.start = run->since,
                                         .end = now,
                                         .kind = run->state == RUN_ON_OTHER_CPU ? ELSEWHERE
                                                 : run->is_runnable             ? READY
                                                                                : BLOCKED};
        run->ready_since_reading += part.kind == READY ? now - run->since : 0;
        code = store_wait(waits, thread, &part, err);
        run->goes_on = true;
    } else {
        return 0;
    }
    run->since = now;
    return code;
}

/* Stores, once a second and at the end, the waits of classes without a reading for a second as a row of their own. */
static int flush_thread(struct waits *waits, struct tracked_process *process, struct tracked_thread *thread,
                        uint64_t now, bool end, struct error *err)
{
    struct thread_run *run = &thread->run;
    int code = cpu_slices_flush(waits, thread, now, end, err);
    if (code || waits->options.only_runs)
        return code;
    read_run_delay(waits, process->pid, thread);
    if (!end)
        code = store_unseen_waits(waits, thread, now - part_length, get_end_of_sums(run), err);
    if (!code)
        code = flush_wait(waits, thread, now, end, err);
    return code || !end ? code : store_rest(waits, thread, err);
}

int waits_flush(struct waits *waits, uint64_t now, bool end, struct error *err)
{
    struct tracked_process *process;
    int code = waits->has_lost && !end && !waits->options.only_runs ? find_waiting_again(waits, now, err) : 0;
    for (size_t i = 0; i < tracker_count_threads(waits->options.tracker) && !code; i++) {
        struct tracked_thread *thread = tracker_get_thread_at(waits->options.tracker, i, &process);
        if (!thread)
            continue;
        code = flush_thread(waits, process, thread, now, end, err);
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
    for (size_t i = 0; i < tracker_count_threads(waits->options.tracker); i++) {
        struct tracked_thread *thread = tracker_get_thread_at(waits->options.tracker, i, &process);
        if (!thread)
            continue;
        struct thread_run *run = &thread->run;
        run->since = time;
        run->began = run->known_since = time;
        run->stored = run->slice.ran = 0;
        run->on_cpu_since = run->state == RUN_ON ? time : 0;
        run->ran = run->was_ready = run->ready_count = run->on_other_cpus = 0;
        run->has_run_delay = false;
        run->goes_on = false;
    }
}

/* ---- as a producer ---- */

static uint64_t deadline(const void *self)
{
    const struct waits *waits = self;
    return waits_want_reading(waits) ? waits->next_look : UINT64_MAX;
}

static int run_early(void *self, struct error *err)
{
    return waits_start_reading(self, err);
}

static int run(void *self, uint64_t now, struct error *err)
{
    (void)now;
    return waits_read_stacks(self, err);
}

static int flush(void *self, uint64_t now, struct error *err)
{
    return waits_flush(self, now, false, err);
}

static int finish(void *self, uint64_t stopped, struct error *err)
{
    return waits_flush(self, stopped, true, err);
}

struct producer waits_as_producer(struct waits *waits)
{
    const struct waits_options *options = &waits->options;
    bool looks = options->late_switches || !options->only_runs;
    return (struct producer){.self = waits,
                             .deadline = looks ? deadline : NULL,
                             .run_early = looks ? run_early : NULL,
                             .run = looks ? run : NULL,
                             .flush = flush,
                             .finish = finish};
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
