/*
 * Times the symbolization of a program, and llvm-symbolizer in the same run.
 *
 *     bench_symbol [FILE [ADDRESSES [ROUNDS [THREADS]]]]
 *
 * takes the same ADDRESSES random places inside the functions of FILE (itself) for all tools, and prints the medians of
 * ROUNDS alternating runs, their ratios, and the most memory that a run took:
 *
 *     first    without a cache
 *     second   with the cache that a run before has left
 *
 * Each run is a process of its own. bench_symbol_big has files that are worth it.
 */
#include "elf/elf_file.h"
#include "elf/elf_table.h"
#include "symbol/symbol.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS_MAX = 99 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static const struct elf_section *find_table(const struct elf_file *file)
{
    const struct elf_section *table = elf_file_find_section(file, ".symtab");
    return table ? table : elf_file_find_section(file, ".dynsym");
}

/* Sorted and distinct; *base is what rvas count from. */
static size_t pick_addresses(const char *path, size_t wanted, uint64_t *rvas, uint64_t *base)
{
    struct elf_file file;
    struct error err;
    if (elf_file_open(&file, path, &err) != 0) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    *base = file.base;
    const struct elf_section *table = find_table(&file);
    struct elf_symbols symbols = {0};
    if (table)
        elf_symbols_load(&symbols, &file, table, 0, SIZE_MAX);
    ARRAY(struct elf_symbol) functions = {0};
    for (size_t i = 0; i < symbols.count; i++) {
        struct elf_symbol symbol = elf_symbols_get(&symbols, i);
        if (symbol.type == STT_FUNC && symbol.size && symbol.section != SHN_UNDEF && !array_push(&functions, symbol))
            exit(1);
    }
    srand48(1);
    size_t count = 0;
    for (size_t i = 0; i < wanted && functions.length; i++) {
        const struct elf_symbol *f = &functions.data[(size_t)(drand48() * (double)functions.length)];
        rvas[i] = f->value - file.base + (uint64_t)(drand48() * (double)f->size);
    }
    if (functions.length) {
        qsort(rvas, wanted, sizeof(*rvas), ascending);
        for (size_t i = 0; i < wanted; i++)
            if (count == 0 || rvas[i] != rvas[count - 1])
                rvas[count++] = rvas[i];
    }
    array_free(&functions);
    elf_symbols_free(&symbols);
    elf_file_close(&file);
    return count;
}

/* ---- runs ---- */

struct work {
    const char *path, *list, *cache_directory;
    const uint64_t *rvas;
    size_t count;
    unsigned threads;
    enum symbol_reader reader;
};

struct outcome {
    double cpu; /* seconds of it, of the whole process */
    double seconds;
    size_t frames, named;
    double peak; /* MiB */
};

static struct outcome look_up(const struct work *work)
{
    struct symbolizer_options options = {.reader = work->reader,
                                         .threads = work->threads,
                                         .use_cache = work->cache_directory != NULL,
                                         .cache_directory = work->cache_directory};
    struct error err = {"out of memory"};
    double start = now();
    struct symbolizer *symbolizer = symbolizer_new(&options);
    struct symbol_answers answers;
    struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF, .name = work->path, .path = work->path};
    if (!symbolizer || symbolizer_lookup(symbolizer, &lib, work->rvas, work->count, &answers, &err) != 0) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    struct outcome outcome = {.seconds = now() - start, .frames = answers.frames.length};
    for (size_t i = 0; i < answers.count; i++)
        outcome.named += answers.answers[i].symbol != NULL;
    symbol_answers_destroy(&answers);
    symbolizer_free(symbolizer);
    return outcome;
}

/* In a process of its own: what it says on `from`, and its peak memory. */
static struct outcome collect(pid_t child, int from)
{
    struct outcome outcome = {0};
    struct rusage usage;
    int status;
    if (child < 0 || (from >= 0 && read(from, &outcome, sizeof(outcome)) != sizeof(outcome)) ||
        wait4(child, &status, 0, &usage) != child || status != 0)
        return (struct outcome){0};
    outcome.peak = (double)usage.ru_maxrss / 1024;
    outcome.cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                  (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    return outcome;
}

static struct outcome run_prof(const struct work *work)
{
    int channel[2];
    if (pipe(channel) != 0)
        exit(1);
    pid_t child = fork();
    if (child == 0) {
        struct outcome outcome = look_up(work);
        _exit(write(channel[1], &outcome, sizeof(outcome)) != sizeof(outcome));
    }
    close(channel[1]);
    struct outcome outcome = collect(child, channel[0]);
    close(channel[0]);
    return outcome;
}

static struct outcome run_llvm(const struct work *work)
{
    double start = now();
    pid_t child = fork();
    if (child == 0) {
        int in = open(work->list, O_RDONLY), out = open("/dev/null", O_WRONLY);
        dup2(in, STDIN_FILENO);
        dup2(out, STDOUT_FILENO);
        char object[4096];
        snprintf(object, sizeof(object), "--obj=%s", work->path);
        execlp("llvm-symbolizer", "llvm-symbolizer", object, (char *)NULL);
        _exit(127);
    }
    struct outcome outcome = collect(child, -1);
    outcome.seconds = outcome.peak > 0 ? now() - start : 0;
    return outcome;
}

/* ---- medians ---- */

static int by_seconds(const void *a, const void *b)
{
    const struct outcome *x = a, *y = b;
    return x->seconds < y->seconds ? -1 : x->seconds > y->seconds;
}

static const struct outcome *median(struct outcome *outcomes, size_t count)
{
    qsort(outcomes, count, sizeof(*outcomes), by_seconds);
    return &outcomes[count / 2];
}

static void print_run(const char *name, const struct outcome *outcome, const struct outcome *other)
{
    printf("  %-16s %7.3f s  %7.3f s of CPU  %4.0f MiB", name, outcome->seconds, outcome->cpu, outcome->peak);
    if (other && other->seconds > 0)
        printf("  %.3f of llvm-symbolizer", outcome->seconds / other->seconds);
    printf("\n");
}

static void write_list(const struct work *work, uint64_t base)
{
    FILE *out = fopen(work->list, "w");
    if (!out)
        exit(1);
    for (size_t i = 0; i < work->count; i++)
        fprintf(out, "0x%llx\n", (unsigned long long)(work->rvas[i] + base));
    fclose(out);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : argv[0];
    size_t wanted = argc > 2 ? strtoul(argv[2], NULL, 10) : 10000;
    size_t rounds = argc > 3 ? strtoul(argv[3], NULL, 10) : 5;
    static struct outcome first[ROUNDS_MAX], second[ROUNDS_MAX], llvm[ROUNDS_MAX];
    uint64_t *rvas = calloc(wanted + 1, sizeof(*rvas)), base;
    char directory[] = "/tmp/bench_symbol_XXXXXX", list[64], cache[64], command[128];
    if (!rvas || rounds == 0 || rounds > ROUNDS_MAX || !mkdtemp(directory))
        return 1;
    snprintf(list, sizeof(list), "%s/list", directory);
    snprintf(cache, sizeof(cache), "%s/cache", directory);
    struct work work = {.path = path, .list = list, .rvas = rvas};
    work.threads = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 0;
    work.count = pick_addresses(path, wanted, rvas, &base);
    write_list(&work, base);
    struct work cached = work;
    cached.cache_directory = cache;
    run_prof(&cached);
    for (size_t i = 0; i < rounds; i++) {
        first[i] = run_prof(&work);
        second[i] = run_prof(&cached);
        llvm[i] = run_llvm(&work);
    }
    snprintf(command, sizeof(command), "rm -r %s", directory);
    if (system(command) != 0)
        return 1;
    const struct outcome *other = median(llvm, rounds), *own = median(first, rounds);
    printf("%s: %zu addresses, %zu with a symbol, %zu frames\n", path, work.count, own->named, own->frames);
    print_run("first", own, other);
    print_run("second", median(second, rounds), other);
    print_run("llvm-symbolizer", other, NULL);
    if (work.threads == 1) { /* libdw serves one thread */
        work.reader = SYMBOL_READER_LIBDW;
        for (size_t i = 0; i < rounds; i++)
            first[i] = run_prof(&work);
        print_run("libdw", median(first, rounds), other);
    }
    free(rvas);
    return 0;
}
