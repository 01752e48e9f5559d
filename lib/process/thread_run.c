#include "process/thread_run.h"

void thread_run_forget_stack(struct thread_run *run)
{
    free(run->stack);
    run->stack = NULL;
}

void thread_run_destroy(struct thread_run *run)
{
    thread_run_forget_stack(run);
    free(run->waits);
    run->waits = NULL;
}

int thread_run_give_stack(struct thread_run *run, uint64_t time, const uint64_t *frames, size_t count, uint32_t flags,
                          uint32_t reason, struct error *err)
{
    struct wait_stack *stack = malloc(sizeof(*stack) + count * sizeof(*frames));
    if (!stack)
        return error_no_memory(err);
    *stack = (struct wait_stack){
        .taken = time, .is_given = true, .reason = reason, .flags = flags, .frame_count = (uint32_t)count};
    memcpy(stack->frames, frames, count * sizeof(*frames));
    thread_run_forget_stack(run);
    run->stack = stack;
    return 0;
}

bool thread_run_sample(struct thread_run *run, uint64_t time, uint32_t cpu, uint64_t *cpu_time)
{
    bool is_known = run->state == RUN_ON;
    *cpu_time = run->ran + (is_known && time > run->since ? time - run->since : 0);
    if (run->stack && (run->stack->is_given || run->stack->asked < time))
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
