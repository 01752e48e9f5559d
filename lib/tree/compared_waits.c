#include "tree/compared_waits.h"

#include "tree/engine_state.h"
#include "tree/order.h"
#include "tree/wait_names.h"

static const double least_share = 0.005; /* share of a side: changes.c has the same limit for functions */

/* The waits of a row on one side, summed over the runs. */
struct side_sums {
    double ms, count;
    double squares, fourths; /* sums of powers of the lengths: see wait_groups.h */
    double estimate;         /* ms^2: variance of the estimate of unseen waits */
};

struct row {
    struct compared_wait wait; /* without its means and its estimate */
    double largest;            /* ms: total of the largest group */
    struct side_sums sides[PROFILE_SIDES];
};

enum { ROW_OF_ALL }; /* the first row counts all waits */

struct adder {
    struct compared_waits *waits;
    struct engine *engine;
    enum wait_grouping grouping;
    const struct profile_comparison *comparison;
    struct compared_request request;
    ARRAY(struct row) rows;        /* the row of a name has the index of its string plus 1 */
    double *totals[PROFILE_SIDES]; /* [row * runs + run]: ms */
    size_t room;                   /* rows of `totals` */
};

/* ---- adding up ---- */

static const char *get_group_name(const struct adder *adder, const struct wait_group *group)
{
    const struct profile *profile = engine_get_profile(adder->engine);
    switch (adder->grouping) {
    case WAITS_BY_REASON:
        return get_wait_reason_name(adder->engine, group->reason);
    case WAITS_BY_THREAD:
        return profile_thread_name(profile, group->thread);
    case WAITS_BY_WAKER:
        return get_wait_waker_name(adder->engine, group);
    default:
        return get_wait_object_name(adder->engine, group);
    }
}

/* Gives `totals` room for one more row. False if memory ran out. */
static bool make_room(struct adder *adder)
{
    if (adder->rows.length < adder->room)
        return true;
    size_t room = adder->room ? 2 * adder->room : 64;
    for (int side = 0; side < PROFILE_SIDES; side++) {
        size_t runs = adder->comparison->runs[side];
        double *totals = realloc(adder->totals[side], room * runs * sizeof(*totals));
        if (!totals)
            return false;
        memset(totals + adder->room * runs, 0, (room - adder->room) * runs * sizeof(*totals));
        adder->totals[side] = totals;
    }
    adder->room = room;
    return true;
}

static bool add_row(struct adder *adder, uint32_t name)
{
    const struct row row = {.wait = {.name = name, .reason = PROFILE_NONE, .own_func = PROFILE_NONE}};
    return make_room(adder) && array_push(&adder->rows, row);
}

static void add_to_row(struct adder *adder, size_t at, const struct wait_group *group, enum profile_side side,
                       uint32_t run)
{
    struct row *row = &adder->rows.data[at];
    struct side_sums *sums = &row->sides[side];
    double error = group->total_error / normal_95;
    sums->ms += group->total;
    sums->count += group->count;
    sums->squares += group->squares;
    sums->fourths += group->fourths;
    sums->estimate += error * error;
    adder->totals[side][at * adder->comparison->runs[side] + run] += group->total;
    if (group->longest > row->wait.longest[side].ms)
        row->wait.longest[side] = (struct longest_wait){group->longest, group->from, group->to, group->thread};
    if (group->total > row->largest) {
        row->largest = group->total;
        row->wait.reason = group->reason;
        row->wait.own_func = group->own_func;
        row->wait.own_line = group->own_line;
    }
}

static bool add_group(struct adder *adder, const struct wait_group *group, enum profile_side side, uint32_t run)
{
    enum { NAME_SIZE = 512 };
    char name[NAME_SIZE];
    strip_wait_name(get_group_name(adder, group), name, sizeof(name));
    uint32_t text = strings_add_z(&adder->waits->names, name);
    if (text == STRING_NONE || (text + 1 == adder->rows.length && !add_row(adder, text)))
        return false;
    add_to_row(adder, ROW_OF_ALL, group, side, run);
    add_to_row(adder, text + 1, group, side, run);
    return true;
}

static int add_run(struct adder *adder, enum profile_side side, uint32_t run, struct error *err)
{
    struct wait_groups groups = {0};
    int code = engine_group_waits_of_run(adder->engine, adder->grouping, side, run, &groups, err);
    for (size_t i = 0; !code && i < groups.list.length; i++)
        if (!add_group(adder, &groups.list.data[i], side, run))
            code = error_no_memory(err);
    wait_groups_destroy(&groups);
    return code;
}

/* ---- changes ---- */

/* The number of waits of a run is random, so the squares of the lengths give the variance. The number of intervals is
 * fixed, so the variance of an interval is the variance of the lengths. An interval without a wait has length 0. */
static double sum_wait_variance(const struct adder *adder, const struct side_sums *sums, enum profile_side side)
{
    double intervals = (double)engine_count_intervals(adder->engine, side);
    double mean_part = intervals > 0 ? sums->ms * sums->ms / fmax(intervals, sums->count) : 0;
    return fmax(0, sums->squares - mean_part) + sums->estimate;
}

static struct side_noise measure_wait_noise(const struct adder *adder, const struct row *row, enum profile_side side)
{
    const struct side_sums *sums = &row->sides[side];
    double factor = get_side_factor(&adder->request, side);
    double degrees = sums->fourths > 0 ? fmax(1, sums->squares * sums->squares / sums->fourths - 1) : 1;
    return (struct side_noise){factor * sums->ms, factor * factor * sum_wait_variance(adder, sums, side), degrees};
}

static struct change_estimate estimate_row(const struct adder *adder, size_t at)
{
    const uint32_t *runs = adder->comparison->runs;
    const struct row *row = &adder->rows.data[at];
    if (!adder->waits->are_runs)
        return estimate_change_between(measure_wait_noise(adder, row, SIDE_BASE),
                                       measure_wait_noise(adder, row, SIDE_NEW));
    double *new_totals = adder->totals[SIDE_NEW] + at * runs[SIDE_NEW];
    for (uint32_t run = 0; run < runs[SIDE_NEW]; run++)
        new_totals[run] *= adder->request.scale;
    const struct noise_units base = {adder->totals[SIDE_BASE] + at * runs[SIDE_BASE], runs[SIDE_BASE], true, 0};
    const struct noise_units new = {new_totals, runs[SIDE_NEW], true, 0};
    return estimate_change(&base, &new);
}

static bool is_heavy_enough(const struct adder *adder, const struct row *row)
{
    for (int side = 0; side < PROFILE_SIDES; side++)
        if (row->sides[side].ms > least_share * adder->rows.data[ROW_OF_ALL].sides[side].ms)
            return true;
    return false;
}

static int estimate_rows(struct adder *adder, struct error *err)
{
    struct compared_waits *waits = adder->waits;
    waits->estimates = calloc(adder->rows.length, sizeof(*waits->estimates));
    if (!waits->estimates)
        return error_no_memory(err);
    waits->all = estimate_row(adder, ROW_OF_ALL);
    for (size_t i = ROW_OF_ALL + 1; i < adder->rows.length; i++) {
        const struct row *row = &adder->rows.data[i];
        struct compared_wait wait = row->wait;
        wait.estimate = PROFILE_NONE;
        for (int side = 0; side < PROFILE_SIDES; side++) {
            wait.ms[side] = get_side_factor(&adder->request, side) * row->sides[side].ms;
            wait.count[side] = get_side_factor(&adder->request, side) * row->sides[side].count;
        }
        if (is_heavy_enough(adder, row)) {
            wait.estimate = (uint32_t)waits->estimate_count;
            waits->estimates[waits->estimate_count++] = estimate_row(adder, i);
        }
        if (!array_push(&waits->list, wait))
            return error_no_memory(err);
    }
    return judge_function_changes(&waits->all, waits->estimates, waits->estimate_count, err);
}

DEFINE_MAGNITUDE(measure_change, struct compared_wait, fabs(row->ms[SIDE_NEW] - row->ms[SIDE_BASE]))

int compared_waits_find(struct compared_waits *waits, struct engine *engine, enum wait_grouping grouping,
                        struct error *err)
{
    const struct profile *profile = engine_get_profile(engine);
    struct adder adder = {.waits = waits,
                          .engine = engine,
                          .grouping = grouping,
                          .comparison = &profile->meta.comparison,
                          .request = engine_get_compared_request(engine)};
    if (!profile_is_comparison(profile) || !can_compare_waits(grouping))
        return error_set(err, EINVAL, "prof compares waits of a comparison by reason, object, thread or waker");
    const uint32_t *runs = adder.comparison->runs;
    waits->are_runs = runs[SIDE_BASE] > 1 && runs[SIDE_NEW] > 1;
    int code = add_row(&adder, STRING_NONE) ? 0 : error_no_memory(err);
    for (int side = 0; side < PROFILE_SIDES; side++)
        for (uint32_t run = 0; !code && run < runs[side]; run++)
            code = add_run(&adder, (enum profile_side)side, run, err);
    if (!code)
        code = estimate_rows(&adder, err);
    if (!code)
        code = order_sort_rows(waits->list.data, sizeof(*waits->list.data), waits->list.length, measure_change, err);
    for (int side = 0; side < PROFILE_SIDES; side++)
        free(adder.totals[side]);
    array_free(&adder.rows);
    return code;
}

void compared_waits_destroy(struct compared_waits *waits)
{
    strings_destroy(&waits->names);
    array_free(&waits->list);
    free(waits->estimates);
    *waits = (struct compared_waits){0};
}

const struct change_estimate *get_wait_change(const struct compared_waits *waits, const struct compared_wait *row)
{
    return row->estimate == PROFILE_NONE ? NULL : &waits->estimates[row->estimate];
}

/* ---- JSON ---- */

static void write_side(struct json_writer *json, const char *key, const struct compared_wait *row,
                       enum profile_side side)
{
    json_member_open(json, key, '{');
    json_member_double(json, "ms", row->ms[side]);
    json_member_double(json, "count", row->count[side]);
    longest_wait_write(json, &row->longest[side]);
    json_close(json, '}');
}

void compared_wait_write(struct json_writer *json, const struct compared_waits *waits, const struct compared_wait *row,
                         const struct engine *engine)
{
    const struct change_estimate *change = get_wait_change(waits, row);
    json_open(json, '{');
    json_member_text(json, "name", strings_text(&waits->names, row->name));
    json_member_text(json, "reason", get_wait_reason_name(engine, row->reason));
    wait_place_write(json, "where", engine_get_profile(engine), row->own_func, row->own_line);
    write_side(json, "base", row, SIDE_BASE);
    write_side(json, "new", row, SIDE_NEW);
    json_member_double(json, "change_ms", row->ms[SIDE_NEW] - row->ms[SIDE_BASE]);
    if (change)
        change_estimate_write(json, change);
    json_close(json, '}');
}
