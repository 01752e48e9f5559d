/*
 * Times reading the names of JIT code: a perf map and a jitdump file of 100,000 functions.
 *
 *     bench_jit [FUNCTIONS [ADDRESSES [ROUNDS]]]
 *
 * prints the medians of ROUNDS rounds, in CPU time:
 *
 *     perf map    to find the name in the first line, for which all lines are parsed; the ratio to counting its lines;
 *                 and what each of ADDRESSES random addresses takes besides
 *     jitdump     to read the file; the ratio to reading its bytes; and what finding the code at a random address at a
 *                 random time takes, as for each frame of a sample that differs from the sample before
 */
#include "symbol/jitdump.h"
#include "symbol/perf_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS_MAX = 99, CODE_SIZE = 256, SPACING = 512, CODE_START = 0x10000000 };

/* CPU time: all files are in memory, and what other programs do does not count. */
static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), ascending);
    return values[count / 2];
}

static void fail(const char *what)
{
    fprintf(stderr, "bench_jit: %s\n", what);
    exit(1);
}

static FILE *new_file(int *fd)
{
    *fd = memfd_create("bench", MFD_CLOEXEC);
    int copy = *fd < 0 ? -1 : dup(*fd);
    FILE *file = copy < 0 ? NULL : fdopen(copy, "w");
    if (!file)
        fail("no file in memory can be made");
    return file;
}

static uint64_t address_of(size_t function)
{
    return CODE_START + (uint64_t)function * SPACING;
}

/* As node writes them, each function twice: interpreted and optimized. */
static int write_map(size_t functions)
{
    int fd;
    FILE *file = new_file(&fd);
    for (size_t i = 0; i < functions; i++)
        fprintf(file, "%lx %x JS:%cfunction_%zu /home/user/project/src/module_%zu.js:%zu:%zu\n",
                (unsigned long)address_of(i), CODE_SIZE, i & 1 ? '*' : '~', i, i / 50, 1 + i % 1000, 1 + i % 80);
    if (fclose(file))
        fail("the perf map cannot be written");
    return fd;
}

static void put(FILE *file, uint64_t value, size_t size)
{
    fwrite(&value, size, 1, file);
}

static int write_dump(size_t functions)
{
    static const char code[CODE_SIZE];
    int fd;
    FILE *file = new_file(&fd);
    fwrite("DTiJ", 4, 1, file);
    put(file, 1, 4);
    put(file, 40, 4);
    put(file, 62, 4);
    put(file, 0, 8);
    put(file, 0, 8);
    put(file, 0, 8);
    for (size_t i = 0; i < functions; i++) {
        char name[128];
        size_t length = (size_t)snprintf(name, sizeof(name),
                                         "JS:*function_%zu /home/user/project/src/module_%zu.js:1:1", i, i / 50) +
                        1;
        put(file, 0, 4);
        put(file, 16 + 40 + length + sizeof(code), 4);
        put(file, 1000 + i, 8); /* time */
        put(file, 0, 8);
        put(file, address_of(i), 8);
        put(file, address_of(i), 8);
        put(file, sizeof(code), 8);
        put(file, i, 8);
        fwrite(name, length, 1, file);
        fwrite(code, sizeof(code), 1, file);
    }
    if (fclose(file))
        fail("the jitdump file cannot be written");
    return fd;
}

/* Reads the file in the same steps, and looks for its newlines. */
static double read_plainly(int fd, bool count_lines)
{
    enum { STEP = 1 << 20 };
    static char buffer[STEP];
    volatile size_t lines = 0;
    double before = now_ms();
    off_t at = 0;
    for (ssize_t got; (got = pread(fd, buffer, STEP, at)) > 0; at += got)
        for (const char *p = buffer, *end = buffer + got; count_lines && (p = memchr(p, '\n', (size_t)(end - p))); p++)
            lines = lines + 1;
    return now_ms() - before;
}

static double find_names(int fd, const uint64_t *addresses, size_t count)
{
    struct perf_map_name *names = calloc(count, sizeof(*names));
    struct perf_map_counts counts;
    struct arena arena = {0};
    double before = now_ms();
    if (!names || perf_map_find(fd, addresses, count, names, &arena, &counts, NULL))
        fail("the perf map cannot be read");
    double taken = now_ms() - before;
    for (size_t i = 0; i < count; i++)
        if (!names[i].text)
            fail("an address has no name");
    arena_destroy(&arena);
    free(names);
    return taken;
}

/* One address in each of `count` functions, of which the first is one. */
static uint64_t *pick(size_t functions, size_t count)
{
    uint64_t *addresses = malloc((count + 1) * sizeof(*addresses));
    if (!addresses)
        fail("memory ran out");
    for (size_t i = 0; i < count; i++)
        addresses[i] = address_of(i * functions / count) + i % CODE_SIZE;
    return addresses;
}

static void bench_map(size_t functions, size_t count, size_t rounds)
{
    int fd = write_map(functions);
    uint64_t *addresses = pick(functions, count);
    double plain[ROUNDS_MAX], one[ROUNDS_MAX], all[ROUNDS_MAX];
    for (size_t i = 0; i < rounds; i++) {
        plain[i] = read_plainly(fd, true);
        one[i] = find_names(fd, addresses, 1);
        all[i] = find_names(fd, addresses, count);
    }
    double read = median(one, rounds), more = median(all, rounds) - read;
    printf("perf map of %zu functions (%.1f MB): read %.1f ms, %.1f times counting its lines; %.0f ns more for each of "
           "%zu "
           "addresses\n",
           functions, (double)lseek(fd, 0, SEEK_END) / 1e6, read, read / median(plain, rounds),
           1e6 * (more > 0 ? more : 0) / (double)count, count);
    free(addresses);
    close(fd);
}

struct question {
    uint64_t address, time;
};

static struct question *ask(size_t functions, size_t count)
{
    struct question *questions = malloc(count * sizeof(*questions));
    if (!questions)
        fail("memory ran out");
    srand48(1);
    for (size_t i = 0; i < count; i++) {
        questions[i].address = address_of((size_t)(drand48() * (double)functions)) + i % CODE_SIZE;
        questions[i].time = 1000 + (uint64_t)(drand48() * 2 * (double)functions);
    }
    return questions;
}

static double find_code(const struct jitdump *dump, const struct question *questions, size_t count)
{
    size_t found = 0;
    double before = now_ms();
    for (size_t i = 0; i < count; i++)
        found += jit_history_find(&dump->history, questions[i].address, questions[i].time) != JIT_HISTORY_NONE;
    double taken = now_ms() - before;
    if (!found)
        fail("no code was found");
    return taken;
}

static void bench_dump(size_t functions, size_t count, size_t rounds)
{
    int fd = write_dump(functions);
    struct question *questions = ask(functions, count);
    double plain[ROUNDS_MAX], read[ROUNDS_MAX], find[ROUNDS_MAX];
    for (size_t i = 0; i < rounds; i++) {
        struct jitdump dump;
        plain[i] = read_plainly(fd, false);
        double before = now_ms();
        if (jitdump_read(&dump, fd, NULL) || dump.codes.length != functions)
            fail("the jitdump file cannot be read");
        read[i] = now_ms() - before;
        find[i] = find_code(&dump, questions, count);
        jitdump_destroy(&dump);
    }
    double reading = median(read, rounds);
    printf("jitdump of %zu functions (%.1f MB): read %.1f ms, %.1f times reading its bytes; %.0f ns for the code at an "
           "address at a time\n",
           functions, (double)lseek(fd, 0, SEEK_END) / 1e6, reading, reading / median(plain, rounds),
           1e6 * median(find, rounds) / (double)count);
    free(questions);
    close(fd);
}

static size_t number_at(int argc, char **argv, int at, size_t otherwise)
{
    return argc > at ? strtoul(argv[at], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
    size_t functions = number_at(argc, argv, 1, 100000), count = number_at(argc, argv, 2, 20000);
    size_t rounds = number_at(argc, argv, 3, 9);
    if (!functions || !count || count > functions || !rounds || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: bench_jit [FUNCTIONS [ADDRESSES [ROUNDS]]]\n");
        return 2;
    }
    bench_map(functions, count, rounds);
    bench_dump(functions, count, rounds);
    return 0;
}
