#include "tree/weights.h"

#include "base/search.h"

const struct time_range whole_time = {-INFINITY, INFINITY};

static size_t find_first_from(const struct sample_table *samples, double time)
{
    return search_count(samples->time, samples->length, *element < time);
}

void find_samples_in_range(const struct sample_table *samples, struct time_range range, size_t *first, size_t *last)
{
    *first = find_first_from(samples, range.from);
    *last = find_first_from(samples, range.to);
    if (*last < *first)
        *last = *first;
}

/* ---- weight of a sample ---- */

static bool is_on_cpu(const struct wait_rows *waits, size_t i)
{
    if (has_wait_rows(waits))
        return is_cpu_row(waits, i);
    return !waits->samples->cpu_delta || waits->samples->cpu_delta[i] != 0;
}

/* Whether row `i` counts: samples, waits, or both. */
static bool counts_row(const struct wait_rows *waits, enum sample_weight weight, size_t i)
{
    bool counts_waits = has_wait_rows(waits) && (weight == WEIGH_OFF_CPU_TIME || weight == WEIGH_TIME);
    if (counts_waits && is_wait_end(waits, i))
        return true;
    if (weight == WEIGH_ON_CPU || weight == WEIGH_OFF_CPU)
        return is_on_cpu(waits, i) == (weight == WEIGH_ON_CPU);
    return !(counts_waits && weight == WEIGH_OFF_CPU_TIME) && is_sample_row(waits, i);
}

/* ---- gaps ---- */

struct thread_gaps find_sample_gaps(const struct profile *profile, uint32_t thread)
{
    enum { SLEEP_INTERVALS = 4 };
    const struct profile_meta *meta = &profile->meta;
    const struct thread *row = &profile->threads.data[thread];
    const struct sample_table *samples = &row->samples;
    size_t length = samples->length;
    double end = isnan(row->end) ? fmin(row->process_end, meta->profiling_end) : row->end; /* NAN only if both are */
    struct thread_gaps gaps = {.samples = samples,
                               .known_end = end,
                               .interval = meta->interval,
                               .shortest_wait = SLEEP_INTERVALS * meta->interval,
                               .waits = get_wait_rows(profile, thread),
                               .paused = row->paused.data,
                               .paused_count = row->paused.length};
    if (length == 0) {
        if (meta->has_cpu_delta && !isnan(row->start) && row->start < end) {
            gaps.start = fmax(row->start, meta->profiling_start);
            gaps.end = end;
        }
        return gaps;
    }
    gaps.start = samples->time[0] - meta->interval;
    gaps.end = samples->time[length - 1];
    if (!samples->cpu_delta)
        return gaps;
    if (!isnan(row->start) && (!isnan(meta->profiling_start) || !isnan(samples->cpu_delta[0])))
        gaps.start = fmin(fmax(row->start, meta->profiling_start), samples->time[0]);
    gaps.end = fmax(gaps.end, end);
    return gaps;
}

/* Returns the CPU time of a gap, ms. If the CPU time before the first sample is unknown, counts at most one interval.
 */
static double get_gap_cpu_time(const struct thread_gaps *gaps, size_t i)
{
    const struct sample_table *samples = gaps->samples;
    double length = get_gap_end(gaps, i) - get_gap_start(gaps, i);
    if (i >= samples->length)
        return 0;
    if (samples->cpu_delta && !isnan(samples->cpu_delta[i]))
        return samples->cpu_delta[i] / 1000;
    return i == 0 ? fmin(length, gaps->interval) : length;
}

static double measure_overlap(double from, double to, struct time_range range)
{
    return fmax(0, fmin(to, range.to) - fmax(from, range.from));
}

/* Returns how long recording was paused between two times, in ms. */
static double sum_paused(const struct thread_gaps *gaps, double from, double to)
{
    double paused = 0;
    for (size_t i = 0; i < gaps->paused_count && gaps->paused[i].start < to; i++)
        paused += measure_overlap(gaps->paused[i].start, gaps->paused[i].end, (struct time_range){from, to});
    return paused;
}

static struct gap_time measure_gap_slowly(const struct thread_gaps *gaps, size_t i, struct time_range range)
{
    double start = get_gap_start(gaps, i), end = get_gap_end(gaps, i), cpu = get_gap_cpu_time(gaps, i);
    double ran_until = fmin(start + cpu, end);
    struct gap_time time = {measure_overlap(start, ran_until, range), measure_overlap(ran_until, end, range)};
    if (gaps->paused_count && time.wait > 0)
        time.wait -= fmin(time.wait, sum_paused(gaps, fmax(ran_until, range.from), fmin(end, range.to)));
    /* all CPU time of a gap inside the range counts, even if it exceeds elapsed time because clocks differ */
    if (start >= range.from && end <= range.to && start < range.to)
        time.cpu = cpu;
    return time;
}

/* A fast path for gaps inside the range, which are nearly all gaps. */
static inline struct gap_time measure_gap_inline(const struct thread_gaps *gaps, size_t i, struct time_range range)
{
    const struct sample_table *samples = gaps->samples;
    if (i == 0 || i >= samples->length || gaps->paused_count || !samples->cpu_delta)
        return measure_gap_slowly(gaps, i, range);
    double start = samples->time[i - 1], end = samples->time[i], cpu = samples->cpu_delta[i] / 1000;
    if (!(start >= range.from && end <= range.to && start < range.to && cpu == cpu))
        return measure_gap_slowly(gaps, i, range);
    return (struct gap_time){cpu, end > start + cpu ? end - (start + cpu) : 0};
}

struct gap_time measure_gap_in(const struct thread_gaps *gaps, size_t i, struct time_range range)
{
    return measure_gap_inline(gaps, i, range);
}

const double wait_weight_spread = 1000;

struct wait_weight measure_wait_in(const struct thread_gaps *gaps, size_t i, struct time_range range)
{
    double start = gaps->samples->time[i - 1], end = gaps->samples->time[i], length = end - start;
    double weight = gaps->samples->weight ? gaps->samples->weight[i] : length, unseen = fmax(0, weight - length);
    struct wait_weight in = {.length = length, .own = measure_overlap(start, end, range)};
    if (unseen > 0) {
        double from = fmax(end - fmin(unseen, wait_weight_spread), fmin(gaps->start, start));
        in.unseen = end > from ? measure_overlap(from, end, range) * (unseen / (end - from)) : unseen;
    }
    if (gaps->paused_count)
        in.own -= fmin(in.own, sum_paused(gaps, fmax(start, range.from), fmin(end, range.to)));
    return in;
}

bool gap_is_wait(const struct thread_gaps *gaps, size_t i)
{
    double length =
        get_gap_end(gaps, i) - get_gap_start(gaps, i) - sum_paused(gaps, get_gap_start(gaps, i), get_gap_end(gaps, i));
    return gaps->samples->cpu_delta && length > gaps->shortest_wait && get_gap_cpu_time(gaps, i) < length / 2;
}

bool gap_has_waiting_sample(const struct thread_gaps *gaps, size_t i)
{
    const struct sample_table *samples = gaps->samples;
    if (has_wait_rows(&gaps->waits))
        return is_wait_end(&gaps->waits, i);
    return i < samples->length && samples->stack[i] != PROFILE_NONE && !is_on_cpu(&gaps->waits, i);
}

double get_running_end_of_gap(const struct thread_gaps *gaps, size_t i)
{
    double start = get_gap_start(gaps, i), end = get_gap_end(gaps, i), ran_until = start + get_gap_cpu_time(gaps, i);
    return end - ran_until >= gaps->interval / 2 ? ran_until : end;
}

size_t find_gap_at(const struct thread_gaps *gaps, double time, struct time_range *extent)
{
    size_t i = find_first_from(gaps->samples, nextafter(time, INFINITY));
    *extent = (struct time_range){get_gap_start(gaps, i), get_gap_end(gaps, i)};
    return time >= extent->from && time < extent->to ? i : SIZE_MAX;
}

/* In a thread with recorded waits, whether a gap without a recorded wait has waiting time. */
static bool is_short_wait_at(const struct thread_gaps *gaps, double time, struct time_range *wait)
{
    struct time_range gap;
    size_t i = find_gap_at(gaps, time, &gap);
    if (i == SIZE_MAX || is_wait_end(&gaps->waits, i) || time < get_running_end_of_gap(gaps, i))
        return false;
    *wait = (struct time_range){get_running_end_of_gap(gaps, i), gap.to};
    return true;
}

bool is_not_running_at(const struct thread_gaps *gaps, double time, struct time_range *wait)
{
    if (has_wait_rows(&gaps->waits))
        return is_short_wait_at(gaps, time, wait);
    size_t i = find_first_from(gaps->samples, time);
    if (!gap_is_wait(gaps, i) || gap_has_waiting_sample(gaps, i))
        return false;
    /* A sample covers an interval from its time; the first sample also covers the time before it. */
    bool is_first = i == 0, is_last = i == gaps->samples->length;
    struct time_range gap = {get_gap_start(gaps, i) + (is_first ? 0 : gaps->interval),
                             get_gap_end(gaps, i) - (is_first && !is_last ? gaps->interval : 0)};
    if (time < gap.from || time >= gap.to)
        return false;
    *wait = gap;
    return true;
}

/* ---- the pass over samples ---- */

static const struct sample_table *get_samples(const struct profile *profile, const struct weighing *weighing,
                                              uint32_t thread)
{
    return weighing->samples ? &weighing->samples[thread][weighing->table]
                             : thread_samples(&profile->threads.data[thread], weighing->table);
}

/* Returns the rows of a table. Only the samples of a thread have rows of waits. */
static struct wait_rows get_rows_of_table(const struct profile *profile, uint32_t thread, enum sample_table_kind table,
                                          const struct sample_table *samples)
{
    struct wait_rows rows = get_wait_rows(profile, thread);
    if (table != TABLE_SAMPLES)
        rows.category = PROFILE_NONE;
    if (!has_wait_rows(&rows))
        rows.samples = samples;
    return rows;
}

static bool counts_samples(const struct profile *profile, const struct weighing *weighing)
{
    bool ones = !weighing->counts_apart && (weighing->weight == WEIGH_RECORDED || weighing->weight == WEIGH_SAMPLES);
    for (size_t i = 0; ones && weighing->weight == WEIGH_RECORDED && i < weighing->thread_count; i++)
        ones = weighing->threads[i] >= profile->threads.length ||
               !thread_samples(&profile->threads.data[weighing->threads[i]], weighing->table)->weight;
    return ones;
}

static void add_samples(struct stack_weights *weights, const struct profile *profile, const struct weighing *weighing,
                        uint32_t thread)
{
    const struct sample_table *samples = get_samples(profile, weighing, thread);
    const struct wait_rows rows = get_rows_of_table(profile, thread, weighing->table, samples);
    size_t first, last;
    find_samples_in_range(samples, weighing->range, &first, &last);
    for (size_t i = first; i < last; i++)
        if (samples->stack[i] != PROFILE_NONE && is_sample_row(&rows, i))
            weights->of_stack[samples->stack[i]] += 1;
}

/* A sample without a stack does not count: it was recorded without one, or a transform dropped it. Waits next to an
 * uncounted sample do not count either. */
static bool has_stack(const struct sample_table *samples, size_t i)
{
    size_t at = i < samples->length || i == 0 ? i : i - 1;
    return at >= samples->length || samples->stack[at] != PROFILE_NONE;
}

static void set_row(const struct weighing *weighing, size_t row)
{
    if (weighing->row)
        *weighing->row = row;
}

typedef void add_sample(void *context, uint32_t stack, double weight, unsigned count);

static inline __attribute__((always_inline)) void add_wait(const struct weighing *weighing,
                                                           const struct thread_gaps *gaps,
                                                           const struct sample_table *samples, size_t i,
                                                           bool is_in_range, add_sample *add, void *context)
{
    if (samples->stack[i] == PROFILE_NONE)
        return;
    const struct wait_weight wait = measure_wait_in(gaps, i, weighing->range);
    if (is_in_range || wait.own + wait.unseen > 0) /* a row in the range counts even without time */
        add(context, samples->stack[i], wait.own + wait.unseen, is_in_range);
}

/* Weighs a thread with recorded waits: the CPU time of each gap for the row that stands for the gap, and the waits. */
static inline __attribute__((always_inline)) void weigh_recorded_waits(const struct weighing *weighing,
                                                                       const struct thread_gaps *gaps,
                                                                       const struct sample_table *samples,
                                                                       add_sample *add, void *context)
{
    const struct wait_rows *waits = &gaps->waits;
    struct row_cursor own[2] = {{0}, {0}}, *cursors = weighing->cursors ? weighing->cursors : own;
    bool has_waits = row_cursor_find(&cursors[ROW_WAIT_END], waits, ROW_WAIT_END, 0) != SIZE_MAX;
    size_t first = find_first_from(samples, weighing->range.from), after = find_first_from(samples, weighing->range.to);
    for (size_t i = first; i <= after; i++) {
        set_row(weighing, i);
        struct gap_time time = measure_gap_inline(gaps, i, weighing->range);
        bool is_in_range = i < after, ran = is_cpu_row(waits, i);
        size_t runner = ran ? i : row_cursor_find(&cursors[ROW_ON_CPU], waits, ROW_ON_CPU, i);
        bool is_runner = runner == i;
        if (runner == SIZE_MAX)
            runner = i;
        if (weighing->weight != WEIGH_OFF_CPU_TIME && runner < samples->length &&
            samples->stack[runner] != PROFILE_NONE)
            add(context, samples->stack[runner], time.cpu, is_in_range && is_runner && is_sample_row(waits, i));
        if (weighing->weight == WEIGH_CPU_TIME)
            continue;
        if (is_wait_end(waits, i))
            add_wait(weighing, gaps, samples, i, is_in_range, add, context);
        else if (!has_waits && time.wait > 0 && has_stack(samples, i) && weighing->not_running != PROFILE_NONE)
            add(context, weighing->not_running, time.wait, 0);
    }
    for (size_t i = after + 1; weighing->weight != WEIGH_CPU_TIME && i < samples->length &&
                               samples->time[i] < weighing->range.to + wait_weight_spread;
         i++)
        if (is_wait_end(waits, i)) {
            set_row(weighing, i);
            add_wait(weighing, gaps, samples, i, false, add, context);
        }
}

static void weigh_times(const struct profile *profile, const struct weighing *weighing, uint32_t thread,
                        const struct sample_table *samples, add_sample *add, void *context)
{
    struct thread_gaps gaps = find_sample_gaps(profile, thread);
    struct time_range range = weighing->range;
    if (has_wait_rows(&gaps.waits)) {
        weigh_recorded_waits(weighing, &gaps, samples, add, context);
        return;
    }
    size_t first = find_first_from(samples, range.from), after = find_first_from(samples, range.to);
    for (size_t i = first; i <= after; i++) {
        set_row(weighing, i);
        if (!has_stack(samples, i))
            continue;
        bool is_after_last = i >= samples->length, waits_there = gap_has_waiting_sample(&gaps, i);
        struct gap_time time = measure_gap_in(&gaps, i, range);
        if (weighing->weight == WEIGH_CPU_TIME)
            time.wait = 0;
        if (weighing->weight == WEIGH_OFF_CPU_TIME)
            time.cpu = 0;
        if (!is_after_last)
            add(context, samples->stack[i], waits_there ? time.cpu + time.wait : time.cpu,
                i < after && is_sample_row(&gaps.waits, i));
        if (!waits_there && time.wait > 0 && weighing->not_running != PROFILE_NONE)
            add(context, weighing->not_running, time.wait, 0);
    }
}

/* Returns the stack that row `i` of native allocations counts for, among rows `first` to `last`, or PROFILE_NONE for
 * none. */
static uint32_t find_allocation_stack(const struct sample_table *table, size_t i, size_t first, size_t last,
                                      enum sample_weight weight)
{
    uint32_t partner = table->partner ? table->partner[i] : PROFILE_NONE;
    bool is_allocation = table->weight[i] >= 0, is_freed = partner != PROFILE_NONE && partner < last;
    bool was_allocated = partner != PROFILE_NONE && partner >= first;
    switch (weight) {
    case WEIGH_ALLOCATED:
        return is_allocation ? table->stack[i] : PROFILE_NONE;
    case WEIGH_RETAINED:
        return is_allocation && !is_freed ? table->stack[i] : PROFILE_NONE;
    case WEIGH_DEALLOCATED:
        return !is_allocation && was_allocated ? table->stack[partner] : PROFILE_NONE;
    default:
        return is_allocation ? PROFILE_NONE : table->stack[i];
    }
}

static void weigh_allocations(const struct weighing *weighing, const struct sample_table *table, add_sample *add,
                              void *context)
{
    size_t first, last;
    find_samples_in_range(table, weighing->range, &first, &last);
    for (size_t i = first; i < last; i++) {
        set_row(weighing, i);
        uint32_t stack = find_allocation_stack(table, i, first, last, weighing->weight);
        if (stack != PROFILE_NONE)
            add(context, stack, table->weight[i], 1);
    }
}

void weigh_thread(const struct profile *profile, const struct weighing *weighing, uint32_t thread, add_sample *add,
                  void *context)
{
    const struct sample_table *samples = get_samples(profile, weighing, thread);
    enum sample_weight weight = weighing->weight;
    if (weight >= WEIGH_ALLOCATED) {
        weigh_allocations(weighing, samples, add, context);
        return;
    }
    if (weight == WEIGH_TIME || weight == WEIGH_CPU_TIME || weight == WEIGH_OFF_CPU_TIME) {
        weigh_times(profile, weighing, thread, samples, add, context);
        return;
    }
    const struct wait_rows waits = get_rows_of_table(profile, thread, weighing->table, samples);
    size_t first, last;
    find_samples_in_range(samples, weighing->range, &first, &last);
    for (size_t i = first; i < last; i++) {
        set_row(weighing, i);
        if (samples->stack[i] == PROFILE_NONE)
            continue;
        bool is_counted = counts_row(&waits, weight, i),
             is_weighed = is_counted || (weight == WEIGH_RECORDED && samples->weight);
        double recorded = samples->weight && weight != WEIGH_SAMPLES ? samples->weight[i] : 1;
        add(context, samples->stack[i], is_weighed ? recorded : 0, is_counted);
    }
}

/* In files without times, a row is a stack with its number of samples. */
static bool rows_have_sample_counts(const struct profile *profile, const struct sample_table *samples)
{
    return profile->meta.has_no_times && samples->weight && samples->weight_type == WEIGHT_SAMPLES;
}

double count_weighed_samples(const struct profile *profile, uint32_t thread, enum sample_weight weight,
                             enum sample_table_kind table, struct time_range range)
{
    const struct sample_table *samples = thread_samples(&profile->threads.data[thread], table);
    const struct wait_rows rows = get_rows_of_table(profile, thread, table, samples);
    size_t first, last;
    double count = 0;
    find_samples_in_range(samples, range, &first, &last);
    if (table == TABLE_SAMPLES && rows_have_sample_counts(profile, samples)) {
        for (size_t i = first; i < last; i++)
            count += fabs(samples->weight[i]);
        return count;
    }
    for (size_t i = first; i < last; i++)
        count += samples->stack[i] != PROFILE_NONE && counts_row(&rows, weight, i);
    return count;
}

double sum_thread_cpu_time(const struct profile *profile, uint32_t thread, struct time_range range)
{
    const struct sample_table *samples = &profile->threads.data[thread].samples;
    struct thread_gaps gaps = find_sample_gaps(profile, thread);
    size_t first, last;
    double sum = 0;
    find_samples_in_range(samples, range, &first, &last);
    for (size_t i = first; i <= last && samples->cpu_delta; i++)
        sum += measure_gap_inline(&gaps, i, range).cpu;
    return sum;
}

double count_all_samples(const struct profile *profile)
{
    double count = 0;
    for (uint32_t i = 0; i < profile->threads.length; i++)
        count += count_weighed_samples(profile, i, WEIGH_SAMPLES, TABLE_SAMPLES, whole_time);
    return count;
}

static void add_weight(void *context, uint32_t stack, double weight, unsigned count)
{
    struct stack_weights *weights = context;
    weights->of_stack[stack] += weight;
    weights->samples[stack] += count;
}

/* A version of weigh_thread() without a call per sample, for the most common kind of thread. False for other
 * threads. */
static bool sum_recorded_waits(struct stack_weights *weights, const struct profile *profile,
                               const struct weighing *weighing, uint32_t thread)
{
    enum sample_weight weight = weighing->weight;
    if (weight != WEIGH_TIME && weight != WEIGH_CPU_TIME && weight != WEIGH_OFF_CPU_TIME)
        return false;
    struct thread_gaps gaps = find_sample_gaps(profile, thread);
    if (!has_wait_rows(&gaps.waits))
        return false;
    weigh_recorded_waits(weighing, &gaps, get_samples(profile, weighing, thread), add_weight, weights);
    return true;
}

int stack_weights_sum(struct stack_weights *weights, const struct profile *profile, const struct weighing *weighing,
                      struct error *err)
{
    size_t length = profile->stacks.length;
    bool weighted = !counts_samples(profile, weighing);
    if (weights->length != length || !weights->of_stack || weighted != (weights->samples != NULL)) {
        stack_weights_destroy(weights);
        weights->of_stack = malloc((length + 1) * sizeof(*weights->of_stack));
        weights->samples = weighted ? malloc((length + 1) * sizeof(*weights->samples)) : NULL;
        if (!weights->of_stack || (weighted && !weights->samples)) {
            stack_weights_destroy(weights);
            return error_no_memory(err);
        }
        weights->length = length;
    }
    memset(weights->of_stack, 0, length * sizeof(*weights->of_stack));
    if (weighted)
        memset(weights->samples, 0, length * sizeof(*weights->samples));
    uint8_t *counted = calloc(profile->threads.length + 1, sizeof(*counted));
    if (!counted)
        return error_no_memory(err);
    for (size_t i = 0; i < weighing->thread_count; i++) {
        uint32_t thread = weighing->threads[i];
        if (thread >= profile->threads.length || counted[thread])
            continue;
        counted[thread] = 1;
        if (weighted && !sum_recorded_waits(weights, profile, weighing, thread))
            weigh_thread(profile, weighing, thread, add_weight, weights);
        else if (!weighted)
            add_samples(weights, profile, weighing, thread);
    }
    free(counted);
    return 0;
}

void stack_weights_destroy(struct stack_weights *weights)
{
    free(weights->of_stack);
    free(weights->samples);
    *weights = (struct stack_weights){0};
}
