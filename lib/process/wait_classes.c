#include "process/wait_classes.h"

enum { SHORTEST_CLASS_NS = 16000 }; /* limit of the shortest class (thread_run.h) */

static unsigned get_class(uint64_t length)
{
    unsigned number = 0;
    for (uint64_t limit = SHORTEST_CLASS_NS; length >= limit && number < WAIT_CLASSES - 1; limit *= 2)
        number++;
    return number;
}

double find_shortest_of_class(uint64_t length)
{
    unsigned number = get_class(length);
    return number ? (double)(SHORTEST_CLASS_NS << (number - 1)) : 0;
}

struct wait_class *find_wait_class(struct thread_run *run, uint64_t length)
{
    if (!run->waits)
        run->waits = calloc(1, sizeof(*run->waits));
    return run->waits ? &run->waits->classes[run->has_mean_lengths ? 0 : get_class(length)] : NULL;
}

void add_unseen_waits(struct wait_class *class, uint64_t ns, uint32_t count, uint64_t end)
{
    if (!class->unseen_ns)
        class->oldest = end;
    class->unseen_ns += ns;
    class->unseen_length += ns;
    class->unseen += count;
}

void take_runnable_time(struct thread_run *run, uint64_t ready)
{
    struct short_waits *waits = run->waits;
    double length = 0;
    uint64_t taken = 0;
    for (size_t i = 0; i < WAIT_CLASSES; i++)
        length += (double)waits->classes[i].waited_ns;
    double rest = (double)ready;
    ready += waits->owed;
    for (size_t i = 0; i < WAIT_CLASSES; i++) {
        struct wait_class *class = &waits->classes[i];
        uint64_t share = length > 0 ? (uint64_t)((double)ready * ((double)class->waited_ns / length)) : 0;
        uint64_t now = share < class->unseen_ns ? share : class->unseen_ns;
        class->ready_ns += length > 0 ? rest * ((double)class->waited_ns / length) : 0;
        class->all_ns += (double)class->waited_ns;
        class->owed_ns = share - now;
        class->unseen_ns -= now;
        class->waited_ns = 0;
        taken += now;
    }
    run->was_ready += taken;
    run->ready_count += taken != 0;
    waits->owed = ready > taken ? ready - taken : 0;
}

uint64_t compute_mean_runnable_time(const struct wait_class *class, uint64_t length)
{
    return class->all_ns > 0 ? (uint64_t)((double)length * fmin(1, class->ready_ns / class->all_ns)) : 0;
}

uint64_t subtract_owed_time(struct thread_run *run, struct wait_class *class, uint64_t length)
{
    uint64_t paid = class->owed_ns < length ? class->owed_ns : length;
    if (paid > run->waits->owed)
        paid = run->waits->owed;
    class->owed_ns -= paid;
    run->waits->owed -= paid;
    return paid;
}

int add_late_switch(struct thread_run *run, uint64_t end, struct error *err)
{
    if (!run->late_switch)
        return 0;
    struct wait_class *class = find_wait_class(run, run->late_switch);
    if (!class)
        return error_no_memory(err);
    add_unseen_waits(class, run->late_switch, 1, end);
    run->late_switch = 0;
    return 0;
}

int add_missing_waits(struct thread_run *run, struct error *err)
{
    uint64_t known = run->stored + run->ran + run->was_ready + run->late_switch;
    if (!run->known_since)
        return 0;
    for (size_t i = 0; run->waits && i < WAIT_CLASSES; i++)
        known += run->waits->classes[i].unseen_ns + run->waits->classes[i].found_ready_ns;
    uint64_t missing = subtract_or_zero(subtract_or_zero(run->since, run->known_since), known);
    struct wait_class *class = missing ? find_wait_class(run, missing) : NULL;
    if (class)
        add_unseen_waits(class, missing, 1, run->since);
    return missing && !class ? error_no_memory(err) : 0;
}

uint64_t flush_found_time(struct thread_run *run, uint64_t most)
{
    uint64_t found = 0, taken = 0;
    for (size_t i = 0; run->waits && i < WAIT_CLASSES; i++)
        found += run->waits->classes[i].found_ready_ns;
    for (size_t i = 0; found && i < WAIT_CLASSES; i++) {
        struct wait_class *class = &run->waits->classes[i];
        uint64_t part = class->found_ready_ns;
        if (!part)
            continue;
        if (found > most)
            part = (uint64_t)((double)part * (double)most / (double)found);
        uint32_t count = (uint32_t)((double)class->found_ready * ((double)part / (double)class->found_ready_ns));
        class->unseen_ns += class->found_ready_ns - part;
        class->ready_ns += (double)part;
        run->ready_count += count;
        class->found_ready_ns = class->found_ready = 0;
        taken += part;
    }
    run->was_ready += taken;
    return taken;
}

void take_expected_runnable_time(struct thread_run *run)
{
    struct wait_class all = {0}; /* sum of all classes, whose mean a class without a reading of schedstat gets */
    uint64_t expected = 0, only_found = 0;
    for (size_t i = 0; run->waits && i < WAIT_CLASSES; i++) {
        all.ready_ns += run->waits->classes[i].all_ns > 0 ? run->waits->classes[i].ready_ns : 0;
        all.all_ns += run->waits->classes[i].all_ns;
    }
    for (size_t i = 0; run->waits && i < WAIT_CLASSES; i++) {
        const struct wait_class *class = &run->waits->classes[i];
        expected += compute_mean_runnable_time(class->all_ns > 0 ? class : &all, class->waited_ns);
        only_found += all.all_ns > 0 ? 0 : class->found_ready_ns;
    }
    uint64_t rest = subtract_or_zero(expected, run->awake_since_reading) + only_found;
    uint64_t found = flush_found_time(run, rest);
    if (run->waits)
        take_runnable_time(run, rest - found);
}

/* Whether readings found only a runnable thread in the waits of the class. */
static bool is_only_runnable(const struct wait_class *class)
{
    return class->unseen && !class->unseen_ns;
}

bool has_runnable_waits(const struct thread_run *run)
{
    for (size_t i = 0; run->waits && i < WAIT_CLASSES; i++)
        if (is_only_runnable(&run->waits->classes[i]))
            return true;
    return false;
}

uint32_t take_runnable_waits(struct thread_run *run, double most)
{
    uint32_t count = 0;
    for (size_t i = 0; run->waits && i < WAIT_CLASSES; i++) {
        struct wait_class *class = &run->waits->classes[i];
        if (!is_only_runnable(class) || count + class->unseen > most)
            continue;
        count += class->unseen;
        class->unseen = 0;
        class->unseen_length = 0;
    }
    return count;
}

int split_off_runnable_wait(struct thread_run *run, uint64_t end, struct error *err)
{
    if (run->state != RUN_WAITS || !run->awake || run->awake >= end)
        return 0;
    struct wait_class *class = find_wait_class(run, end - run->began);
    if (!class)
        return error_no_memory(err);
    add_unseen_waits(class, run->awake - run->since, 1, run->awake);
    class->waited_ns += run->awake - run->since;
    run->since = run->awake;
    run->awake = 0;
    run->is_runnable = true;
    run->goes_on = false;
    run->waker = (struct thread_waker){0};
    return 0;
}
