#include "assemble/unsampled.h"

#include "base/search.h"
#include "record/info.h"

#include <stdlib.h>

/* A thread may have used part of a period on each CPU that it ran on. */
enum { PERIODS_PER_THREAD = 64 };

struct unsampled_time {
    uint32_t thread;
    uint32_t row;    /* the thread whose row shows it */
    uint64_t end;    /* ns: end of the thread, or of the recording */
    uint64_t length; /* ns that it ran after its last sample; where not known, since then, at most one period */
    uint64_t hidden; /* ns that it ran before waits that are not shown */
};

struct attribution {
    struct replay *replay;
    ARRAY(struct unsampled_time) times; /* by end */
    struct hash rows;                   /* names of process and thread -> the thread whose row shows them */
    bool has_rests;                     /* the recorder has told of each thread how long it ran at its end */
    uint64_t period, total;             /* ns; total: the sum of `length` */
    uint32_t stack;                     /* the stack "(not sampled)" */
};

static int compare_ends(const void *a, const void *b)
{
    const struct unsampled_time *left = a, *right = b;
    return left->end != right->end ? ORDER(left->end, right->end) : ORDER(left->thread, right->thread);
}

static int list_times(struct attribution *attribution, struct error *err)
{
    const struct replay *replay = attribution->replay;
    for (size_t i = 0; i < replay->threads.length; i++) {
        const struct replay_thread *thread = &replay->threads.data[i];
        uint64_t end = thread->end ? thread->end : replay_stop(replay);
        /* without a row, as of a thread that was only ready to run, no sample is shown of the time before waits */
        uint64_t hidden = thread->known && !replay_is_shown(replay, thread) ? thread->ran_to_waits : 0;
        if (!thread->known || thread->goes_on || (end <= thread->covered_until && !hidden))
            continue;
        struct unsampled_time unsampled = {.thread = (uint32_t)i,
                                           .end = end,
                                           .length = end > thread->covered_until ? end - thread->covered_until : 0,
                                           .hidden = hidden};
        if (attribution->has_rests)
            unsampled.length = thread->rest;
        else if (unsampled.length > attribution->period)
            unsampled.length = attribution->period;
        if (!unsampled.length && !hidden)
            continue;
        if (!array_push(&attribution->times, unsampled))
            return error_no_memory(err);
    }
    if (attribution->times.length)
        qsort(attribution->times.data, attribution->times.length, sizeof(struct unsampled_time), compare_ends);
    return 0;
}

/* The thread whose row shows the unsampled time of thread `number`; REPLAY_NONE if memory ran out. */
static uint32_t row_of(struct attribution *attribution, uint32_t number)
{
    struct replay *replay = attribution->replay;
    const struct replay_thread *thread = &replay->threads.data[number];
    if (thread->samples || thread->waits || thread->event_samples)
        return number;
    uint32_t process_name = replay->processes.data[thread->process].name;
    uint32_t *row = hash_at(&attribution->rows, (uint64_t)process_name << 32 | thread->name);
    if (!row)
        return REPLAY_NONE;
    if (*row == HASH_MISSING)
        *row = number;
    replay->threads.data[*row].threads_in_row++;
    return *row;
}

static int add_sample(struct attribution *attribution, uint32_t row, uint64_t time, uint64_t cpu_time,
                      struct error *err)
{
    struct replay *replay = attribution->replay;
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
    uint64_t units = cpu_time / SAMPLE_CPU_UNIT;
    struct stored_sample sample = {.time = thread->last_time,
                                   .stack = attribution->stack,
                                   .cpu_time = (uint32_t)(units < SAMPLE_CPU_MAX ? units : SAMPLE_CPU_MAX)};
    int code = sample_store_add(replay->samples, row, &sample, err);
    thread->last_run = sample_store_count(replay->samples, row);
    return code;
}

/* Adds the final rest, which is less than a period: as an own sample, or to the weight of the last one. */
static int add_rest(struct attribution *attribution, uint32_t row, uint64_t time, uint64_t rest, struct error *err)
{
    struct stored_sample *newest = row == REPLAY_NONE ? NULL : sample_store_newest(attribution->replay->samples, row);
    if (newest && !newest->is_wait && rest < attribution->period / 2)
        newest->cpu_time += (uint32_t)(rest / SAMPLE_CPU_UNIT);
    else if (newest)
        return add_sample(attribution, row, time, rest, err);
    return 0;
}

/* A row is the only one of its threads whose waits are shown. */
static int choose_rows(struct attribution *attribution, struct error *err)
{
    for (size_t i = 0; i < attribution->times.length; i++) {
        struct unsampled_time *unsampled = &attribution->times.data[i];
        unsampled->row = row_of(attribution, unsampled->thread);
        if (unsampled->row == REPLAY_NONE)
            return error_no_memory(err);
        if (unsampled->row != unsampled->thread) {
            unsampled->length += unsampled->hidden;
            attribution->replay->covered_cpu_time -= unsampled->hidden;
        }
        attribution->total += unsampled->length;
    }
    return 0;
}

/* The time of switching from thread to thread is in no part of a thread's time on a CPU. */
static void spread_rest(struct replay *replay, uint64_t missing, double attributed)
{
    double rest = (double)missing - attributed;
    double covered = (double)replay->covered_cpu_time + attributed; /* also of the samples that are added */
    if (rest <= 0 || covered <= 0)
        return;
    replay->spread = rest / covered;
    replay->covered_cpu_time += (uint64_t)(replay->spread * (double)replay->covered_cpu_time);
}

static int attribute(struct attribution *attribution, uint64_t missing, struct error *err)
{
    double scale = attribution->total ? (double)missing / (double)attribution->total : 0, carried = 0;
    double most = attribution->has_rests ? 1 : PERIODS_PER_THREAD;
    if (scale > most)
        scale = most;
    if (attribution->has_rests)
        spread_rest(attribution->replay, missing, (double)attribution->total * scale);
    uint32_t last_row = REPLAY_NONE;
    uint64_t last_end = 0;
    for (size_t i = 0; i < attribution->times.length; i++) {
        const struct unsampled_time *unsampled = &attribution->times.data[i];
        uint32_t row = unsampled->row;
        carried += (double)unsampled->length * scale;
        while (carried >= (double)attribution->period) {
            carried -= (double)attribution->period;
            int code = add_sample(attribution, row, unsampled->end, attribution->period, err);
            if (code)
                return code;
        }
        if (sample_store_newest(attribution->replay->samples, row)) {
            last_row = row;
            last_end = unsampled->end;
        }
    }
    return add_rest(attribution, last_row, last_end, (uint64_t)carried, err);
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
    struct attribution attribution = {.replay = replay, .period = replay->interval, .has_rests = replay->has_rests};
    if (!used || used == replay->covered_cpu_time || !attribution.period || replay->damaged_blocks ||
        replay->samples_without_thread || replay->keeps_last)
        return 0;
    if (used < replay->covered_cpu_time) {
        remove_excess(replay, replay->covered_cpu_time - used);
        return 0;
    }
    attribution.stack = replay_add_mark(replay, REPLAY_LIB_NOT_SAMPLED);
    int code = attribution.stack == REPLAY_NONE ? error_no_memory(err) : list_times(&attribution, err);
    if (!code)
        code = choose_rows(&attribution, err);
    if (!code)
        code = attribute(&attribution, used - replay->covered_cpu_time, err);
    array_free(&attribution.times);
    hash_destroy(&attribution.rows);
    return code;
}
