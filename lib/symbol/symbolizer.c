/*
 * The symbolizer: jobs (libraries with their addresses) on threads, in three steps.
 *
 *   1. each library is opened, and the compile units that were hit are found;
 *   2. symbol tables and compile units are read, whichever library they belong to, the largest first;
 *   3. each library's answers are put together.
 *
 * A step begins when the one before has ended. The second one takes nearly all of the time, and its pieces share
 * nothing but what nobody writes.
 */
#include "symbol/demangle.h"
#include "symbol/lookup.h"
#include "symbol/parallel.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct symbolizer {
    struct symbolizer_options options;
    pthread_mutex_t kallsyms_lock;
    bool has_kallsyms;
    struct kallsyms kallsyms; /* read when the first kernel library comes, and never changed then */
};

enum { SYMBOL_TABLES = SIZE_MAX };

struct piece {
    struct lookup *lookup;
    size_t unit; /* or SYMBOL_TABLES */
    uint64_t cost;
};

struct run {
    struct symbolizer *symbolizer;
    struct lookup *lookups;
    struct symbol_job *jobs;
    ARRAY(struct piece) pieces;
    pthread_mutex_t lock;
    int result;
    struct error *err; /* of the first failure */
};

struct symbolizer *symbolizer_new(const struct symbolizer_options *options, struct error *err)
{
    struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));
    if (!symbolizer) {
        error_no_memory(err);
        return NULL;
    }
    if (options)
        symbolizer->options = *options;
    if (symbolizer->options.threads == 0) {
        long processors = sysconf(_SC_NPROCESSORS_ONLN);
        symbolizer->options.threads = processors > 0 ? (unsigned)processors : 1;
    }
    pthread_mutex_init(&symbolizer->kallsyms_lock, NULL);
    return symbolizer;
}

void symbolizer_free(struct symbolizer *symbolizer)
{
    if (!symbolizer)
        return;
    if (symbolizer->has_kallsyms)
        kallsyms_destroy(&symbolizer->kallsyms);
    pthread_mutex_destroy(&symbolizer->kallsyms_lock);
    free(symbolizer);
}

static void run_failed(struct run *run, int code, const struct error *why)
{
    pthread_mutex_lock(&run->lock);
    if (run->result == 0) {
        run->result = code;
        if (run->err)
            *run->err = *why;
    }
    pthread_mutex_unlock(&run->lock);
}

static int need_kallsyms(struct symbolizer *symbolizer, struct error *err)
{
    int result = 0;
    pthread_mutex_lock(&symbolizer->kallsyms_lock);
    if (!symbolizer->has_kallsyms) {
        result = kallsyms_load(&symbolizer->kallsyms, "/proc/kallsyms", "/proc/modules", err);
        symbolizer->has_kallsyms = result == 0;
    }
    pthread_mutex_unlock(&symbolizer->kallsyms_lock);
    return result;
}

static bool is_of_kernel(const struct symbol_lib *lib)
{
    return lib->kind == SYMBOL_LIB_KERNEL || lib->kind == SYMBOL_LIB_MODULE;
}

static void open_lookup(void *context, size_t i)
{
    struct run *run = context;
    struct error why = {""};
    bool with_dwarf = !run->symbolizer->options.skip_inlines_and_lines;
    int result = lookup_open(&run->lookups[i], &run->jobs[i], with_dwarf, &why);
    if (result != 0)
        run_failed(run, result, &why);
}

static void do_piece(void *context, size_t i)
{
    struct run *run = context;
    struct piece *piece = &run->pieces.data[i];
    struct error why = {""};
    int result = 0;
    if (piece->unit != SYMBOL_TABLES)
        result = lookup_unit(piece->lookup, piece->unit, &why);
    else if (is_of_kernel(&piece->lookup->job->lib))
        result = need_kallsyms(run->symbolizer, &why);
    if (result == 0 && piece->unit == SYMBOL_TABLES)
        result = lookup_symbols(piece->lookup, &run->symbolizer->kallsyms, &why);
    if (result != 0)
        run_failed(run, result, &why);
}

static void answer_lookup(void *context, size_t i)
{
    struct run *run = context;
    struct error why = {""};
    int result = lookup_answer(&run->lookups[i], &why);
    if (result != 0)
        run_failed(run, result, &why);
}

static int by_falling_cost(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    return x->cost < y->cost ? 1 : x->cost > y->cost ? -1 : 0;
}

/* Generating the text of /proc/kallsyms takes the kernel about as long as 16 MB of symbol table take here. */
enum { KALLSYMS_COST = 16 << 20 };

static int list_pieces(struct run *run, size_t count, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        struct lookup *lookup = &run->lookups[i];
        uint64_t cost = is_of_kernel(&run->jobs[i].lib) ? KALLSYMS_COST : lookup_symbols_cost(lookup);
        if (!array_push(&run->pieces, (struct piece){lookup, SYMBOL_TABLES, cost}))
            return error_no_memory(err);
        for (size_t u = 0; u < lookup->units.length; u++)
            if (!array_push(&run->pieces, (struct piece){lookup, u, lookup_unit_cost(lookup, u)}))
                return error_no_memory(err);
    }
    qsort(run->pieces.data, run->pieces.length, sizeof(struct piece), by_falling_cost);
    return 0;
}

int symbolizer_lookup_all(struct symbolizer *symbolizer, struct symbol_job *jobs, size_t count, struct error *err)
{
    if (count == 0)
        return 0;
    struct run run = {
        .symbolizer = symbolizer, .jobs = jobs, .err = err, .lookups = calloc(count, sizeof(*run.lookups))};
    for (size_t i = 0; i < count; i++)
        jobs[i].answers = (struct symbol_answers){.problem = ""};
    if (!run.lookups)
        return error_no_memory(err);
    unsigned threads = symbolizer->options.threads;
    pthread_mutex_init(&run.lock, NULL);
    parallel_for(threads, DEMANGLE_STACK_SIZE, count, open_lookup, &run);
    if (run.result == 0)
        run.result = list_pieces(&run, count, err);
    if (run.result == 0)
        parallel_for(threads, DEMANGLE_STACK_SIZE, run.pieces.length, do_piece, &run);
    if (run.result == 0)
        parallel_for(threads, DEMANGLE_STACK_SIZE, count, answer_lookup, &run);
    for (size_t i = 0; i < count; i++) {
        lookup_close(&run.lookups[i]);
        if (run.result != 0)
            symbol_answers_destroy(&jobs[i].answers);
    }
    array_free(&run.pieces);
    free(run.lookups);
    pthread_mutex_destroy(&run.lock);
    return run.result;
}

int symbolizer_lookup(struct symbolizer *symbolizer, const struct symbol_lib *lib, const uint64_t *rvas, size_t count,
                      struct symbol_answers *out, struct error *err)
{
    struct symbol_job job = {.lib = *lib, .rvas = rvas, .count = count};
    int result = symbolizer_lookup_all(symbolizer, &job, 1, err);
    *out = job.answers;
    return result;
}

void symbol_answers_destroy(struct symbol_answers *answers)
{
    array_free(&answers->frames);
    arena_destroy(&answers->arena);
    *answers = (struct symbol_answers){.problem = ""};
}
