#include "sample/ptrace_run.h"

static uint64_t subtract_or_zero(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

static uint64_t limit_time(uint64_t value, uint64_t limit)
{
    return value < limit ? value : limit;
}

struct switch_list {
    struct ptrace_switch *switches;
    size_t count;
};

static void add_switch(struct switch_list *list, uint64_t time, bool out, bool preempted)
{
    list->switches[list->count++] = (struct ptrace_switch){.time = time, .out = out, .preempted = preempted};
}

/* Adds a break: off the CPU at *time for `length` ns, then on it. */
static void add_break(struct switch_list *list, uint64_t *time, uint64_t length, bool preempted)
{
    if (!length)
        return;
    add_switch(list, *time, true, preempted);
    *time += length;
    add_switch(list, *time, false, false);
}

size_t ptrace_run_add_moment(struct ptrace_run *run, const struct ptrace_moment *now, struct ptrace_switch *switches)
{
    struct switch_list list = {.switches = switches};
    const struct ptrace_moment *last = &run->last;
    uint64_t time = last->time, passed = subtract_or_zero(now->time, last->time);
    bool has_slept_on = last->asleep && now->asleep && now->schedule.slices == last->schedule.slices;
    uint64_t ran = has_slept_on ? 0 : limit_time(subtract_or_zero(now->schedule.cpu, last->schedule.cpu), passed);
    uint64_t off = passed - ran;
    uint64_t ready = limit_time(subtract_or_zero(now->schedule.ready, last->schedule.ready) + run->held, off);
    if (!run->is_reported)
        add_switch(&list, last->time, last->asleep, false);
    if (last->asleep && !has_slept_on) {
        time = now->time - ran - ready;
        add_switch(&list, time, false, false);
        add_break(&list, &time, ready, true);
        if (now->asleep)
            add_switch(&list, now->time, true, false);
    } else if (!last->asleep) {
        if (!now->asleep)
            add_break(&list, &time, off - ready, false);
        add_break(&list, &time, ready, true);
        if (now->asleep)
            add_switch(&list, time + ran, true, false);
    }
    /* late-counted time that exceeds the span moves to the next moment */
    uint64_t reported = last->schedule.cpu + ran;
    run->last = *now;
    run->last.schedule.cpu = reported;
    run->held = 0;
    run->is_reported = true;
    return list.count;
}
