#include "assemble/unsampled.h"

#include "assemble/replay_stacks.h"
#include "base/search.h"
#include "spool/info.h"

enum {
    PERIODS_PER_THREAD =
        64, /* limit of unsampled periods per thread, because a thread may have used part of a period on each CPU */
    END_NS = 100000, /* limit (ns) of CPU time that the kernel counts after a thread's last record */
};

/* Limit of the CPU time for switching, relative to the time that switches show. Measured: 0.3 with 230,000 switches a
 * second on one CPU, 0.57 (4.5 us a wait) with two processes that wake each other across two CPUs of a virtual
 * machine. */
static const double MOST_SWITCHING = 1;

struct unsampled_time {
    uint32_t thread;
    uint32_t row;    /* the thread whose row shows this time */
    uint64_t end;    /* ns: end of the thread, or of the recording */
    uint64_t length; /* ns that the thread ran after its last sample; if unknown, the time since its last sample, at
                        most one period */
};

/* The unsampled time of a row. */
struct row_time {
    double length;     /* ns that no sample of the row covers yet */
    uint64_t last_end; /* ns */
    uint64_t to_waits; /* ns before waits that no later sample covers; the profile shows this time only in a row with
                          samples */
};

struct attribution {
    struct replay *replay;
    ARRAY(struct unsampled_time) times; /* by end */
    ARRAY(struct row_time) rows;        /* by thread */
    struct hash named_rows;             /* names of process and thread -> the thread whose row shows these threads */
    bool has_rests;                     /* the recording has the time that each thread ran after its last sample */
    uint64_t period;                    /* ns */
    uint64_t total;                     /* ns: the sum of `length` */
    uint64_t known;                     /* ns: running time of threads, by their switches */
    uint32_t stack;                     /* the stack "(not sampled)" */
};

DEFINE_COMPARE(compare_ends, struct unsampled_time, ORDER_THEN(a->end, b->end, ORDER(a->thread, b->thread)))

/* ---- the threads and their rows ---- */

static uint64_t find_length(const struct attribution *attribution, const struct replay_thread *thread, uint64_t end)
{
    uint64_t since = end > thread->cpu_time.covered_until ? end - thread->cpu_time.covered_until : 0;
    if (attribution->has_rests)
        return attribution->replay->spool.keeps_last ? 0 : thread->cpu_time.rest;
    return thread->cpu_time.goes_on ? 0 : since < attribution->period ? since : attribution->period;
}

static int list_times(struct attribution *attribution, struct error *err)
{
    const struct replay *replay = attribution->replay;
    for (size_t i = 0; i < replay->threads.length; i++) {
        const struct replay_thread *thread = &replay->threads.data[i];
        uint64_t end = thread->end ? thread->end : replay_get_stop(replay);
        struct unsampled_time unsampled = {.thread = (uint32_t)i, .end = end};
        if (!thread->known || (replay->spool.keeps_last && !thread->cpu_time.ran_to_waits))
            continue;
        unsampled.length = find_length(attribution, thread, end);
        attribution->total += unsampled.length;
        attribution->known += thread->cpu_time.covered + thread->cpu_time.ran_to_waits + unsampled.length;
        if (!array_push(&attribution->times, unsampled))
            return error_no_memory(err);
    }
    array_sort(&attribution->times, compare_ends);
    return 0;
}

/* Returns the thread whose row shows the unsampled time of thread `number`, or REPLAY_NONE if memory ran out. */
static uint32_t find_row(struct attribution *attribution, uint32_t number)
{
    struct replay *replay = attribution->replay;
    const struct replay_thread *thread = &replay->threads.data[number];
    if (replay_is_shown(replay, thread))
        return number;
    uint32_t process_name = replay->processes.data[thread->process].name;
    uint32_t *row = hash_at(&attribution->named_rows, (uint64_t)process_name << 32 | thread->name);
    if (!row)
        return REPLAY_NONE;
    if (*row == HASH_MISSING)
        *row = number;
    replay->threads.data[*row].threads_in_row++;
    return *row;
}

/* Chooses the row of each thread. If a thread shares a row, the profile omits its waits, and adds its CPU time before
 * waits to the row. */
static int choose_rows(struct attribution *attribution, struct error *err)
{
    for (size_t i = 0; i < attribution->times.length; i++) {
        struct unsampled_time *unsampled = &attribution->times.data[i];
        const struct replay_thread *thread = &attribution->replay->threads.data[unsampled->thread];
        unsampled->row = unsampled->thread;
        if (!unsampled->length && !thread->cpu_time.ran_to_waits)
            continue;
        unsampled->row = find_row(attribution, unsampled->thread);
        if (unsampled->row == REPLAY_NONE)
            return error_no_memory(err);
        if (unsampled->row != unsampled->thread)
            unsampled->length += thread->cpu_time.ran_to_waits;
        else
            attribution->rows.data[unsampled->row].to_waits = thread->cpu_time.ran_to_waits;
    }
    return 0;
}

/* ---- CPU time that only the kernel counted ---- */

static double get_running_time(const struct replay_thread *thread)
{
    return (double)(thread->cpu_time.covered + thread->cpu_time.ran_to_waits) + (double)thread->cpu_time.rest;
}

/* The CPU time that only the kernel counted for one process, or for all processes without a separate count. */
struct unseen_time {
    uint64_t length; /* ns of CPU time without switch records */
    double ran;      /* ns of CPU time in switch records */
    uint64_t threads, ended;
};

/* Returns the part to which a thread belongs: the part of its process if the kernel counted the process, else the last
 * part. */
static size_t find_part(const struct replay *replay, const struct replay_thread *thread)
{
    return replay->processes.data[thread->process].unseen ? thread->process : replay->processes.length;
}

static double get_scale(const struct replay *replay, const struct replay_thread *thread)
{
    double scale = replay->processes.data[thread->process].scale;
    return scale > 0 ? scale : 1;
}

/* Returns the time (ns) that the kernel counts after the end of each thread. */
static double get_time_after_end(const struct unseen_time *part)
{
    double time = part->ended ? (double)part->length / (double)part->ended : 0;
    return time > END_NS && part->ran > 0 ? END_NS : time;
}

/* Spreads the unseen time over all samples if it is small enough for context switches, else adds it as (not
 * sampled). */
static void add_unseen(struct attribution *attribution, const struct unseen_time *parts)
{
    struct replay *replay = attribution->replay;
    for (size_t i = 0; i < attribution->times.length; i++) {
        struct unsampled_time *unsampled = &attribution->times.data[i];
        const struct replay_thread *thread = &replay->threads.data[unsampled->thread];
        const struct unseen_time *part = &parts[find_part(replay, thread)];
        double rest = (double)part->length - get_time_after_end(part) * (double)part->ended;
        double share = part->ran > 0 ? get_running_time(thread) / part->ran : 1 / (double)part->threads;
        bool is_switching = !replay->samples.lost && rest <= MOST_SWITCHING * part->ran;
        double added = (thread->end ? get_time_after_end(part) : 0) + (is_switching ? 0 : rest * share);
        if (is_switching && part->ran > 0)
            replay->processes.data[thread->process].scale = 1 + rest / part->ran;
        unsampled->length += (uint64_t)(added / get_scale(replay, thread));
        attribution->replay->cpu_time.unseen += (uint64_t)added;
    }
}

/* Moves the time of a part without threads to another part. */
static void move_to_part_with_threads(struct unseen_time *parts, size_t last)
{
    size_t taker = last;
    while (taker > 0 && !parts[taker].threads)
        taker--;
    for (size_t i = 0; i <= last; i++)
        if (!parts[i].threads && i != taker) {
            parts[taker].length += parts[i].length;
            parts[i].length = 0;
        }
}

/* `unseen`: ns that the kernel counted for all threads, beyond their switches. */
static int list_unseen(struct attribution *attribution, uint64_t unseen, struct error *err)
{
    const struct replay *replay = attribution->replay;
    size_t count = replay->processes.length;
    struct unseen_time *parts = calloc(count + 1, sizeof(*parts));
    if (!parts)
        return error_no_memory(err);
    parts[count].length = unseen;
    for (size_t i = 0; i < count; i++) {
        uint64_t known = replay->processes.data[i].unseen;
        parts[i].length = known < parts[count].length ? known : parts[count].length;
        parts[count].length -= parts[i].length;
    }
    for (size_t i = 0; i < attribution->times.length; i++) {
        const struct replay_thread *thread = &replay->threads.data[attribution->times.data[i].thread];
        struct unseen_time *part = &parts[find_part(replay, thread)];
        part->ran += get_running_time(thread);
        part->threads++;
        part->ended += thread->end != 0;
    }
    move_to_part_with_threads(parts, count);
    add_unseen(attribution, parts);
    free(parts);
    return 0;
}

static void remove_excess(struct replay *replay, uint64_t too_much)
{
    if (too_much > replay->cpu_time.excess)
        too_much = replay->cpu_time.excess;
    if (!too_much)
        return;
    replay->cpu_time.excess_removed = (double)too_much / (double)replay->cpu_time.excess;
    replay->cpu_time.covered -= too_much;
}

/* Matches the total with the kernel's count in a recording without switches. Returns the factor for lengths. */
static double match_estimates(struct attribution *attribution, uint64_t used)
{
    struct replay *replay = attribution->replay;
    if (used < replay->cpu_time.covered)
        remove_excess(replay, replay->cpu_time.covered - used);
    double missing = used > replay->cpu_time.covered ? (double)(used - replay->cpu_time.covered) : 0;
    double scale = attribution->total ? missing / (double)attribution->total : 0;
    return scale < PERIODS_PER_THREAD ? scale : PERIODS_PER_THREAD;
}

/* Matches the total with the kernel's count in a recording with switches. Also scales samples that are added later. */
static int match_switches(struct attribution *attribution, uint64_t used, struct error *err)
{
    struct replay *replay = attribution->replay;
    int code = used > attribution->known ? list_unseen(attribution, used - attribution->known, err) : 0;
    for (size_t i = 0; i < replay->processes.length && used < attribution->known; i++)
        replay->processes.data[i].scale = (double)used / (double)attribution->known;
    double covered = 0;
    for (size_t i = 0; i < replay->threads.length; i++)
        if (replay->threads.data[i].known)
            covered += (double)replay->threads.data[i].cpu_time.covered * get_scale(replay, &replay->threads.data[i]);
    replay->cpu_time.covered = (uint64_t)covered;
    return code;
}

/* ---- samples ---- */

static int add_sample(struct attribution *attribution, uint32_t row, uint64_t time, double cpu_time, struct error *err)
{
    struct replay *replay = attribution->replay;
    struct replay_thread *thread = &replay->threads.data[row];
    struct replay_process *process = &replay->processes.data[thread->process];
    if (time > thread->last_time)
        thread->last_time = limit_stored_time(time);
    /* a row ends when the last of its threads ends */
    if (thread->end && thread->end < time)
        thread->end = time;
    if (process->end && process->end < time)
        process->end = time;
    thread->cpu_time.unsampled++;
    process->samples++;
    replay->cpu_time.unsampled++;
    double units = cpu_time / SAMPLE_CPU_UNIT;
    struct stored_sample sample = {.time = thread->last_time,
                                   .stack = attribution->stack,
                                   .cpu_time = (uint32_t)(units < SAMPLE_CPU_MAX ? units : SAMPLE_CPU_MAX)};
    return sample_store_add(replay->samples.store, row, &sample, err);
}

/* Adds the rest of a row, which is less than a period, as a sample. Adds an estimated rest to the last sample. */
static int add_rest(struct attribution *attribution, uint32_t row, struct error *err)
{
    const struct row_time *rest = &attribution->rows.data[row];
    struct stored_sample *newest = sample_store_get_newest(attribution->replay->samples.store, row);
    if (rest->length < SAMPLE_CPU_UNIT && !rest->to_waits)
        return 0;
    if (attribution->has_rests || !newest || newest->kind != STORED_CPU ||
        rest->length >= (double)attribution->period / 2)
        return add_sample(attribution, row, rest->last_end, rest->length, err);
    newest->cpu_time += (uint32_t)(rest->length / SAMPLE_CPU_UNIT);
    return 0;
}

/* Converts ns of a thread to a length in the row of another thread: each length is later multiplied with the scale of
 * its process. */
static double convert_length(const struct replay *replay, double length, uint32_t from, uint32_t to)
{
    return length * get_scale(replay, &replay->threads.data[from]) / get_scale(replay, &replay->threads.data[to]);
}

/* Merges rests that are shorter than a period. Rests add up in the order of the ends of their threads, and the thread
 * that completes a period gets a row. So 10,000 threads of 0.3 ms become 3,000 rows of one period, not 3 s of one
 * thread. The last row gets the final rest. */
static void merge_rests(struct attribution *attribution)
{
    const struct replay *replay = attribution->replay;
    double period = (double)attribution->period, carried = 0; /* ns, scaled as in the profile */
    uint32_t last = REPLAY_NONE;
    uint64_t last_end = 0;
    for (size_t i = 0; i < attribution->times.length; i++) {
        const struct unsampled_time *unsampled = &attribution->times.data[i];
        struct row_time *row = &attribution->rows.data[unsampled->row];
        double scale = get_scale(replay, &replay->threads.data[unsampled->row]);
        double rest = (row->length + (double)row->to_waits) * scale;
        bool is_shown = replay_is_shown(replay, &replay->threads.data[unsampled->row]);
        if (is_shown)
            last = unsampled->row;
        if (is_shown || rest <= 0 || rest >= period)
            continue;
        carried += rest;
        last_end = row->last_end;
        *row = (struct row_time){0};
        if (carried < period)
            continue;
        *row = (struct row_time){.length = period / scale, .last_end = last_end};
        carried -= period;
        last = unsampled->row;
    }
    if (carried <= 0 || last == REPLAY_NONE)
        return;
    struct row_time *taker = &attribution->rows.data[last];
    taker->length += carried / get_scale(replay, &replay->threads.data[last]);
    if (last_end > taker->last_end)
        taker->last_end = last_end;
}

/* Adds a sample for each whole period, at the end of the thread that completes the period. */
static int add_samples(struct attribution *attribution, double scale, struct error *err)
{
    const struct replay *replay = attribution->replay;
    double period = (double)attribution->period;
    int code = 0;
    for (size_t i = 0; i < attribution->times.length && !code; i++) {
        const struct unsampled_time *unsampled = &attribution->times.data[i];
        struct row_time *row = &attribution->rows.data[unsampled->row];
        row->length += scale * convert_length(replay, (double)unsampled->length, unsampled->thread, unsampled->row);
        row->last_end = unsampled->end;
        for (unsigned samples = 0; row->length >= period && samples < PERIODS_PER_THREAD && !code; samples++) {
            double length = samples + 1 < PERIODS_PER_THREAD ? period : row->length;
            row->length -= length;
            row->to_waits = 0;
            code = add_sample(attribution, unsampled->row, unsampled->end, length, err);
        }
    }
    merge_rests(attribution);
    for (uint32_t row = 0; row < attribution->rows.length && !code; row++)
        code = add_rest(attribution, row, err);
    return code;
}

static int attribute_time(struct attribution *attribution, uint64_t used, struct error *err)
{
    const struct replay *replay = attribution->replay;
    int code = list_times(attribution, err);
    while (!code && attribution->rows.length < replay->threads.length)
        code = array_push_zero(&attribution->rows) ? 0 : error_no_memory(err);
    if (code)
        return code;
    double scale = 1;
    if (!attribution->has_rests)
        scale = match_estimates(attribution, used);
    else if (used)
        code = match_switches(attribution, used, err);
    if (!code)
        code = choose_rows(attribution, err);
    return code ? code : add_samples(attribution, scale, err);
}

/* Returns the kernel's count of CPU time (ns), or 0 (unknown, or an incomplete recording). */
static uint64_t get_kernel_count(const struct replay *replay)
{
    bool is_whole = !replay->spool.damaged_blocks && !replay->samples.without_thread && !replay->spool.keeps_last;
    return is_whole ? replay_get_info_number(replay, INFO_CPU_TIME, 0) : 0;
}

bool unsampled_is_complete(const struct replay *replay)
{
    return !replay->input.window && get_kernel_count(replay) != 0;
}

int unsampled_add(struct replay *replay, struct error *err)
{
    uint64_t used = get_kernel_count(replay);
    struct attribution attribution = {.replay = replay,
                                      .period = replay->infos.interval,
                                      .has_rests = replay->cpu_time.has_rests ||
                                                   replay_get_info_number(replay, INFO_SWITCHES, 0)};
    if (!attribution.period || (!used && !attribution.has_rests))
        return 0;
    attribution.stack = replay_add_placeholder_stack(replay, REPLAY_LIB_NOT_SAMPLED);
    int code = attribution.stack == REPLAY_NONE ? error_no_memory(err) : attribute_time(&attribution, used, err);
    array_free(&attribution.times);
    array_free(&attribution.rows);
    hash_destroy(&attribution.named_rows);
    return code;
}
