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
#include "symbol/library.h"
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

enum { SYMBOLS_OF_LIBRARY = SIZE_MAX };

struct piece {
    struct library *library;
    size_t unit; /* or SYMBOLS_OF_LIBRARY */
    uint64_t cost;
};

struct run {
    struct symbolizer *symbolizer;
    struct library *libraries;
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

static void open_library(void *context, size_t i)
{
    struct run *run = context;
    struct error why = {""};
    bool with_dwarf = !run->symbolizer->options.skip_inlines_and_lines;
    int result = library_open(&run->libraries[i], &run->jobs[i], with_dwarf, &why);
    if (result != 0)
        run_failed(run, result, &why);
}

static void do_piece(void *context, size_t i)
{
    struct run *run = context;
    struct piece *piece = &run->pieces.data[i];
    struct error why = {""};
    int result = 0;
    if (piece->unit != SYMBOLS_OF_LIBRARY)
        result = library_unit(piece->library, piece->unit, &why);
    else if (is_of_kernel(&piece->library->job->lib))
        result = need_kallsyms(run->symbolizer, &why);
    if (result == 0 && piece->unit == SYMBOLS_OF_LIBRARY)
        result = library_symbols(piece->library, &run->symbolizer->kallsyms, &why);
    if (result != 0)
        run_failed(run, result, &why);
}

static void answer_library(void *context, size_t i)
{
    struct run *run = context;
    struct error why = {""};
    int result = library_answer(&run->libraries[i], &why);
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
        struct library *library = &run->libraries[i];
        uint64_t cost = is_of_kernel(&run->jobs[i].lib) ? KALLSYMS_COST : library_symbols_cost(library);
        if (!array_push(&run->pieces, (struct piece){library, SYMBOLS_OF_LIBRARY, cost}))
            return error_no_memory(err);
        for (size_t u = 0; u < library->units.length; u++)
            if (!array_push(&run->pieces, (struct piece){library, u, library_unit_cost(library, u)}))
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
        .symbolizer = symbolizer, .jobs = jobs, .err = err, .libraries = calloc(count, sizeof(*run.libraries))};
    for (size_t i = 0; i < count; i++)
        jobs[i].answers = (struct symbol_answers){.problem = ""};
    if (!run.libraries)
        return error_no_memory(err);
    unsigned threads = symbolizer->options.threads;
    pthread_mutex_init(&run.lock, NULL);
    parallel_for(threads, DEMANGLE_STACK_SIZE, count, open_library, &run);
    if (run.result == 0)
        run.result = list_pieces(&run, count, err);
    if (run.result == 0)
        parallel_for(threads, DEMANGLE_STACK_SIZE, run.pieces.length, do_piece, &run);
    if (run.result == 0)
        parallel_for(threads, DEMANGLE_STACK_SIZE, count, answer_library, &run);
    for (size_t i = 0; i < count; i++) {
        library_close(&run.libraries[i]);
        if (run.result != 0)
            symbol_answers_destroy(&jobs[i].answers);
    }
    array_free(&run.pieces);
    free(run.libraries);
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
