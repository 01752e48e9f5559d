/*
 * Times the engine natively on a synthetic profile: medians of five, in ms.
 *
 *     bench_tree [SAMPLES STACKS THREADS [DEPTH]]        (1000000 300000 8 40)
 */
#include "../support/timing.h"
#include "synthetic.h"

#include "tree/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 5 };

struct bench {
    struct engine *engine;
    struct tree_rows rows;
    struct tree_query query;
    struct transform transform;
    struct node_path path; /* the heaviest */
    uint32_t func;         /* in its middle */
    int round;
};

static void must(int code, const struct error *err)
{
    if (code) {
        fprintf(stderr, "bench_tree: %s\n", err->text);
        exit(1);
    }
}

static void build_call_nodes(struct bench *bench)
{
    struct error err;
    struct call_nodes nodes;
    must(call_nodes_init(&nodes, engine_get_stacks(bench->engine), &err), &err);
    call_nodes_destroy(&nodes);
}

/* A query that nothing is remembered of, and its first rows. */
static void ask(struct bench *bench)
{
    struct error err;
    must(engine_set_query(bench->engine, &bench->query, &err), &err);
    must(engine_list_children(bench->engine, NODE_NONE, &bench->rows, &err), &err);
}

static void whole_profile(struct bench *bench)
{
    ask(bench);
}

static void preview_range(struct bench *bench)
{
    struct time_range full = engine_get_full_range(bench->engine);
    bench->query.range.from = full.from + (full.to - full.from) * (0.2 + 0.01 * bench->round);
    bench->query.range.to = full.from + (full.to - full.from) * 0.7;
    ask(bench);
}

static void invert(struct bench *bench)
{
    bench->query.inverted = true;
    ask(bench);
}

static void search(struct bench *bench)
{
    static const char *const terms[] = {"lookup1", "lookup2", "lookup3", "lookup4", "lookup5"};
    bench->query.search = terms[bench->round];
    bench->query.search_length = strlen(terms[bench->round]);
    ask(bench);
}

static void transform(struct bench *bench, enum transform_kind kind)
{
    bench->transform = (struct transform){.kind = kind, .index = bench->func, .path = bench->path.data};
    bench->transform.path_length = transform_has_path(kind) ? bench->path.length / 2 : 0;
    bench->query.transforms = &bench->transform;
    bench->query.transform_count = 1;
    ask(bench);
}

static void merge_function(struct bench *bench)
{
    transform(bench, TRANSFORM_MERGE_FUNCTION);
}

static void focus_subtree(struct bench *bench)
{
    transform(bench, TRANSFORM_FOCUS_SUBTREE);
}

static void drop_function(struct bench *bench)
{
    transform(bench, TRANSFORM_DROP_FUNCTION);
}

static void collapse_recursion(struct bench *bench)
{
    transform(bench, TRANSFORM_COLLAPSE_RECURSION);
}

static void functions(struct bench *bench)
{
    struct error err;
    struct func_timings functions;
    must(engine_list_functions(bench->engine, FUNCS_BY_SELF, &functions, &err), &err);
    func_timings_destroy(&functions);
}

static void timeline(struct bench *bench)
{
    struct error err;
    struct time_range full = engine_get_full_range(bench->engine);
    for (uint32_t i = 0; i < engine_get_profile(bench->engine)->threads.length; i++) {
        struct activity activity;
        must(
            engine_compute_activity(bench->engine,
                                    &(struct activity_query){
                                        .threads = &i, .thread_count = 1, .range = {full.from, full.to}, .width = 1600},
                                    &activity, &err),
            &err);
        activity_destroy(&activity);
    }
}

static void run(struct bench *bench, const char *name, void (*operation)(struct bench *bench))
{
    struct tree_query all = bench->query, other = all;
    struct error err;
    double times[ROUNDS];
    other.range.from = 1; /* another query before each, so that nothing is remembered */
    for (bench->round = 0; bench->round < ROUNDS; bench->round++) {
        must(engine_set_query(bench->engine, &other, &err), &err);
        if (operation != whole_profile)
            must(engine_set_query(bench->engine, &all, &err), &err);
        double start = now_ms();
        operation(bench);
        times[bench->round] = now_ms() - start;
        bench->query = all;
    }
    printf("%-20s %8.1f\n", name, median(times, ROUNDS));
}

int main(int argc, char **argv)
{
    struct synthetic_options options = {.samples = 1000000, .stacks = 300000, .threads = 8, .depth = 40, .seed = 1};
    if (argc > 3) {
        options.samples = (uint32_t)strtoul(argv[1], NULL, 10);
        options.stacks = (uint32_t)strtoul(argv[2], NULL, 10);
        options.threads = (uint32_t)strtoul(argv[3], NULL, 10);
    }
    if (argc > 4)
        options.depth = (uint32_t)strtoul(argv[4], NULL, 10);
    options.funcs = options.stacks / 15 + 10;
    struct profile profile;
    struct error err;
    profile_init(&profile);
    must(synthetic_profile(&profile, &options, &err), &err);
    size_t stacks = profile.stacks.length;
    struct bench bench = {.engine = engine_new(&profile, &err)};
    must(bench.engine ? 0 : -1, &err);
    uint32_t *threads = malloc(options.threads * sizeof(*threads));
    for (uint32_t i = 0; i < options.threads; i++)
        threads[i] = i;
    bench.query = (struct tree_query){
        .threads = threads, .thread_count = options.threads, .range = whole_time, .search = "", .search_length = 0};
    printf("%u samples, %zu stacks, %zu call nodes; ms, medians of %d\n", options.samples, stacks,
           engine_get_nodes(bench.engine)->length, ROUNDS);
    run(&bench, "call-node table", build_call_nodes);
    run(&bench, "query", whole_profile);
    run(&bench, "range", preview_range);
    run(&bench, "invert", invert);
    run(&bench, "search", search);
    must(engine_find_heaviest_path(bench.engine, SIZE_MAX, 0, &bench.path, &err), &err);
    bench.func = bench.path.length ? bench.path.data[bench.path.length / 2] : 0;
    run(&bench, "merge function", merge_function);
    run(&bench, "focus subtree", focus_subtree);
    run(&bench, "drop function", drop_function);
    run(&bench, "collapse recursion", collapse_recursion);
    run(&bench, "functions", functions);
    run(&bench, "timeline", timeline);
    array_free(&bench.path);
    tree_rows_destroy(&bench.rows);
    engine_free(bench.engine);
    free(threads);
    return 0;
}
