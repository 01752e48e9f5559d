/*
 * How fast a program is symbolized, against llvm-symbolizer in the same run.
 *
 *     bench_symbol [FILE [ADDRESSES [ROUNDS [THREADS]]]]
 *
 * takes ADDRESSES random places inside the functions of FILE (itself), the same ones for both, and prints the medians
 * of ROUNDS alternating runs and their ratio. bench_symbol_big has files that are worth it.
 */
#include "symbol/elf_file.h"
#include "symbol/symbol.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
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

static int ascending_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static const struct elf_section *find_table(const struct elf_file *file)
{
    const struct elf_section *table = elf_file_section(file, ".symtab");
    return table ? table : elf_file_section(file, ".dynsym");
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
    unsigned char *raw = table ? bytes_load(&table->bytes) : NULL;
    struct cursor c = raw ? cursor_of(raw, (size_t)table->bytes.size) : (struct cursor){0};
    ARRAY(struct elf_symbol) functions = {0};
    while (cursor_left(&c) >= elf_symbol_size(&file)) {
        struct elf_symbol symbol = elf_symbol_read(&file, &c);
        if ((symbol.info & 0xf) == STT_FUNC && symbol.size && symbol.section != SHN_UNDEF &&
            !array_push(&functions, symbol))
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
    free(raw);
    elf_file_close(&file);
    return count;
}

static double time_ours(const char *path, const uint64_t *rvas, size_t count, unsigned threads, size_t *frames,
                        size_t *named)
{
    struct symbolizer_options options = {.threads = threads};
    struct error err;
    double start = now();
    struct symbolizer *symbolizer = symbolizer_new(&options, &err);
    struct symbol_answers answers;
    struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF, .name = path, .path = path};
    if (!symbolizer || symbolizer_lookup(symbolizer, &lib, rvas, count, &answers, &err) != 0) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    double elapsed = now() - start;
    *frames = answers.frames.length;
    *named = 0;
    for (size_t i = 0; i < answers.count; i++)
        *named += answers.answers[i].symbol != NULL;
    symbol_answers_destroy(&answers);
    symbolizer_free(symbolizer);
    return elapsed;
}

static double time_llvm(const char *path, const char *list)
{
    char command[8192];
    snprintf(command, sizeof(command), "llvm-symbolizer --obj='%s' <'%s' >/dev/null", path, list);
    double start = now();
    if (system(command) != 0)
        return 0;
    return now() - start;
}

static void write_list(const char *list, const uint64_t *rvas, size_t count, uint64_t base)
{
    FILE *out = fopen(list, "w");
    if (!out)
        exit(1);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "0x%llx\n", (unsigned long long)(rvas[i] + base));
    fclose(out);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : argv[0];
    size_t wanted = argc > 2 ? strtoul(argv[2], NULL, 10) : 10000;
    size_t rounds = argc > 3 ? strtoul(argv[3], NULL, 10) : 5;
    unsigned threads = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 0;
    double ours[ROUNDS_MAX], llvm[ROUNDS_MAX];
    uint64_t *rvas = calloc(wanted + 1, sizeof(*rvas)), base;
    if (!rvas || rounds == 0 || rounds > ROUNDS_MAX)
        return 1;
    size_t count = pick_addresses(path, wanted, rvas, &base), frames = 0, named = 0;
    char list[] = "/tmp/bench_symbol_XXXXXX";
    int fd = mkstemp(list);
    if (fd < 0)
        return 1;
    close(fd);
    write_list(list, rvas, count, base);
    for (size_t i = 0; i < rounds; i++) {
        ours[i] = time_ours(path, rvas, count, threads, &frames, &named);
        llvm[i] = time_llvm(path, list);
    }
    unlink(list);
    qsort(ours, rounds, sizeof(*ours), ascending_doubles);
    qsort(llvm, rounds, sizeof(*llvm), ascending_doubles);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double own = ours[rounds / 2], other = llvm[rounds / 2];
    printf("%s: %zu addresses, %zu with a symbol, %zu frames: prof %.3f s (best %.3f), peak %ld MB; llvm-symbolizer "
           "%.3f s; ratio %.3f\n",
           path, count, named, frames, own, ours[0], usage.ru_maxrss / 1024, other, other > 0 ? own / other : 0);
    free(rvas);
    return 0;
}
