#include "process/thread_run.h"

void thread_run_forget_stack(struct thread_run *run)
{
    free(run->stack);
    run->stack = NULL;
}

void thread_run_forget_last_waits(struct thread_run *run)
{
    for (size_t i = 0; run->waits && i < WAIT_CLASSES; i++) {
        free(run->waits->classes[i].last);
        run->waits->classes[i].last = NULL;
    }
    for (size_t i = 0; run->waits && i < RECENT_WAITS; i++) {
        free(run->waits->recent[i]);
        run->waits->recent[i] = NULL;
    }
}

void thread_run_destroy(struct thread_run *run)
{
    thread_run_forget_stack(run);
    thread_run_forget_last_waits(run);
    free(run->waits);
    free(run->waker_stack);
    run->waits = NULL;
    run->waker_stack = NULL;
}

int thread_run_keep_waker_stack(struct thread_run *run, const struct waker_stack *stack, const uint64_t *frames,
                                struct error *err)
{
    struct waker_stack *copy = realloc(run->waker_stack, sizeof(*copy) + stack->frame_count * sizeof(*frames));
    if (!copy)
        return error_no_memory(err);
    *copy = *stack;
    memcpy(copy->frames, frames, stack->frame_count * sizeof(*frames));
    run->waker_stack = copy;
    return 0;
}

const struct waker_stack *thread_run_find_waker_stack(const struct thread_run *run)
{
    static const uint64_t events_differ = 50000; /* ns */
    const struct waker_stack *stack = run->waker_stack;
    uint64_t time = run->waker.time;
    bool is_near = stack && stack->time < time + events_differ && time < stack->time + events_differ;
    return is_near && stack->tid == run->waker.tid ? stack : NULL;
}

int thread_run_set_event_stack(struct thread_run *run, uint64_t time, const uint64_t *frames, size_t count,
                               uint32_t flags, uint32_t reason, struct error *err)
{
    struct wait_stack *stack = malloc(sizeof(*stack) + count * sizeof(*frames));
    if (!stack)
        return error_no_memory(err);
    *stack = (struct wait_stack){
        .taken = time, .is_from_event = true, .reason = reason, .flags = flags, .frame_count = (uint32_t)count};
    memcpy(stack->frames, frames, count * sizeof(*frames));
    thread_run_forget_stack(run);
    run->stack = stack;
    return 0;
}

bool thread_run_handle_sample(struct thread_run *run, uint64_t time, uint32_t cpu, uint64_t *cpu_time)
{
    bool is_known = run->state == RUN_ON;
    *cpu_time = run->ran + (is_known && time > run->since ? time - run->since : 0);
    if (run->stack && (run->stack->is_from_event || run->stack->asked < time))
        thread_run_forget_stack(run);
    if (run->state == RUN_WAITS && time > run->since) /* the record of the switch is late or lost */
        *(run->is_runnable ? &run->was_ready : &run->late_switch) += time - run->since;
    if (!run->on_cpu_since)
        run->on_cpu_since = time;
    run->cpu = cpu;
    run->state = RUN_ON;
    run->was_here = true;
    run->since = time;
    run->ran = 0;
    return is_known;
}
