#include "record/wait_store.h"

#include "os/clock.h"
#include "process/socket_names.h"
#include "process/wait_classes.h"
#include "process/wait_reason.h"

enum {
    OBJECTS_MAX = 65536,        /* limit of names; waits for further objects have only a reason */
    SOCKETS_COST_NS = 50000000, /* describing sockets may take this CPU time at the start of a recording */
    SOCKETS_SHARE = 100,        /* describing sockets may also take 1/100 of the elapsed time */
};

/* Appends a description of the socket. The lists of very many sockets take long to read: beyond a limit of CPU time,
 * descriptions of sockets are only numbers. */
static void describe_socket(struct waits *waits, uint32_t pid, const char *name, char *text, size_t size)
{
    const char *socket = strstr(name, "socket:[");
    char what[SOCKET_NAME_SIZE];
    uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    snprintf(text, size, "%s", name);
    if (!socket || !pid || waits->socket_cost > SOCKETS_COST_NS + (monotonic_ns() - waits->started) / SOCKETS_SHARE)
        return;
    if (socket_find_name(pid, strtoull(socket + strlen("socket:["), NULL, 10), what, sizeof(what)))
        snprintf(text, size, "%s %s", name, what);
    waits->socket_cost += clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
}

int find_wait_object(struct waits *waits, uint32_t pid, const char *name, uint32_t *number, struct error *err)
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
    wakers_write_name(&waits->wakers, waits->options.tracker, waker, reason, name, sizeof(name));
    return find_wait_object(waits, 0, name, number, err);
}

static int store_waker_stack(struct waits *waits, const struct tracked_thread *woken, struct error *err)
{
    const struct waker_stack *stack = thread_run_find_waker_stack(&woken->run);
    if (!stack)
        return 0;
    const struct spool_waker_stack record = {.thread = stack->thread,
                                             .time_ns = stack->time,
                                             .cpu = stack->cpu,
                                             .woken = woken->number,
                                             .flags = stack->flags,
                                             .frames = {stack->frames, stack->frame_count}};
    return spool_write_waker_stack(waits->options.spool, &record, err);
}

int store_wait(struct waits *waits, struct tracked_thread *thread, const struct stored_wait *stored, struct error *err)
{
    struct thread_run *run = &thread->run;
    const struct wait_stack *stack = stored->stack                             ? stored->stack
                                     : stored->is_sum || stored->has_no_weight ? NULL
                                                                               : run->stack;
    struct spool_wait wait = {.thread = thread->number,
                              .time_ns = stored->end,
                              .cpu_time_ns = run->ran,
                              .wait_ns = stored->end - stored->start,
                              .unseen_ns = stored->unseen,
                              .goes_on = run->goes_on && stored->start == run->since,
                              .flags = stored->has_no_weight ? SAMPLE_WITHOUT_WEIGHT : 0};
    if (stack) {
        wait.reason = stack->reason;
        wait.object = stored->kind == BLOCKED ? stack->object : 0;
        wait.flags = stack->flags;
        wait.frames = (struct spool_list){stack->frames, stack->frame_count};
    }
    if (stored->kind == READY)
        wait.reason = REASON_RUNNABLE;
    if (stored->kind == UNSEEN || stored->has_no_weight)
        wait.reason = REASON_UNSEEN;
    run->ran = 0;
    if (waits->paused || !thread_filter_matches(waits->options.filter, thread->name))
        return 0;
    bool is_first = !wait.goes_on && !stored->has_no_weight && (stored->kind == BLOCKED || stored->kind == READY);
    waits->stored += is_first;
    tracker_add_cpu_time(waits->options.tracker, thread, wait.cpu_time_ns);
    run->stored += stored->has_no_weight ? 0 : wait.wait_ns + wait.unseen_ns;
    waits->without_stack += is_first && stored->kind == BLOCKED && !wait.frames.count;
    waits->truncated += !wait.goes_on && wait.flags & SAMPLE_TRUNCATED;
    int code = 0;
    if ((stored->kind == BLOCKED && !stored->is_sum) || (stored->kind == READY && stored->end > run->since))
        code = waker_number(waits, &run->waker, wait.reason, &wait.waker, err);
    if (!code && wait.waker && waker_is_thread(&run->waker, wait.reason))
        code = store_waker_stack(waits, thread, err);
    if (stored->kind == ELSEWHERE)
        code = find_wait_object(waits, 0, "on other CPUs", &wait.object, err);
    return code ? code : spool_write_wait(waits->options.spool, &wait, err);
}

/* Waits that the spool has as a sum. */
struct wait_sum {
    const struct wait_stack *stack;
    uint64_t total; /* ns */
    uint32_t count;
    int kind; /* of `struct stored_wait` */
};

static uint64_t mean_of_sum(const struct wait_sum *sum)
{
    return sum->count > 1 ? sum->total / sum->count : sum->total - (sum->total > 0); /* `unseen` marks a sum */
}

/* Stores a sum as a wait of mean length that ends at `end`. */
static int store_wait_sum(struct waits *waits, struct tracked_thread *thread, const struct wait_sum *sum, uint64_t end,
                          struct error *err)
{
    uint64_t mean = mean_of_sum(sum);
    const struct stored_wait stored = {.start = subtract_or_zero(end, mean),
                                       .end = end,
                                       .unseen = sum->total - mean,
                                       .kind = sum->kind,
                                       .stack = sum->stack,
                                       .is_sum = true};
    return sum->total ? store_wait(waits, thread, &stored, err) : 0;
}

uint64_t get_end_of_sums(const struct thread_run *run)
{
    return run->since > run->known_since ? run->since : run->known_since;
}

int store_runnable_time(struct waits *waits, struct tracked_thread *thread, uint64_t end, struct error *err)
{
    struct thread_run *run = &thread->run;
    const struct wait_sum sum = {.kind = READY, .total = run->was_ready, .count = run->ready_count};
    run->was_ready = run->ready_count = 0;
    return store_wait_sum(waits, thread, &sum, end, err);
}

/* Whether a reading, or NULL, stands for the unseen waits of a class, whose first wait ended less than a second later.
 */
static bool stands_for_class(const struct wait_stack *stack, const struct wait_class *class)
{
    return stack && stack->asked + part_length > class->oldest;
}

/* Divides the unseen waits of a class between the readings that stand for them. */
static void add_sums(struct wait_sum *sums, struct wait_class *class, struct wait_stack *const *stacks, uint32_t count)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++)
        left += stands_for_class(stacks[i], class);
    for (uint32_t i = 0; i < count; i++) {
        if (!stands_for_class(stacks[i], class))
            continue;
        sums[i] = (struct wait_sum){
            .kind = BLOCKED, .stack = stacks[i], .total = class->unseen_ns / left, .count = class->unseen / left};
        class->unseen_ns -= sums[i].total;
        class->unseen -= sums[i].count;
        left--;
    }
}

int store_unseen_waits(struct waits *waits, struct tracked_thread *thread, uint64_t before, uint64_t end,
                       struct error *err)
{
    struct short_waits *shorts = thread->run.waits;
    struct wait_sum sums[WAIT_CLASSES + 1] = {{.kind = UNSEEN}};
    int code = 0;
    for (size_t i = 0; shorts && i < WAIT_CLASSES; i++) {
        struct wait_class *class = &shorts->classes[i];
        if (!class->unseen_ns || class->oldest >= before)
            continue;
        if (thread->run.has_mean_lengths)
            add_sums(&sums[1], class, shorts->recent, RECENT_WAITS);
        else
            add_sums(&sums[i + 1], class, &class->last, 1);
        sums[0].total += class->unseen_ns;
        sums[0].count += class->unseen;
        class->unseen_ns = class->unseen_length = class->unseen = 0;
    }
    for (size_t i = 0; i <= WAIT_CLASSES; i++)
        end = subtract_or_zero(end, mean_of_sum(&sums[i]));
    for (size_t i = 0; i <= WAIT_CLASSES && !code; i++) {
        end += mean_of_sum(&sums[i]);
        code = store_wait_sum(waits, thread, &sums[i], end, err);
    }
    return code;
}
