#include "sample/ptrace_run.h"

#include "base/search.h"

static uint64_t limit_time(uint64_t value, uint64_t limit)
{
    return value < limit ? value : limit;
}

struct switch_list {
    struct ptrace_switch *switches;
    size_t count;
};

static void add_switch(struct switch_list *list, struct ptrace_switch added)
{
    list->switches[list->count++] = added;
}

/* Adds a break of `length` ns to the run: the thread leaves the CPU at *time, and returns to the CPU with `end`. */
static void add_break(struct switch_list *list, uint64_t *time, uint64_t length, bool preempted,
                      struct ptrace_switch end)
{
    if (!length)
        return;
    add_switch(list, (struct ptrace_switch){.time = *time, .out = true, .preempted = preempted});
    *time += length;
    end.time = *time;
    add_switch(list, end);
}

size_t ptrace_run_add_moment(struct ptrace_run *run, const struct ptrace_moment *now, struct ptrace_switch *switches)
{
    struct switch_list list = {.switches = switches};
    const struct ptrace_moment *last = &run->last;
    uint64_t time = last->time, passed = subtract_or_zero(now->time, last->time);
    uint64_t ran = limit_time(subtract_or_zero(now->schedule.cpu, last->schedule.cpu), passed);
    uint64_t off = passed - ran;
    uint64_t ready = limit_time(subtract_or_zero(now->schedule.ready, last->schedule.ready) + run->held, off);
    if (!run->is_reported)
        add_switch(&list, (struct ptrace_switch){.time = last->time, .out = last->asleep});
    run->is_reported = true;
    if (last->asleep && now->asleep && now->schedule.slices == last->schedule.slices) {
        run->asleep_until = now->time; /* or until earlier, if the thread is already runnable */
        return list.count;
    }
    if (last->asleep) {
        uint32_t ended = now->ended > 1 ? now->ended : 1;
        uint64_t end = now->time - ran - ready, asleep_until = limit_time(run->asleep_until, end);
        time = asleep_until > time ? asleep_until : time;
        uint64_t share = subtract_or_zero(end, time) / (ended + now->asleep), current = now->asleep ? share : 0;
        if (ended > 1) { /* the other waits began after asleep_until */
            time += share;
            add_switch(&list, (struct ptrace_switch){.time = time, .ended = 1});
            add_switch(&list, (struct ptrace_switch){.time = time, .out = true});
        }
        time = end - current;
        add_switch(&list,
                   (struct ptrace_switch){.time = time, .ended = ended > 1 ? ended - 1 : 1, .slept_until = now->time});
        add_break(&list, &time, ready, true, (struct ptrace_switch){0});
        if (now->asleep)
            add_switch(&list, (struct ptrace_switch){.time = time + ran, .out = true});
    } else {
        uint64_t before = now->asleep ? (off - ready) / (now->ended + 1) * now->ended : off - ready;
        add_break(&list, &time, before, false,
                  (struct ptrace_switch){.ended = now->ended, .slept_until = time + before + ready + ran});
        add_break(&list, &time, ready, true, (struct ptrace_switch){.ended = before ? 0 : now->ended});
        if (now->asleep)
            add_switch(&list, (struct ptrace_switch){.time = time + ran, .out = true});
    }
    /* late-counted time that exceeds the span moves to the next moment */
    uint64_t reported = last->schedule.cpu + ran;
    run->last = *now;
    run->last.schedule.cpu = reported;
    run->held = 0;
    run->stops = 0;
    return list.count;
}
