/*
 * The symbolizer: jobs (libraries with their addresses) on threads, in three steps.
 *
 *   1. of each library, what the cache knows is answered; for the rest its files are opened, and the compile units that
 *      were hit are found;
 *   2. symbol tables and compile units are read, whichever library they belong to, the largest first;
 *   3. each library's answers are put together, and go to the cache.
 *
 * A step begins when the one before has ended. The second one takes nearly all of the time, and its pieces share
 * nothing but what nobody writes.
 *
 * What the debug info had to be read for is noted. Who has time (symbolizer_learn_more) then lets the cache know all of
 * the units that were hit: the next recording of the same program has other addresses, but few of other units.
 */
#include "base/search.h"
#include "symbol/demangle.h"
#include "symbol/lookup.h"
#include "symbol/parallel.h"
#include "symbol/symbol_cache.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Addresses of a library that only its debug info knew. */
struct missed_library {
    struct symbol_lib lib; /* texts in symbolizer.missed_texts */
    ARRAY(uint64_t) rvas;
};

struct symbolizer {
    struct symbolizer_options options;
    struct symbol_cache *cache; /* NULL: none */
    pthread_mutex_t missed_lock;
    ARRAY(struct missed_library) missed;
    struct arena missed_texts;
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

/* A job, and the part of it that the cache does not know. */
struct task {
    struct symbol_job *job, rest;
    uint64_t *rest_rvas;
    uint32_t *missing; /* indexes of rest_rvas in the job's */
    struct cached_library cached;
    struct lookup lookup;
    bool has_files, has_rest;
};

struct run {
    struct symbolizer *symbolizer;
    struct task *tasks;
    unsigned threads;
    const atomic_bool *stop;           /* NULL, or whether to give up */
    struct dwarf_stretches *stretches; /* of one job: to be filled in with what its addresses' units have */
    const uint32_t *sizes;             /* of one job: how far the answers hold, as its debug info has it */
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
    pthread_mutex_init(&symbolizer->missed_lock, NULL);
    if (options && options->use_cache) {
        symbolizer->cache = symbol_cache_new(options->skip_inlines_and_lines ? NULL : options->cache_folder, err);
        if (!symbolizer->cache) {
            symbolizer_free(symbolizer);
            return NULL;
        }
    }
    return symbolizer;
}

void symbolizer_free(struct symbolizer *symbolizer)
{
    if (!symbolizer)
        return;
    symbol_cache_free(symbolizer->cache);
    if (symbolizer->has_kallsyms)
        kallsyms_destroy(&symbolizer->kallsyms);
    pthread_mutex_destroy(&symbolizer->kallsyms_lock);
    pthread_mutex_destroy(&symbolizer->missed_lock);
    for (size_t i = 0; i < symbolizer->missed.length; i++)
        array_free(&symbolizer->missed.data[i].rvas);
    array_free(&symbolizer->missed);
    arena_destroy(&symbolizer->missed_texts);
    free(symbolizer);
}

void symbolizer_save(struct symbolizer *symbolizer)
{
    if (symbolizer->cache)
        symbol_cache_save(symbolizer->cache);
}

void symbolizer_search(struct symbolizer *symbolizer, const struct debug_search *search)
{
    symbolizer->options.search = search;
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

const struct kallsyms *symbolizer_kallsyms(struct symbolizer *symbolizer, struct error *err)
{
    return need_kallsyms(symbolizer, err) == 0 ? &symbolizer->kallsyms : NULL;
}

/* Whether the run is for the cache alone, which is to know what it may know already in another way. */
static bool is_for_cache(const struct run *run)
{
    return run->stretches || run->sizes;
}

static bool is_of_kernel(const struct symbol_lib *lib)
{
    return lib->kind == SYMBOL_LIB_KERNEL || lib->kind == SYMBOL_LIB_MODULE;
}

/* ---- the first step ---- */

/* Fills the job's answers with what is known. */
static int answer_from_cache(struct task *task, struct error *err)
{
    symbol_answers_destroy(&task->job->answers);
    return cached_library_answer(&task->cached, task->job->rvas, task->job->count, &task->job->answers, task->missing,
                                 &task->rest.count, err);
}

/* What a file could not make better needs none. */
static int open_without_files(struct run *run, struct task *task, struct error *err)
{
    task->missing = malloc((task->job->count + 1) * sizeof(*task->missing));
    if (!task->missing)
        return error_no_memory(err);
    task->rest.count = task->job->count;
    if (is_for_cache(run))
        return 0;
    task->cached = symbol_cache_open(run->symbolizer->cache, &task->job->lib);
    return task->cached.entry ? answer_from_cache(task, err) : 0;
}

static int answer_nothing(struct task *task)
{
    task->rest.count = cached_library_has_room(&task->cached) ? task->job->count : 0;
    for (size_t i = 0; i < task->rest.count; i++)
        task->missing[i] = (uint32_t)i;
    return 0;
}

static int open_with_files(struct run *run, struct task *task, struct error *err)
{
    task->has_files = true;
    lookup_open_files(&task->lookup, &task->job->lib, run->symbolizer->options.search);
    cached_library_set_files(&task->cached, run->symbolizer->cache, &task->job->lib, &task->lookup.files);
    int result = is_for_cache(run) ? answer_nothing(task) : answer_from_cache(task, err);
    task->has_rest = task->rest.count > 0 || task->job->count == 0;
    if (result != 0 || !task->has_rest)
        return result;
    task->rest_rvas = malloc((task->rest.count + 1) * sizeof(*task->rest_rvas));
    if (!task->rest_rvas)
        return error_no_memory(err);
    for (size_t i = 0; i < task->rest.count; i++)
        task->rest_rvas[i] = task->job->rvas[task->missing[i]];
    task->rest.lib = task->job->lib;
    task->rest.rvas = task->rest_rvas;
    task->lookup.with_stretches = run->stretches != NULL;
    task->lookup.stop = run->stop;
    task->lookup.threads = run->threads;
    return lookup_open(&task->lookup, &task->rest, !run->symbolizer->options.skip_inlines_and_lines, err);
}

static void open_task(void *context, size_t i)
{
    struct run *run = context;
    struct task *task = &run->tasks[i];
    struct error why = {""};
    int result = open_without_files(run, task, &why);
    if (result == 0 && (task->rest.count > 0 || task->job->count == 0))
        result = open_with_files(run, task, &why);
    if (result != 0)
        run_failed(run, result, &why);
}

/* ---- the second step ---- */

static int read_piece(struct run *run, struct piece *piece, struct error *err)
{
    if (piece->unit != SYMBOL_TABLES)
        return lookup_unit(piece->lookup, piece->unit, err);
    int result = is_of_kernel(piece->lookup->lib) ? need_kallsyms(run->symbolizer, err) : 0;
    return result == 0 ? lookup_symbols(piece->lookup, &run->symbolizer->kallsyms, err) : result;
}

static bool is_stopped(const struct run *run)
{
    return run->stop && *run->stop;
}

static void do_piece(void *context, size_t i)
{
    struct run *run = context;
    struct error why = {""};
    int result = is_stopped(run) ? 0 : read_piece(run, &run->pieces.data[i], &why);
    if (is_stopped(run)) /* if in the middle of it, it is not all there */
        result = -ECANCELED;
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
        struct lookup *lookup = &run->tasks[i].lookup;
        if (!run->tasks[i].has_rest)
            continue;
        uint64_t cost = is_of_kernel(lookup->lib) ? KALLSYMS_COST : lookup_symbols_cost(lookup);
        if (!array_push(&run->pieces, (struct piece){lookup, SYMBOL_TABLES, cost}))
            return error_no_memory(err);
        for (size_t u = 0; u < lookup->units.length; u++)
            if (!array_push(&run->pieces, (struct piece){lookup, u, lookup_unit_cost(lookup, u)}))
                return error_no_memory(err);
    }
    if (run->pieces.length)
        qsort(run->pieces.data, run->pieces.length, sizeof(struct piece), by_falling_cost);
    return 0;
}

/* ---- the third step ---- */

/* Puts the answers of the rest behind those that were known. */
static int join_answers(struct task *task, struct error *err)
{
    struct symbol_answers *all = &task->job->answers, *rest = &task->rest.answers;
    size_t known_frames = all->frames.length;
    if (!array_reserve(&all->frames, rest->frames.length))
        return error_no_memory(err);
    if (rest->frames.length)
        memcpy(all->frames.data + known_frames, rest->frames.data, rest->frames.length * sizeof(*rest->frames.data));
    all->frames.length += rest->frames.length;
    for (size_t i = 0; i < rest->count; i++) {
        struct symbol_answer *answer = &all->answers[task->missing[i]];
        *answer = rest->answers[i];
        answer->first_frame += (uint32_t)known_frames;
    }
    all->is_found |= rest->is_found;
    all->has_debug_info |= rest->has_debug_info;
    arena_join(&all->arena, &rest->arena);
    return 0;
}

static void remember(const struct run *run, struct task *task)
{
    size_t count = task->rest.count;
    uint64_t *starts = task->cached.entry ? malloc((count + 1) * sizeof(*starts)) : NULL;
    uint32_t *sizes = starts ? malloc((count + 1) * sizeof(*sizes)) : NULL;
    if (sizes && run->sizes) {
        memcpy(starts, task->rest_rvas, count * sizeof(*starts));
        memcpy(sizes, run->sizes, count * sizeof(*sizes));
        lookup_cut_spans(&task->lookup, sizes);
    } else if (sizes) {
        lookup_spans(&task->lookup, starts, sizes);
    }
    if (sizes)
        cached_library_add(&task->cached, starts, sizes, &task->rest.answers);
    free(sizes);
    free(starts);
}

/* The list's entry for this library, which has a build id: so it is sure to be the same one later. NULL if memory ran
 * out. */
static struct missed_library *missed_entry(struct symbolizer *symbolizer, const struct symbol_lib *lib)
{
    for (size_t i = 0; i < symbolizer->missed.length; i++) {
        const struct symbol_lib *known = &symbolizer->missed.data[i].lib;
        if (known->build_id_size == lib->build_id_size &&
            memcmp(known->build_id, lib->build_id, lib->build_id_size) == 0)
            return &symbolizer->missed.data[i];
    }
    struct arena *texts = &symbolizer->missed_texts;
    struct missed_library entry = {
        .lib = {.kind = lib->kind, .build_id_size = lib->build_id_size},
    };
    entry.lib.name = arena_copy(texts, lib->name, strlen(lib->name));
    entry.lib.path = arena_copy(texts, lib->path, strlen(lib->path));
    entry.lib.build_id = (const unsigned char *)arena_copy(texts, (const char *)lib->build_id, lib->build_id_size);
    bool is_complete = entry.lib.name && entry.lib.path && entry.lib.build_id;
    return is_complete && array_push(&symbolizer->missed, entry)
               ? &symbolizer->missed.data[symbolizer->missed.length - 1]
               : NULL;
}

/* That memory may run out is no matter: it is for later. */
static void note_missed(struct symbolizer *symbolizer, const struct task *task)
{
    const struct symbol_lib *lib = &task->job->lib;
    if (lib->kind != SYMBOL_LIB_ELF || !lib->build_id || !lib->path || !task->lookup.units.length ||
        !task->cached.entry)
        return;
    pthread_mutex_lock(&symbolizer->missed_lock);
    struct missed_library *entry = missed_entry(symbolizer, lib);
    if (entry && array_reserve(&entry->rvas, task->rest.count))
        for (size_t i = 0; i < task->rest.count; i++)
            entry->rvas.data[entry->rvas.length++] = task->rest_rvas[i];
    pthread_mutex_unlock(&symbolizer->missed_lock);
}

static int answer_rest(const struct run *run, struct task *task, struct error *err)
{
    int result = lookup_answer(&task->lookup, err);
    if (result != 0)
        return result;
    bool is_final = !task->lookup.problem[0]; /* else it may be better another time */
    if (is_final && task->rest.answers.is_found)
        remember(run, task);
    if (is_final && run->stretches)
        result = lookup_stretches(&task->lookup, run->stretches, err);
    if (is_for_cache(run))
        return result;
    if (is_final)
        note_missed(run->symbolizer, task);
    return join_answers(task, err);
}

static void answer_task(void *context, size_t i)
{
    struct run *run = context;
    struct task *task = &run->tasks[i];
    struct error why = {""};
    int result = is_stopped(run) ? -ECANCELED : task->has_rest ? answer_rest(run, task, &why) : 0;
    if (result != 0)
        run_failed(run, result, &why);
    else if (task->has_files)
        lookup_conclude(&task->lookup, &task->job->answers);
}

static void close_task(struct task *task)
{
    cached_library_close(&task->cached);
    if (task->has_files)
        lookup_close(&task->lookup);
    symbol_answers_destroy(&task->rest.answers);
    free(task->rest_rvas);
    free(task->missing);
}

static int run_jobs(struct run *run, struct symbol_job *jobs, size_t count, struct error *err)
{
    run->tasks = calloc(count + 1, sizeof(*run->tasks));
    run->err = err;
    for (size_t i = 0; i < count; i++)
        jobs[i].answers = (struct symbol_answers){.problem = ""};
    if (!run->tasks)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++)
        run->tasks[i].job = &jobs[i];
    pthread_mutex_init(&run->lock, NULL);
    parallel_for(run->threads, DEMANGLE_STACK_SIZE, count, open_task, run);
    if (run->result == 0)
        run->result = list_pieces(run, count, err);
    if (run->result == 0)
        parallel_for(run->threads, DEMANGLE_STACK_SIZE, run->pieces.length, do_piece, run);
    if (run->result == 0)
        parallel_for(run->threads, DEMANGLE_STACK_SIZE, count, answer_task, run);
    for (size_t i = 0; i < count; i++) {
        close_task(&run->tasks[i]);
        if (run->result != 0)
            symbol_answers_destroy(&jobs[i].answers);
    }
    array_free(&run->pieces);
    free(run->tasks);
    pthread_mutex_destroy(&run->lock);
    return run->result;
}

int symbolizer_lookup_all(struct symbolizer *symbolizer, struct symbol_job *jobs, size_t count, struct error *err)
{
    struct run run = {.symbolizer = symbolizer, .threads = symbolizer->options.threads};
    return run_jobs(&run, jobs, count, err);
}

int symbolizer_learn(struct symbolizer *symbolizer, struct symbol_job *jobs, size_t count, const atomic_bool *stop,
                     struct error *err)
{
    struct run run = {.symbolizer = symbolizer, .threads = 1, .stop = stop};
    return run_jobs(&run, jobs, count, err);
}

/* ---- more than was asked ---- */

enum { LEARNED_AT_ONCE = 1 << 12 }; /* putting answers together is not interrupted: about 5 ms */

/* The next stretches of functions that were hit, or of the others. */
static size_t take_stretches(const struct dwarf_stretches *stretches, bool is_hit, size_t *next, uint64_t *rvas,
                             uint32_t *sizes)
{
    size_t count = 0;
    for (; *next < stretches->length && count < LEARNED_AT_ONCE; ++*next) {
        const struct dwarf_stretch *stretch = &stretches->data[*next];
        if (stretch->is_hit != is_hit)
            continue;
        rvas[count] = stretch->start;
        sizes[count++] = stretch->size;
    }
    return count;
}

static int learn_stretches(struct symbolizer *symbolizer, const struct symbol_lib *lib,
                           const struct dwarf_stretches *stretches, bool is_hit, const atomic_bool *stop,
                           struct error *err)
{
    uint64_t *rvas = malloc(LEARNED_AT_ONCE * sizeof(*rvas));
    uint32_t *sizes = malloc(LEARNED_AT_ONCE * sizeof(*sizes));
    int result = rvas && sizes ? 0 : error_no_memory(err);
    size_t next = 0;
    while (result == 0 && next < stretches->length) {
        struct symbol_job job = {.lib = *lib, .rvas = rvas};
        struct run run = {.symbolizer = symbolizer, .threads = 1, .stop = stop, .sizes = sizes};
        job.count = take_stretches(stretches, is_hit, &next, rvas, sizes);
        result = job.count ? run_jobs(&run, &job, 1, err) : 0;
        symbol_answers_destroy(&job.answers);
    }
    free(rvas);
    free(sizes);
    return result;
}

static int learn_library(struct symbolizer *symbolizer, const struct missed_library *missed, const atomic_bool *stop,
                         struct error *err)
{
    struct dwarf_stretches stretches = {.data = NULL};
    struct symbol_job job = {.lib = missed->lib, .rvas = missed->rvas.data};
    struct run run = {.symbolizer = symbolizer, .threads = 1, .stop = stop, .stretches = &stretches};
    job.count = sort_distinct(missed->rvas.data, missed->rvas.length);
    int result = run_jobs(&run, &job, 1, err);
    symbol_answers_destroy(&job.answers);
    for (int is_hit = 1; result == 0 && is_hit >= 0; is_hit--) /* there may not be room for all */
        result = learn_stretches(symbolizer, &missed->lib, &stretches, is_hit, stop, err);
    array_free(&stretches);
    return result;
}

int symbolizer_learn_more(struct symbolizer *symbolizer, const atomic_bool *stop, struct error *err)
{
    int result = 0;
    while (result == 0) {
        struct missed_library missed = {.rvas = {0}};
        pthread_mutex_lock(&symbolizer->missed_lock);
        if (symbolizer->missed.length)
            missed = symbolizer->missed.data[--symbolizer->missed.length];
        pthread_mutex_unlock(&symbolizer->missed_lock);
        if (!missed.rvas.length)
            break;
        result = learn_library(symbolizer, &missed, stop, err);
        array_free(&missed.rvas);
    }
    return result;
}

int symbolizer_lookup(struct symbolizer *symbolizer, const struct symbol_lib *lib, const uint64_t *rvas, size_t count,
                      struct symbol_answers *out, struct error *err)
{
    struct symbol_job job = {.lib = *lib, .rvas = rvas, .count = count};
    int result = symbolizer_lookup_all(symbolizer, &job, 1, err);
    *out = job.answers;
    return result;
}

const char *missing_symbols_text(enum missing_symbols_reason reason)
{
    static const char *const texts[MISSING_SYMBOLS_COUNT] = {
        [MISSING_SYMBOLS_NONE] = "",
        [MISSING_SYMBOLS_NO_DEBUG_INFO] = "no debug info",
        [MISSING_SYMBOLS_STRIPPED] = "no symbols",
        [MISSING_SYMBOLS_REPLACED] = "replaced",
        [MISSING_SYMBOLS_NO_FILE] = "gone",
        [MISSING_SYMBOLS_NOT_READABLE] = "not readable",
        [MISSING_SYMBOLS_DAMAGED] = "damaged",
    };
    return reason < MISSING_SYMBOLS_COUNT ? texts[reason] : "";
}

int symbolizer_embedded_source(struct symbolizer *symbolizer, const struct symbol_lib *lib, uint64_t rva,
                               const char *file, char **text, size_t *length, struct error *err)
{
    struct symbol_job job = {.lib = *lib, .rvas = &rva, .count = 1};
    struct lookup lookup;
    lookup_open_files(&lookup, &job.lib, symbolizer->options.search);
    int result = lookup_open(&lookup, &job, true, err);
    *text = result == 0 ? lookup_embedded_source(&lookup, file, length) : NULL;
    if (result == 0 && !*text)
        result = error_set(err, ENOENT, "the debug info of %s does not hold the text of %s", lib->name, file);
    lookup_close(&lookup);
    symbol_answers_destroy(&job.answers);
    return result;
}

void symbol_answers_destroy(struct symbol_answers *answers)
{
    array_free(&answers->frames);
    arena_destroy(&answers->arena);
    *answers = (struct symbol_answers){.problem = ""};
}
