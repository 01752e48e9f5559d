#include "tree/wait_groups.h"

#include "base/hash.h"
#include "tree/engine_state.h"
#include "tree/length_counts.h"
#include "tree/noise.h"
#include "tree/order.h"
#include "tree/own_frame.h"
#include "tree/profile_info.h"
#include "tree/wait_parts.h"

/* ---- one pass over the samples of a thread ---- */

/* Sums of the variances of an estimate, and of the squares of these variances. */
struct variance {
    double sum, squares;
};

/* The unseen waits for which recorded waits stand. */
struct unseen_waits {
    double ms, count;
};

struct group_sums {
    struct variance of_total, of_count; /* ms^2, waits^2 */
    struct unseen_waits most;           /* unseen waits of the threads of the group, whichever group has them */
    struct unseen_waits own;            /* unseen waits of the group */
    bool is_mixed;                      /* a thread of the group waited for other reasons, too */
    double of_rounding;      /* waits^2: variance of the counts of rows "Not seen", whose mean length the file rounds */
    double uncounted;        /* ms of sums without a mean length */
    double inexact;          /* ms by which the ends of long waits are inexact with ptrace */
    uint32_t last_thread;    /* thread of the last counted wait */
    double longest_of_waker; /* ms: the longest wait with a known stack of the waker */
    uint32_t caller, waker_stack; /* for the longest waits, recorded stacks; PROFILE_NONE: unknown */
};

enum { MOST_DEGREES = 30, STEPS_PER_DEGREE = 4 };

struct grouper {
    const struct engine *engine;
    enum wait_grouping grouping;
    struct wait_groups *groups;
    struct length_counts lengths;
    ARRAY(struct group_sums) sums;                  /* sums of each group */
    double limits[MOST_DEGREES * STEPS_PER_DEGREE]; /* limits of Student's distribution; 0: not computed yet */
    struct hash
        group_of_key; /* key -> group. The key is get_key(), and for a pair also has the waker in its upper half */
    uint32_t runnable, unseen; /* subcategories of these reasons, from find_wait_reason() */
    bool has_mean_lengths;     /* recorded with ptrace: the lengths of short waits are means */
    uint32_t thread;
    double there;                     /* ms: lifetime of `thread` in the range */
    struct unseen_waits of_thread;    /* unseen waits of `thread` */
    ARRAY(uint32_t) groups_of_thread; /* groups of `thread` */
};

static uint32_t get_frame(const struct grouper *grouper, const struct wait_part *part)
{
    return part->stack == PROFILE_NONE ? PROFILE_NONE : engine_get_profile(grouper->engine)->stacks.frame[part->stack];
}

static uint32_t get_reason(const struct grouper *grouper, const struct wait_part *part)
{
    uint32_t frame = get_frame(grouper, part);
    return frame == PROFILE_NONE ? PROFILE_NONE : engine_get_profile(grouper->engine)->frames.subcategory[frame];
}

static uint32_t get_object(const struct grouper *grouper, const struct wait_part *part)
{
    uint32_t frame = get_frame(grouper, part);
    return frame == PROFILE_NONE ? PROFILE_NONE : engine_get_profile(grouper->engine)->frames.func[frame];
}

static uint32_t get_caller(const struct grouper *grouper, const struct wait_part *part)
{
    return part->stack == PROFILE_NONE ? NODE_NONE : grouper->engine->nodes->prefix[part->node];
}

static uint32_t get_key(const struct grouper *grouper, const struct wait_part *part)
{
    switch (grouper->grouping) {
    case WAITS_BY_REASON:
        return get_reason(grouper, part);
    case WAITS_BY_OBJECT:
    case WAITS_BY_OBJECT_AND_WAKER:
        return get_object(grouper, part);
    case WAITS_BY_STACK:
        return get_caller(grouper, part);
    case WAITS_BY_WAKER:
        return part->waker;
    default:
        return grouper->thread;
    }
}

/* NULL if memory ran out. */
static struct wait_group *find_group(struct grouper *grouper, const struct wait_part *part)
{
    bool is_pair = grouper->grouping == WAITS_BY_OBJECT_AND_WAKER;
    uint32_t key = get_key(grouper, part);
    uint64_t full_key = key | (uint64_t)(is_pair ? part->waker : 0) << 32;
    uint32_t number = hash_get(&grouper->group_of_key, full_key);
    if (number == HASH_MISSING) {
        const struct wait_group empty = {.from = NAN,
                                         .to = NAN,
                                         .percentile_99 = NAN,
                                         .first = NAN,
                                         .key = key,
                                         .thread = PROFILE_NONE,
                                         .reason = PROFILE_NONE,
                                         .func = PROFILE_NONE,
                                         .node = NODE_NONE,
                                         .waker = PROFILE_NONE};
        const struct group_sums no_sums = {.caller = PROFILE_NONE, .waker_stack = PROFILE_NONE};
        number = (uint32_t)grouper->groups->list.length;
        if (!hash_set(&grouper->group_of_key, full_key, number) || !array_push(&grouper->groups->list, empty) ||
            !array_push(&grouper->sums, no_sums))
            return NULL;
    }
    return &grouper->groups->list.data[number];
}

static struct group_sums *get_sums(const struct grouper *grouper, const struct wait_group *group)
{
    return &grouper->sums.data[group - grouper->groups->list.data];
}

/* Sets the longest wait of a group to this part. */
static void set_longest(const struct grouper *grouper, struct wait_group *group, const struct wait_part *part)
{
    bool has_node = grouper->grouping != WAITS_BY_STACK && part->stack != PROFILE_NONE;
    group->reason = get_reason(grouper, part);
    group->func = get_object(grouper, part);
    group->thread = grouper->thread;
    group->waker = part->waker;
    group->node = has_node ? part->node : get_caller(grouper, part);
    get_sums(grouper, group)->caller =
        part->stack == PROFILE_NONE ? PROFILE_NONE : engine_get_profile(grouper->engine)->stacks.prefix[part->stack];
}

static void set_waker(struct group_sums *sums, const struct wait_part *part)
{
    if (part->waker_stack == PROFILE_NONE || part->ms <= sums->longest_of_waker)
        return;
    sums->longest_of_waker = part->ms;
    sums->waker_stack = part->waker_stack;
}

/* Waits of one class are at least half as long as the longest wait of the class. A smaller part of a wait than this
 * limit is no unseen wait, but the rounding of times. */
static const double least_unseen = 0.25;

static void add_variance(struct variance *variance, double value)
{
    variance->sum += value;
    variance->squares += value * value;
}

/* ms. With ptrace, prof reads a sleeping thread once in this time, so a reading is half of it from the end of a longer
 * wait on average. */
static const double ptrace_reading = 8;

/* Adds a wait with known lengths, and the unseen waits for which the wait stands. False if memory ran out. */
static bool add_lengths(struct grouper *grouper, struct wait_group *group, const struct wait_part *part)
{
    uint32_t number = (uint32_t)(group - grouper->groups->list.data);
    double count = (part->longest > 0) + part->unseen;
    if (part->unseen >= least_unseen) {
        double ms = part->unseen * part->length;
        add_variance(&grouper->sums.data[number].of_total, ms * (part->longest + ms));
        add_variance(&grouper->sums.data[number].of_count, part->unseen * count);
    }
    if (part->length <= 0)
        add_variance(&grouper->sums.data[number].of_total, part->ms * part->ms);
    grouper->of_thread.ms += part->ms - part->longest;
    grouper->of_thread.count += part->unseen;
    grouper->sums.data[number].own.ms += part->ms - part->longest;
    grouper->sums.data[number].own.count += part->unseen;
    if (part->unseen > 0 && !length_counts_add(&grouper->lengths, number, part->length, part->unseen))
        return false;
    if (part->longest <= 0)
        return true;
    grouper->sums.data[number].inexact += part->longest < ptrace_reading ? 0 : ptrace_reading / 2;
    if (!(group->first <= part->time.from)) {
        group->first = part->time.from;
        group->first_thread = grouper->thread;
    }
    if (isnan(group->from) || part->longest > group->longest) {
        group->longest = part->longest;
        group->from = part->time.from;
        group->to = part->time.to;
        set_longest(grouper, group, part);
    }
    return length_counts_add(&grouper->lengths, number, part->longest, 1);
}

/* The error of a count that follows from a total and a rounded mean is uniform. */
static void add_rounding(struct grouper *grouper, const struct wait_group *group, const struct wait_part *part)
{
    static const double steps_per_interval = 100; /* resolution of the times in a file: see make_time_grid() */
    double step = engine_get_profile(grouper->engine)->meta.interval / steps_per_interval;
    double error = part->length > 0 ? part->unseen * step / part->length : 0;
    get_sums(grouper, group)->of_rounding += error * error / 12;
}

/* Adds `count` waits of a length, ms. */
static void add_powers(struct wait_group *group, double length, double count)
{
    group->squares += count * length * length;
    group->fourths += count * length * length * length * length;
}

static double measure_lifetime(const struct engine *engine, const struct thread_gaps *gaps)
{
    return fmax(0, fmin(gaps->end, engine->range.to) - fmax(gaps->start, engine->range.from));
}

/* False if memory ran out. */
static bool add_part(void *context, const struct wait_part *part)
{
    struct grouper *grouper = context;
    struct wait_totals *totals = &grouper->groups->totals;
    struct wait_group *group = find_group(grouper, part);
    if (!group)
        return false;
    uint32_t reason = get_reason(grouper, part);
    bool is_runnable = reason == grouper->runnable && reason != PROFILE_NONE;
    bool is_sum = reason == grouper->unseen && reason != PROFILE_NONE;
    double count = part->is_recorded ? (part->longest > 0) + part->unseen : 0;
    struct group_sums *sums = get_sums(grouper, group);
    if (!group->threads || sums->last_thread != grouper->thread) {
        if (!array_push(&grouper->groups_of_thread, (uint32_t)(group - grouper->groups->list.data)))
            return false;
        group->threads++;
        group->there += grouper->there;
    }
    sums->last_thread = grouper->thread;
    if (group->total == 0)
        set_longest(grouper, group, part);
    set_waker(sums, part);
    group->total += part->ms;
    group->count += count;
    group->runnable += is_runnable ? part->ms : 0;
    totals->waited += part->ms;
    totals->count += count;
    totals->runnable += is_runnable ? part->ms : 0;
    if (is_sum)
        add_rounding(grouper, group, part);
    if (part->is_recorded && part->length <= 0)
        sums->uncounted += part->ms;
    bool is_one = is_sum || !part->is_recorded; /* the lengths of its waits are unknown */
    add_powers(group, is_one ? part->ms : part->longest, 1);
    add_powers(group, part->length, is_one ? 0 : part->unseen);
    return !part->is_recorded || is_sum || add_lengths(grouper, group, part);
}

/* False if memory ran out. */
static bool add_thread(struct grouper *grouper)
{
    const struct engine *engine = grouper->engine;
    const struct thread_gaps gaps = find_sample_gaps(engine_get_profile(engine), grouper->thread);
    grouper->there = measure_lifetime(engine, &gaps);
    grouper->groups->totals.there += grouper->there;
    grouper->of_thread = (struct unseen_waits){0};
    grouper->groups_of_thread.length = 0;
    if (!visit_wait_parts(engine, grouper->thread, add_part, grouper))
        return false;
    size_t blocked = 0;
    for (size_t i = 0; i < grouper->groups_of_thread.length; i++) {
        uint32_t reason = grouper->groups->list.data[grouper->groups_of_thread.data[i]].reason;
        blocked += reason != grouper->runnable && reason != grouper->unseen;
    }
    for (size_t i = 0; i < grouper->groups_of_thread.length; i++) {
        struct group_sums *sums = &grouper->sums.data[grouper->groups_of_thread.data[i]];
        sums->most.ms += grouper->of_thread.ms;
        sums->most.count += grouper->of_thread.count;
        sums->is_mixed |= blocked > 1;
    }
    return true;
}

/* ---- the groups ---- */

DEFINE_MAGNITUDE(get_group_total, struct wait_group, row->total)

/* Returns half of the 95 % interval. A few large parts give less certainty than many small parts: see noise.c. */
static double estimate_error(struct grouper *grouper, const struct variance *variance)
{
    if (!(variance->sum > 0))
        return 0;
    double degrees = fmax(1, variance->sum * variance->sum / variance->squares - 1);
    if (degrees >= MOST_DEGREES)
        return normal_95 * sqrt(variance->sum);
    double *limit = &grouper->limits[(size_t)(degrees * STEPS_PER_DEGREE)];
    if (*limit == 0)
        *limit = compute_student_limit(0.05, floor(degrees * STEPS_PER_DEGREE) / STEPS_PER_DEGREE);
    return *limit * sqrt(variance->sum);
}

/* Sets the errors of a group. With ptrace, prof knows the number of all unseen waits of a thread within 10 %, and not
 * their groups. prof sees the starts of waits late, and adds up to 20 % of the time of unseen waits to a wrong group
 * (tests/accuracy/wait_truth). */
static void store_errors(struct grouper *grouper, const struct group_sums *sums, struct wait_group *group)
{
    double total_error = estimate_error(grouper, &sums->of_total);
    double count_error = estimate_error(grouper, &sums->of_count);
    if (grouper->has_mean_lengths) {
        total_error = sums->is_mixed ? hypot(total_error, sums->most.ms / 5) : total_error;
        count_error = sums->is_mixed ? fmax(sums->own.count, sums->most.count - sums->own.count) : sums->own.count / 10;
    }
    group->total_error = fmin(total_error, sums->most.ms);
    if (grouper->has_mean_lengths && sums->is_mixed)
        group->total_error += sums->inexact;
    group->count_error = hypot(fmin(count_error, sums->most.count), normal_95 * sqrt(sums->of_rounding));
}

/* Stores counts, errors and percentiles of the groups. The recorder knows the time of all waits of a thread, so a group
 * is wrong by at most the unseen waits of its threads. Time whose waits were not counted has as many waits per ms as
 * the rest of its group. False if memory ran out. */
static bool store_estimates(struct grouper *grouper)
{
    size_t length = grouper->groups->list.length;
    double *percentiles = malloc((length + 1) * sizeof(*percentiles));
    if (!percentiles)
        return false;
    length_counts_find_percentiles(&grouper->lengths, 0.99, percentiles, length);
    for (size_t i = 0; i < length; i++) {
        struct wait_group *group = &grouper->groups->list.data[i];
        const struct group_sums *sums = &grouper->sums.data[i];
        double counted = group->total - sums->uncounted, factor = counted > 0 ? group->total / counted : 1;
        store_errors(grouper, sums, group);
        group->count_error *= factor;
        grouper->groups->totals.count += (factor - 1) * group->count;
        group->count *= factor;
        group->percentile_99 = group->longest > 0 ? fmin(percentiles[i], group->longest) : NAN;
    }
    free(percentiles);
    return true;
}

/* Stores the functions of the longest waits at the end, because a search for each new longest wait would take quadratic
 * time. */
static void store_places(struct grouper *grouper)
{
    const struct profile *profile = engine_get_profile(grouper->engine);
    for (size_t i = 0; i < grouper->groups->list.length; i++) {
        struct wait_group *group = &grouper->groups->list.data[i];
        struct own_place own = find_own_place(profile, grouper->sums.data[i].caller);
        struct own_place waker = find_own_place(profile, grouper->sums.data[i].waker_stack);
        group->own_func = own.func;
        group->own_line = own.line;
        group->waker_func = waker.func;
        group->waker_line = waker.line;
    }
}

/* A run of a comparison. */
struct run_choice {
    enum profile_side side;
    uint32_t run;
};

bool engine_counts_thread(const struct engine *engine, uint32_t thread)
{
    const struct compared_request request = engine_get_compared_request(engine);
    return thread < engine_get_profile(engine)->threads.length &&
           get_compared_factor(engine_get_profile(engine), &request, thread) != 0;
}

/* `choice`: NULL for the runs that the query counts. */
static bool counts_thread(const struct engine *engine, uint32_t thread, const struct run_choice *choice)
{
    const struct profile *profile = engine_get_profile(engine);
    if (!choice || thread >= profile->threads.length)
        return engine_counts_thread(engine, thread);
    return profile->threads.data[thread].side == choice->side && profile->threads.data[thread].run == choice->run;
}

static bool add_threads(struct grouper *grouper, const struct run_choice *choice)
{
    const struct engine *engine = grouper->engine;
    const struct profile *profile = engine_get_profile(engine);
    uint8_t *seen = calloc(profile->threads.length + 1, sizeof(*seen));
    bool enough = seen;
    for (size_t i = 0; enough && i < engine->threads.length; i++) {
        grouper->thread = engine->threads.data[i];
        if (!counts_thread(engine, grouper->thread, choice) || seen[grouper->thread])
            continue;
        seen[grouper->thread] = 1;
        enough = add_thread(grouper);
        grouper->groups->totals.ran += engine_get_thread_total(engine, grouper->thread, WEIGH_CPU_TIME, TABLE_SAMPLES);
    }
    free(seen);
    return enough;
}

static int find_groups(struct engine *engine, enum wait_grouping grouping, const struct run_choice *choice,
                       struct wait_groups *groups, struct error *err)
{
    struct grouper grouper = {.engine = engine,
                              .grouping = grouping,
                              .groups = groups,
                              .runnable = find_runnable_reason(engine_get_profile(engine)),
                              .unseen = find_wait_reason(engine_get_profile(engine), "Not seen"),
                              .has_mean_lengths = is_recorded_with_ptrace(engine_get_profile(engine))};
    groups->list.length = 0;
    groups->totals = (struct wait_totals){0};
    bool enough = add_threads(&grouper, choice) && store_estimates(&grouper);
    store_places(&grouper);
    hash_destroy(&grouper.group_of_key);
    array_free(&grouper.sums);
    array_free(&grouper.groups_of_thread);
    length_counts_destroy(&grouper.lengths);
    if (!enough)
        return error_no_memory(err);
    return order_sort_rows(groups->list.data, sizeof(*groups->list.data), groups->list.length, get_group_total, err);
}

double engine_get_wait_factor(const struct engine *engine)
{
    const struct compared_request request = engine_get_compared_request(engine);
    bool has_side = request.is_comparison && request.compared != COMPARED_CHANGE;
    return has_side ? get_side_factor(&request, request.compared == COMPARED_NEW ? SIDE_NEW : SIDE_BASE) : 1;
}

static void scale_groups(struct wait_groups *groups, double factor)
{
    struct wait_totals *totals = &groups->totals;
    double *const of_all[] = {&totals->there, &totals->waited, &totals->runnable, &totals->count};
    for (size_t i = 0; i < sizeof(of_all) / sizeof(*of_all); i++)
        *of_all[i] *= factor;
    for (size_t i = 0; i < groups->list.length; i++) {
        struct wait_group *group = &groups->list.data[i];
        double *const of_group[] = {&group->total, &group->there,       &group->total_error,
                                    &group->count, &group->count_error, &group->runnable};
        for (size_t k = 0; k < sizeof(of_group) / sizeof(*of_group); k++)
            *of_group[k] *= factor;
    }
}

int engine_group_waits(struct engine *engine, enum wait_grouping grouping, struct wait_groups *groups,
                       struct error *err)
{
    int code = find_groups(engine, grouping, NULL, groups, err);
    scale_groups(groups, engine_get_wait_factor(engine));
    return code;
}

int engine_group_waits_of_run(struct engine *engine, enum wait_grouping grouping, enum profile_side side, uint32_t run,
                              struct wait_groups *groups, struct error *err)
{
    const struct run_choice choice = {side, run};
    return find_groups(engine, grouping, &choice, groups, err);
}

double engine_measure_lifetime(const struct engine *engine)
{
    double sum = 0;
    for (size_t i = 0; i < engine->threads.length; i++) {
        if (!engine_counts_thread(engine, engine->threads.data[i]))
            continue;
        const struct thread_gaps gaps = find_sample_gaps(engine_get_profile(engine), engine->threads.data[i]);
        sum += measure_lifetime(engine, &gaps);
    }
    return sum * engine_get_wait_factor(engine);
}

bool profile_has_wakers(const struct profile *profile)
{
    for (size_t i = 0; i < profile->threads.length; i++)
        if (profile->threads.data[i].samples.waker)
            return true;
    return false;
}

void wait_groups_destroy(struct wait_groups *groups)
{
    array_free(&groups->list);
}
