#include "assemble/unsampled.h"

#include "record/info.h"

#include <stdlib.h>

/* A thread may have used part of a period on each CPU that it ran on. */
enum { PERIODS_PER_THREAD = 64 };

struct remainder {
    uint32_t thread;
    uint64_t end;    /* ns: end of the thread, or of the recording */
    uint64_t unseen; /* ns since its last sample, at most one period */
};

struct division {
    struct replay *replay;
    ARRAY(struct remainder) remainders; /* by end */
    struct hash rows;                   /* names of process and thread -> the thread whose row shows them */
    uint64_t period, total;             /* ns; total: the sum of `unseen` */
    uint32_t stack;                     /* the stack "(not sampled)" */
};

static int compare_remainders(const void *a, const void *b)
{
    const struct remainder *left = a, *right = b;
    if (left->end != right->end)
        return left->end < right->end ? -1 : 1;
    return left->thread < right->thread ? -1 : left->thread > right->thread;
}

static int list_remainders(struct division *division, struct error *err)
{
    const struct replay *replay = division->replay;
    for (size_t i = 0; i < replay->threads.length; i++) {
        const struct replay_thread *thread = &replay->threads.data[i];
        uint64_t end = thread->end ? thread->end : replay->last_time;
        if (!thread->known || thread->goes_on || end <= thread->covered_until)
            continue;
        struct remainder remainder = {.thread = (uint32_t)i, .end = end, .unseen = end - thread->covered_until};
        if (remainder.unseen > division->period)
            remainder.unseen = division->period;
        division->total += remainder.unseen;
        if (!array_push(&division->remainders, remainder))
            return error_no_memory(err);
    }
    if (division->remainders.length)
        qsort(division->remainders.data, division->remainders.length, sizeof(struct remainder), compare_remainders);
    return 0;
}

/* The thread whose row shows the remainder of thread `number`; REPLAY_NONE if memory ran out. */
static uint32_t row_of(struct division *division, uint32_t number)
{
    struct replay *replay = division->replay;
    const struct replay_thread *thread = &replay->threads.data[number];
    if (thread->samples)
        return number;
    uint32_t process_name = replay->processes.data[thread->process].name;
    uint32_t *row = hash_at(&division->rows, (uint64_t)process_name << 32 | thread->name);
    if (!row)
        return REPLAY_NONE;
    if (*row == HASH_MISSING)
        *row = number;
    replay->threads.data[*row].threads_in_row++;
    return *row;
}

static int add_sample(struct division *division, uint32_t row, uint64_t time, uint64_t cpu_time, struct error *err)
{
    struct replay *replay = division->replay;
    struct replay_thread *thread = &replay->threads.data[row];
    struct replay_process *process = &replay->processes.data[thread->process];
    if (time > thread->last_time)
        thread->last_time = time;
    /* a row ends when the last of its threads ends */
    if (thread->end && thread->end < time)
        thread->end = time;
    if (process->end && process->end < time)
        process->end = time;
    thread->unsampled++;
    process->samples++;
    replay->unsampled_count++;
    struct stored_sample sample = {
        .time = thread->last_time, .stack = division->stack, .cpu_time = (uint32_t)(cpu_time / SAMPLE_CPU_UNIT)};
    return sample_store_add(replay->samples, row, &sample, err);
}

/* Adds the final rest, which is less than a period: as an own sample, or to the weight of the last one. */
static int add_rest(struct division *division, uint32_t row, uint64_t time, uint64_t rest, struct error *err)
{
    struct stored_sample *newest = row == REPLAY_NONE ? NULL : sample_store_newest(division->replay->samples, row);
    if (newest && rest < division->period / 2)
        newest->cpu_time += (uint32_t)(rest / SAMPLE_CPU_UNIT);
    else if (newest)
        return add_sample(division, row, time, rest, err);
    return 0;
}

static int divide(struct division *division, uint64_t missing, struct error *err)
{
    double scale = division->total ? (double)missing / (double)division->total : 0, carried = 0;
    if (scale > PERIODS_PER_THREAD)
        scale = PERIODS_PER_THREAD;
    uint32_t last_row = REPLAY_NONE;
    uint64_t last_end = 0;
    for (size_t i = 0; i < division->remainders.length; i++) {
        const struct remainder *remainder = &division->remainders.data[i];
        uint32_t row = row_of(division, remainder->thread);
        if (row == REPLAY_NONE)
            return error_no_memory(err);
        carried += (double)remainder->unseen * scale;
        while (carried >= (double)division->period) {
            carried -= (double)division->period;
            int code = add_sample(division, row, remainder->end, division->period, err);
            if (code)
                return code;
        }
        if (sample_store_newest(division->replay->samples, row)) {
            last_row = row;
            last_end = remainder->end;
        }
    }
    return add_rest(division, last_row, last_end, (uint64_t)carried, err);
}

static void remove_excess(struct replay *replay, uint64_t too_much)
{
    if (too_much > replay->excess_cpu_time)
        too_much = replay->excess_cpu_time;
    if (!too_much)
        return;
    replay->excess_removed = (double)too_much / (double)replay->excess_cpu_time;
    replay->covered_cpu_time -= too_much;
}

int unsampled_add(struct replay *replay, struct error *err)
{
    uint64_t used = replay_info_number(replay, INFO_CPU_TIME, 0);
    struct division division = {.replay = replay, .period = replay->interval};
    if (!used || used == replay->covered_cpu_time || !division.period || replay->damaged_blocks)
        return 0;
    if (used < replay->covered_cpu_time) {
        remove_excess(replay, replay->covered_cpu_time - used);
        return 0;
    }
    division.stack = replay_add_mark(replay, REPLAY_LIB_NOT_SAMPLED);
    int code = division.stack == REPLAY_NONE ? error_no_memory(err) : list_remainders(&division, err);
    if (!code)
        code = divide(&division, used - replay->covered_cpu_time, err);
    array_free(&division.remainders);
    hash_destroy(&division.rows);
    return code;
}
