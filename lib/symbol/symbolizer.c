/*
 * The symbolizer runs jobs (libraries with their addresses) on threads, in three steps:
 *
 *   1. For each library, answer from the cache; for the other addresses open the library's files, and find
 * the compile units that contain them.
 *   2. Read symbol tables and compile units of all libraries, the largest first.
 *   3. Compose each library's answers, and add them to the cache.
 *
 * Each step begins when the one before has ended. The second step takes nearly all of the time. The units of work of
 * the second step share only read-only data.
 *
 * The files of a library stay open from the first step to the last. If the limit of open files is too low for all
 * libraries, the symbolizer repeats the steps for each group of libraries.
 */
#include "base/search.h"
#include "os/parallel.h"
#include "symbol/data_symbols.h"
#include "symbol/demangle.h"
#include "symbol/kernel_file.h"
#include "symbol/lookup.h"
#include "symbol/symbol_cache.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

struct symbolizer {
    struct symbolizer_options options;
    struct symbol_cache *cache; /* NULL if none */
    pthread_mutex_t kallsyms_lock;
    bool has_kallsyms;
    struct kallsyms kallsyms; /* read on first use, and then read-only */
};

enum { SYMBOL_TABLES = SIZE_MAX };

struct piece {
    struct lookup *lookup;
    size_t unit; /* or SYMBOL_TABLES */
    uint64_t cost;
};

/* A job with the addresses that are not in the cache. */
struct task {
    struct symbol_job *job, uncached;
    uint64_t *uncached_rvas;
    uint32_t *missing; /* for each element of uncached_rvas, index of the address in the job */
    struct cached_library cached;
    struct lookup lookup;
    bool has_files, has_uncached;
};

struct run {
    struct symbolizer *symbolizer;
    struct task *tasks;
    ARRAY(struct piece) pieces;
    pthread_mutex_t lock;
    int code;
    struct error *err; /* the first failure */
};

struct symbolizer *symbolizer_new(const struct symbolizer_options *options)
{
    struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));
    if (!symbolizer)
        return NULL;
    if (options)
        symbolizer->options = *options;
    if (symbolizer->options.threads == 0) {
        long processors = sysconf(_SC_NPROCESSORS_ONLN);
        symbolizer->options.threads = processors > 0 ? (unsigned)processors : 1;
    }
    pthread_mutex_init(&symbolizer->kallsyms_lock, NULL);
    if (options && options->use_cache) {
        symbolizer->cache = symbol_cache_new(options->skip_inlines_and_lines ? NULL : options->cache_directory);
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
    free(symbolizer);
}

static void set_run_error(struct run *run, int code, const struct error *why)
{
    pthread_mutex_lock(&run->lock);
    if (run->code == 0) {
        run->code = code;
        if (run->err)
            *run->err = *why;
    }
    pthread_mutex_unlock(&run->lock);
}

/* Loads the symbols of the running kernel. The caller holds the lock. */
static int load_kallsyms(struct symbolizer *symbolizer, struct error *err)
{
    if (symbolizer->has_kallsyms)
        return 0;
    int code = kallsyms_load(&symbolizer->kallsyms, "/proc/kallsyms", "/proc/modules", err);
    symbolizer->has_kallsyms = code == 0;
    return code;
}

static int load_and_save_kallsyms(struct symbolizer *symbolizer, const struct symbol_lib *lib, struct error *err)
{
    bool is_new = !symbolizer->has_kallsyms;
    int code = load_kallsyms(symbolizer, err);
    if (code == 0 && is_new && lib->kind == SYMBOL_LIB_KERNEL && kernel_file_is_running(lib))
        symbol_cache_save_kernel(symbolizer->cache, lib, &symbolizer->kallsyms);
    return code;
}

/* Gets the symbols of the kernel or of a kernel module. The cache gives the symbols at the job's addresses, in `saved`.
 * Otherwise the function reads all symbols of the running kernel. */
static int load_kernel_symbols(struct symbolizer *symbolizer, const struct symbol_job *job, struct kallsyms *saved,
                               const struct kallsyms **symbols, struct error *err)
{
    int code = 0;
    *symbols = &symbolizer->kallsyms;
    pthread_mutex_lock(&symbolizer->kallsyms_lock);
    if (!symbolizer->has_kallsyms && job->lib.kind == SYMBOL_LIB_KERNEL &&
        symbol_cache_load_kernel(symbolizer->cache, job, saved))
        *symbols = saved;
    else
        code = load_and_save_kallsyms(symbolizer, &job->lib, err);
    pthread_mutex_unlock(&symbolizer->kallsyms_lock);
    return code;
}

int symbolizer_load_kallsyms(struct symbolizer *symbolizer, const struct kallsyms **out, struct error *err)
{
    pthread_mutex_lock(&symbolizer->kallsyms_lock);
    int code = load_kallsyms(symbolizer, err);
    pthread_mutex_unlock(&symbolizer->kallsyms_lock);
    *out = code == 0 ? &symbolizer->kallsyms : NULL;
    return code;
}

static bool is_of_kernel(const struct symbol_lib *lib)
{
    return lib->kind == SYMBOL_LIB_KERNEL || lib->kind == SYMBOL_LIB_MODULE;
}

/* ---- the first step ---- */

/* Fills the job's answers from the cache. */
static int answer_from_cache(struct task *task, struct error *err)
{
    symbol_answers_destroy(&task->job->answers);
    return cached_library_fill_answers(&task->cached, task->job->rvas, task->job->count, &task->job->answers,
                                       task->missing, &task->uncached.count, err);
}

/* Answers without opening files if no file could improve the answers. */
static int open_without_files(struct run *run, struct task *task, struct error *err)
{
    task->missing = malloc((task->job->count + 1) * sizeof(*task->missing));
    if (!task->missing)
        return error_no_memory(err);
    task->uncached.count = task->job->count;
    task->cached = symbol_cache_open(run->symbolizer->cache, &task->job->lib);
    return task->cached.entry ? answer_from_cache(task, err) : 0;
}

static int open_with_files(struct run *run, struct task *task, struct error *err)
{
    task->has_files = true;
    lookup_open_files(&task->lookup, &task->job->lib, run->symbolizer->options.search);
    symbol_cache_keep_sections(run->symbolizer->cache, &task->lookup.files);
    cached_library_set_files(&task->cached, run->symbolizer->cache, &task->job->lib, &task->lookup.files);
    int code = answer_from_cache(task, err);
    task->has_uncached = task->uncached.count > 0 || task->job->count == 0;
    if (code != 0 || !task->has_uncached)
        return code;
    task->uncached_rvas = malloc((task->uncached.count + 1) * sizeof(*task->uncached_rvas));
    if (!task->uncached_rvas)
        return error_no_memory(err);
    for (size_t i = 0; i < task->uncached.count; i++)
        task->uncached_rvas[i] = task->job->rvas[task->missing[i]];
    task->uncached.lib = task->job->lib;
    task->uncached.rvas = task->uncached_rvas;
    task->lookup.stop = run->symbolizer->options.stop;
    task->lookup.threads = run->symbolizer->options.threads;
    task->lookup.reader = run->symbolizer->options.reader;
    return lookup_open(&task->lookup, &task->uncached, !run->symbolizer->options.skip_inlines_and_lines, err);
}

static void open_task(void *context, size_t i)
{
    struct run *run = context;
    struct task *task = &run->tasks[i];
    struct error why = {""};
    int code = open_without_files(run, task, &why);
    if (code == 0 && (task->uncached.count > 0 || task->job->count == 0))
        code = open_with_files(run, task, &why);
    if (code != 0)
        set_run_error(run, code, &why);
}

/* ---- the second step ---- */

static int look_up_piece(struct run *run, struct piece *piece, struct error *err)
{
    if (piece->unit != SYMBOL_TABLES)
        return lookup_read_unit(piece->lookup, piece->unit, err);
    struct kallsyms saved = {0};
    const struct kallsyms *symbols = NULL;
    int code = is_of_kernel(piece->lookup->lib)
                   ? load_kernel_symbols(run->symbolizer, piece->lookup->job, &saved, &symbols, err)
                   : 0;
    if (code == 0)
        code = lookup_match_symbols(piece->lookup, symbols, err);
    kallsyms_destroy(&saved);
    return code;
}

static bool is_stopped(const struct run *run)
{
    const atomic_bool *stop = run->symbolizer->options.stop;
    return stop && *stop;
}

static void look_up_piece_or_stop(void *context, size_t i)
{
    struct run *run = context;
    struct error why = {""};
    int code = is_stopped(run) ? 0 : look_up_piece(run, &run->pieces.data[i], &why);
    if (is_stopped(run)) /* a stopped lookup is incomplete */
        code = -ECANCELED;
    if (code != 0)
        set_run_error(run, code, &why);
}

DEFINE_COMPARE(compare_costs_descending, struct piece, ORDER(b->cost, a->cost))

/* Generating /proc/kallsyms takes the kernel about as long as reading 16 MB of symbol table. */
enum { KALLSYMS_COST = 16 << 20 };

static int list_pieces(struct run *run, size_t count, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        struct lookup *lookup = &run->tasks[i].lookup;
        if (!run->tasks[i].has_uncached)
            continue;
        uint64_t cost = is_of_kernel(lookup->lib) ? KALLSYMS_COST : lookup_estimate_symbols_cost(lookup);
        if (!array_push(&run->pieces, (struct piece){lookup, SYMBOL_TABLES, cost}))
            return error_no_memory(err);
        for (size_t u = 0; u < lookup->units.length; u++)
            if (!array_push(&run->pieces,
                            (struct piece){lookup, u, lookup_get_unit_size(lookup, &lookup->units.data[u])}))
                return error_no_memory(err);
    }
    array_sort(&run->pieces, compare_costs_descending);
    return 0;
}

/* ---- the third step ---- */

/* Appends the new answers to the cached ones. */
static int merge_answers(struct task *task, struct error *err)
{
    struct symbol_answers *all = &task->job->answers, *uncached = &task->uncached.answers;
    size_t known_frames = all->frames.length;
    if (!array_append(&all->frames, uncached->frames.data, uncached->frames.length))
        return error_no_memory(err);
    for (size_t i = 0; i < uncached->count; i++) {
        struct symbol_answer *answer = &all->answers[task->missing[i]];
        *answer = uncached->answers[i];
        answer->first_frame += (uint32_t)known_frames;
    }
    all->is_found |= uncached->is_found;
    all->has_debug_info |= uncached->has_debug_info;
    all->is_damaged |= uncached->is_damaged;
    all->from_libdw += uncached->from_libdw;
    arena_join(&all->arena, &uncached->arena);
    return 0;
}

static void add_to_cache(struct task *task)
{
    size_t count = task->uncached.count;
    uint64_t *starts = task->cached.entry ? malloc((count + 1) * sizeof(*starts)) : NULL;
    uint32_t *sizes = starts ? malloc((count + 1) * sizeof(*sizes)) : NULL;
    if (sizes) {
        lookup_find_valid_ranges(&task->lookup, starts, sizes);
        cached_library_add(&task->cached, starts, sizes, &task->uncached.answers);
    }
    free(sizes);
    free(starts);
}

static int look_up_uncached(struct task *task, struct error *err)
{
    int code = lookup_fill_answers(&task->lookup, err);
    if (code != 0)
        return code;
    bool is_final = !task->lookup.problem[0]; /* after a problem, a later lookup may find more */
    if (is_final && task->uncached.answers.is_found)
        add_to_cache(task);
    return merge_answers(task, err);
}

static void finish_task(void *context, size_t i)
{
    struct run *run = context;
    struct task *task = &run->tasks[i];
    struct error why = {""};
    int code = is_stopped(run) ? -ECANCELED : task->has_uncached ? look_up_uncached(task, &why) : 0;
    if (code != 0)
        set_run_error(run, code, &why);
    else if (task->has_files)
        lookup_describe_problems(&task->lookup, &task->job->answers);
}

static void close_task(struct task *task)
{
    cached_library_close(&task->cached);
    if (task->has_files)
        lookup_close(&task->lookup);
    symbol_answers_destroy(&task->uncached.answers);
    free(task->uncached_rvas);
    free(task->missing);
}

static int run_group(struct symbolizer *symbolizer, struct symbol_job *jobs, size_t count, struct error *err)
{
    unsigned threads = symbolizer->options.threads;
    struct run run = {.symbolizer = symbolizer, .tasks = calloc(count + 1, sizeof(*run.tasks)), .err = err};
    if (!run.tasks)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++)
        run.tasks[i].job = &jobs[i];
    pthread_mutex_init(&run.lock, NULL);
    parallel_for(threads, DEMANGLE_STACK_SIZE, count, open_task, &run);
    if (run.code == 0)
        run.code = list_pieces(&run, count, err);
    if (run.code == 0)
        parallel_for(threads, DEMANGLE_STACK_SIZE, run.pieces.length, look_up_piece_or_stop, &run);
    if (run.code == 0)
        parallel_for(threads, DEMANGLE_STACK_SIZE, count, finish_task, &run);
    for (size_t i = 0; i < count; i++)
        close_task(&run.tasks[i]);
    array_free(&run.pieces);
    free(run.tasks);
    pthread_mutex_destroy(&run.lock);
    return run.code;
}

/* ---- groups ---- */

static size_t count_open_files(void)
{
    size_t count = 0;
    DIR *directory = opendir("/proc/self/fd");
    while (directory && readdir(directory))
        count++;
    if (directory)
        closedir(directory);
    return count;
}

/* The number of libraries whose files may be open at the same time: the mapped file, a debug file, a dwz file and a
 * package. In addition, each thread opens files briefly: one of the cache, one with split debug info. */
static size_t choose_group_size(const struct symbolizer *symbolizer, size_t count)
{
    enum { FILES_OF_LIBRARY = 4, FILES_OF_THREAD = 2 };
    struct rlimit limit;
    if (count <= 1 || getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return count;
    size_t threads = symbolizer->options.threads < count ? symbolizer->options.threads : count;
    size_t taken = count_open_files() + threads * FILES_OF_THREAD;
    size_t size = limit.rlim_cur > taken ? (limit.rlim_cur - taken) / FILES_OF_LIBRARY : 0;
    return size > count ? count : size ? size : 1;
}

int symbolizer_lookup_all(struct symbolizer *symbolizer, struct symbol_job *jobs, size_t count, struct error *err)
{
    int code = 0;
    size_t size = choose_group_size(symbolizer, count);
    for (size_t i = 0; i < count; i++)
        jobs[i].answers = (struct symbol_answers){.problem = ""};
    for (size_t i = 0; code == 0 && i < count; i += size)
        code = run_group(symbolizer, jobs + i, size < count - i ? size : count - i, err);
    for (size_t i = 0; code != 0 && i < count; i++)
        symbol_answers_destroy(&jobs[i].answers);
    return code;
}

int symbolizer_lookup(struct symbolizer *symbolizer, const struct symbol_lib *lib, const uint64_t *rvas, size_t count,
                      struct symbol_answers *out, struct error *err)
{
    struct symbol_job job = {.lib = *lib, .rvas = rvas, .count = count};
    int code = symbolizer_lookup_all(symbolizer, &job, 1, err);
    *out = job.answers;
    return code;
}

int symbolizer_lookup_data(struct symbolizer *symbolizer, struct symbol_job *jobs, size_t count, struct error *err)
{
    return data_symbols_find(jobs, count, symbolizer->options.threads, symbolizer->options.search, err);
}

const char *get_missing_symbols_text(enum missing_symbols_reason reason)
{
    static const char *const texts[MISSING_SYMBOLS_COUNT] = {
        [MISSING_SYMBOLS_NONE] = "",
        [MISSING_SYMBOLS_NO_DEBUG_INFO] = "no debug info",
        [MISSING_SYMBOLS_STRIPPED] = "no symbols",
        [MISSING_SYMBOLS_REPLACED] = "replaced",
        [MISSING_SYMBOLS_NO_FILE] = "file not found",
        [MISSING_SYMBOLS_NOT_READABLE] = "not readable",
        [MISSING_SYMBOLS_NOT_ELF] = "not an ELF file",
        [MISSING_SYMBOLS_DAMAGED] = "damaged",
    };
    return reason < MISSING_SYMBOLS_COUNT ? texts[reason] : "";
}

int symbolizer_load_embedded_source(struct symbolizer *symbolizer, const struct symbol_lib *lib, uint64_t rva,
                                    const char *file, char **text, size_t *length, struct error *err)
{
    struct symbol_job job = {.lib = *lib, .rvas = &rva, .count = 1};
    struct lookup lookup;
    lookup_open_files(&lookup, &job.lib, symbolizer->options.search);
    int code = lookup_open(&lookup, &job, true, err);
    *text = code == 0 ? lookup_find_embedded_source(&lookup, file, length) : NULL;
    if (code == 0 && !*text)
        code = error_set(err, ENOENT, "the debug info of %s does not contain the source of %s", lib->name, file);
    lookup_close(&lookup);
    symbol_answers_destroy(&job.answers);
    return code;
}

void symbol_answers_destroy(struct symbol_answers *answers)
{
    array_free(&answers->frames);
    arena_destroy(&answers->arena);
    *answers = (struct symbol_answers){.problem = ""};
}
