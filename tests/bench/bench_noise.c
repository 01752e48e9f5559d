/*
 * Measures how often a comparison errs about noise, with runs drawn from a real recording:
 *
 *     bench_noise PROFILE [PAIRS]          (2000)
 *
 * The recording is cut into blocks of time. A run is as many of them, drawn with replacement, and a side ten runs, or
 * one. Of a recording with --iterations, a side is ten of its runs, drawn with replacement. Pairs of sides of the same
 * recording should report a change in 5 % at most; where the heaviest function takes 5 % more in ten runs, it should be
 * found in 95 % at least. Of 2,000 pairs, the percentages are within 1 of what they would be of all.
 *
 * Where a recording has 20 runs or more, also each ten that came one after the other are compared with the next ten, as
 * who records one side after the other does, and with the ten between them, as who records both in turn does: what
 * changes on the machine meanwhile is a difference of the sides in the first case.
 */
#include "profile/compare.h"
#include "file/profile_file.h"
#include "tree/unit_weights.h"
#include "tree/weight_list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 10, MOST_FUNCS = 200 };

static struct error err;

static void must(int code)
{
    if (!code)
        return;
    fprintf(stderr, "%s\n", err.text);
    exit(1);
}

static uint64_t state = 1;

static size_t below(size_t limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)((state >> 33) % limit);
}

/* The blocks of the recording: [func][block], heaviest first. */
struct recording {
    const double *blocks[MOST_FUNCS + 1]; /* [funcs]: of everything */
    size_t funcs, count;
    double least;
    bool are_runs; /* of the recording, each a block */
};

struct side {
    double runs[MOST_FUNCS + 1][RUNS];
    double *blocks; /* of the last run: [func * count + block] */
};

/* What a block has of a function, or of everything, if the heaviest function is so much slower. */
static double value_of(const struct recording *recording, size_t func, size_t block, double slower)
{
    double value = recording->blocks[func][block];
    if (func == 0)
        return value * slower;
    return func == recording->funcs ? value + recording->blocks[0][block] * (slower - 1) : value;
}

static void take_run(const struct recording *recording, struct side *side, int run, size_t from, double slower)
{
    for (size_t f = 0; f <= recording->funcs; f++)
        side->runs[f][run] = value_of(recording, f, from, slower);
}

static void draw(const struct recording *recording, struct side *side, double slower)
{
    memset(side->runs, 0, sizeof(side->runs));
    for (int run = 0; recording->are_runs && run < RUNS; run++)
        take_run(recording, side, run, below(recording->count), slower);
    if (recording->are_runs)
        return;
    for (int run = 0; run < RUNS; run++)
        for (size_t i = 0; i < recording->count; i++) {
            size_t block = below(recording->count);
            for (size_t f = 0; f <= recording->funcs; f++) {
                double value = value_of(recording, f, block, slower);
                side->runs[f][run] += value;
                side->blocks[f * recording->count + i] = value;
            }
        }
}

static struct change_estimate estimate(const struct recording *recording, const struct side *base,
                                       const struct side *new, bool are_runs, size_t f)
{
    size_t count = are_runs ? RUNS : recording->count;
    const struct noise_units a = {are_runs ? base->runs[f] : base->blocks + f * count, count, are_runs,
                                  recording->least};
    const struct noise_units b = {are_runs ? new->runs[f] : new->blocks + f *count, count, are_runs, recording->least};
    return estimate_change(&a, &b);
}

static void compare(const struct recording *recording, const struct side *base, const struct side *new, bool are_runs,
                    bool *any, bool *first)
{
    struct change_estimate changes[MOST_FUNCS], all = estimate(recording, base, new, are_runs, recording->funcs);
    for (size_t f = 0; f < recording->funcs; f++)
        changes[f] = estimate(recording, base, new, are_runs, f);
    must(judge_function_changes(&all, changes, recording->funcs, &err));
    *any = !all.is_noise;
    *first = !changes[0].is_noise;
    for (size_t f = 0; f < recording->funcs; f++)
        *any |= !changes[f].is_noise;
}

static void print(const char *name, size_t any, size_t first, size_t pairs)
{
    printf("%-38s any change in %5.1f %%, of the heaviest function in %5.1f %%\n", name,
           100.0 * (double)any / (double)pairs, 100.0 * (double)first / (double)pairs);
}

/* The runs as they came: ten and the next ten, or every other one of twenty. */
static void compare_as_recorded(const struct recording *recording, const char *name, bool in_turn)
{
    static struct side base, new;
    size_t any_count = 0, first_count = 0, pairs = 0;
    for (size_t start = 0; start + 2 * RUNS <= recording->count; start++, pairs++) {
        bool any, first;
        for (size_t run = 0; run < RUNS; run++) {
            take_run(recording, &base, (int)run, start + (in_turn ? 2 * run : run), 1);
            take_run(recording, &new, (int)run, start + (in_turn ? 2 * run + 1 : RUNS + run), 1);
        }
        compare(recording, &base, &new, true, &any, &first);
        any_count += any;
        first_count += first;
    }
    if (pairs)
        print(name, any_count, first_count, pairs);
}

static void run(const struct recording *recording, const char *name, size_t pairs, double slower, bool are_runs)
{
    static struct side base, new;
    size_t any_count = 0, first_count = 0;
    base.blocks = calloc((MOST_FUNCS + 1) * recording->count, sizeof(double));
    new.blocks = calloc((MOST_FUNCS + 1) * recording->count, sizeof(double));
    if (!base.blocks || !new.blocks)
        exit(1);
    for (size_t pair = 0; pair < pairs; pair++) {
        bool any, first;
        draw(recording, &base, 1);
        draw(recording, &new, slower);
        compare(recording, &base, &new, are_runs, &any, &first);
        any_count += any;
        first_count += first;
    }
    print(name, any_count, first_count, pairs);
    free(base.blocks);
    free(new.blocks);
}

int main(int argc, char **argv)
{
    size_t pairs = argc > 2 ? strtoul(argv[2], NULL, 10) : 2000;
    struct profile profiles[2], compared;
    if (argc < 2) {
        fprintf(stderr, "usage: %s PROFILE [PAIRS]\n", argv[0]);
        return 2;
    }
    for (int i = 0; i < 2; i++) {
        profile_init(&profiles[i]);
        must(profile_load(argv[1], &profiles[i], &err));
    }
    struct compare_input inputs[] = {{&profiles[0], argv[1], SIDE_BASE, -INFINITY, INFINITY, NULL},
                                     {&profiles[1], argv[1], SIDE_NEW, -INFINITY, INFINITY, NULL}};
    must(profile_compare(&compared, inputs, 2, 0, &err));
    struct engine *engine = engine_new(&compared, &err);
    must(engine ? 0 : -1);
    const struct profile *profile = engine_get_profile(engine);
    uint32_t *threads = malloc((profile->threads.length + 1) * sizeof(*threads));
    uint32_t *group_of_func = malloc((engine_get_nodes(engine)->func_count + 1) * sizeof(*group_of_func));
    if (!threads || !group_of_func)
        return 1;
    for (uint32_t i = 0; i < profile->threads.length; i++)
        threads[i] = i;
    struct weight_list weights = {0};
    must(list_weights(&weights, profile, &err));
    const struct tree_query query = {.threads = threads,
                                     .thread_count = profile->threads.length,
                                     .range = whole_time,
                                     .search = "",
                                     .weight = weights.data[0].kind,
                                     .table = weights.data[0].table};
    must(engine_set_query(engine, &query, &err));
    struct func_timings functions;
    must(engine_list_functions(engine, FUNCS_BY_SELF, &functions, &err));
    double total = engine_get_timings(engine)->sides[SIDE_BASE].root_total;
    memset(group_of_func, 0xff, (engine_get_nodes(engine)->func_count + 1) * sizeof(*group_of_func));
    struct recording recording = {.funcs = 0};
    size_t heaviest = 0;
    double most = 0;
    for (size_t i = 0; i < functions.length && recording.funcs < MOST_FUNCS; i++) {
        double self = functions.rows[i].sides[SIDE_BASE].self;
        if (self < 0.005 * total)
            continue;
        heaviest = self > most ? recording.funcs : heaviest;
        most = fmax(most, self);
        group_of_func[functions.rows[i].func] = (uint32_t)recording.funcs++;
    }
    struct unit_weights units = {0};
    must(unit_weights_sum(&units, engine, group_of_func, recording.funcs, FUNCS_BY_SELF, &err));
    recording.count = units.count[SIDE_BASE];
    recording.least = units.least[SIDE_BASE];
    recording.are_runs = units.are_runs;
    for (size_t f = 0; f < recording.funcs; f++)
        recording.blocks[f] = units.of_groups[SIDE_BASE] + f * recording.count;
    recording.blocks[recording.funcs] = units.all[SIDE_BASE];
    const double *first = recording.blocks[0];
    recording.blocks[0] = recording.blocks[heaviest];
    recording.blocks[heaviest] = first;
    printf("%zu functions of 0.5 %% or more, the heaviest %.0f %%; %zu %s; %zu pairs each\n", recording.funcs,
           100 * most / total, recording.count, recording.are_runs ? "runs" : "blocks", pairs);
    run(&recording, "the same, ten runs", pairs, 1, true);
    if (!recording.are_runs)
        run(&recording, "the same, one run", pairs, 1, false);
    run(&recording, "5 % more of one function, ten runs", pairs, 1.05, true);
    if (recording.are_runs) {
        compare_as_recorded(&recording, "the same, ten runs and the next ten", false);
        compare_as_recorded(&recording, "the same, ten runs each in turn", true);
    }
    unit_weights_destroy(&units);
    func_timings_destroy(&functions);
    array_free(&weights);
    engine_free(engine);
    free(threads);
    free(group_of_func);
    return 0;
}
