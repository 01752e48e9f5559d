/*
 * A program with one known problem, which the findings of a profile name. build: -O1 -pthread -fno-omit-frame-pointer
 *
 *     problems NAME
 *
 * computes for 100 ms of CPU time, or waits for half a second.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 500, CPU_MS = 100, THREADS = 6, BLOCK = 64 << 20 };

static volatile unsigned result;
static double start; /* ms */

static double read_clock(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static int should_wait(void)
{
    return read_clock(CLOCK_MONOTONIC) < start + WAIT_MS;
}

static int should_compute(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID) < CPU_MS;
}

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static __attribute__((noinline)) void compute(unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        result = result * 3 + i;
}

static __attribute__((noinline)) void parse(unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        result += i;
}

static __attribute__((noinline)) void scan_table(unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++) {
        result ^= i;
        result /= (i | 1) + result % 7; /* the hot line */
    }
}

static void run_threads(void *(*work)(void *), long count)
{
    pthread_t threads[THREADS];
    for (long i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static void run_hot_function(void)
{
    while (should_compute()) {
        compute(800000);
        parse(100000);
    }
}

static void run_hot_line(void)
{
    while (should_compute())
        scan_table(100000);
}

static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;

static void *look_up(void *unused)
{
    while (should_wait()) {
        pthread_mutex_lock(&cache_lock);
        sleep_ms(5);
        pthread_mutex_unlock(&cache_lock);
    }
    return unused;
}

static sem_t connections;

static __attribute__((noinline)) void acquire_connection(void)
{
    while (sem_wait(&connections))
        continue;
}

static void *serve_requests(void *unused)
{
    while (should_wait()) {
        acquire_connection();
        sleep_ms(5);
        sem_post(&connections);
    }
    return unused;
}

static void run_small_pool(void)
{
    sem_init(&connections, 0, 1);
    run_threads(serve_requests, THREADS);
}

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t pool_returned = PTHREAD_COND_INITIALIZER;
static int pool_free = 2;

static __attribute__((noinline)) void acquire_from_pool(void)
{
    pthread_mutex_lock(&pool_lock);
    while (!pool_free)
        pthread_cond_wait(&pool_returned, &pool_lock);
    pool_free--;
    pthread_mutex_unlock(&pool_lock);
}

static __attribute__((noinline)) void run_query(void)
{
    sleep_ms(5);
}

static __attribute__((noinline)) void return_to_pool(void)
{
    pthread_mutex_lock(&pool_lock);
    pool_free++;
    pthread_mutex_unlock(&pool_lock);
    pthread_cond_signal(&pool_returned);
}

static void *serve_from_pool(void *unused)
{
    while (should_wait()) {
        acquire_from_pool();
        run_query();
        return_to_pool();
    }
    return unused;
}

static void run_pool(void)
{
    run_threads(serve_from_pool, THREADS);
}

static pthread_rwlock_t routes_lock = PTHREAD_RWLOCK_INITIALIZER;

static __attribute__((noinline)) void reload_routes(void)
{
    pthread_rwlock_wrlock(&routes_lock);
    sleep_ms(20);
    pthread_rwlock_unlock(&routes_lock);
}

static __attribute__((noinline)) void find_route(void)
{
    pthread_rwlock_rdlock(&routes_lock);
    pthread_rwlock_unlock(&routes_lock);
}

static void *find_or_reload_routes(void *number)
{
    while (should_wait()) {
        if (number)
            find_route();
        else
            reload_routes();
        sleep_ms(5);
    }
    return NULL;
}

static void run_slow_writer(void)
{
    run_threads(find_or_reload_routes, THREADS);
}

static __attribute__((noinline)) void poll_status(void)
{
    sleep_ms(10);
}

static void run_sleeps(void)
{
    while (should_wait())
        poll_status();
}

static __attribute__((noinline)) void save_record(int file)
{
    if (write(file, "record", 6) == 6)
        fsync(file);
}

static void run_syncs(void)
{
    char name[] = "problems.XXXXXX";
    int file = mkstemp(name);
    unlink(name);
    while (should_wait())
        save_record(file);
    close(file);
}

static pthread_mutex_t work_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work_ends = PTHREAD_COND_INITIALIZER;
static int has_ended;

static void *work_or_wait(void *number)
{
    if (!number)
        run_hot_function();
    pthread_mutex_lock(&work_lock);
    has_ended |= !number;
    while (!has_ended)
        pthread_cond_wait(&work_ends, &work_lock);
    pthread_cond_broadcast(&work_ends);
    pthread_mutex_unlock(&work_lock);
    return NULL;
}

static void *compute_all(void *unused)
{
    run_hot_function();
    return unused;
}

static void run_too_many_threads(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    sched_setaffinity(0, sizeof(one), &one);
    run_threads(compute_all, THREADS);
}

static void run_child(void)
{
    pid_t child = fork();
    if (!child) {
        run_hot_function();
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static __attribute__((noinline)) void build_list(void)
{
    enum { COUNT = 1000 };
    void *nodes[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        nodes[i] = malloc(24 + i * 7 % 900);
    for (size_t i = 0; i < COUNT; i++)
        free(nodes[i * 7 % COUNT]);
}

static void run_allocations(void)
{
    while (should_compute())
        build_list();
}

static __attribute__((noinline)) void fill_buffer(void)
{
    char *block = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < BLOCK; i += 4096)
        block[i] = 1;
    munmap(block, BLOCK);
}

static void run_page_faults(void)
{
    while (should_compute())
        fill_buffer();
}

static __attribute__((noinline)) void copy_bytes(int from, int to)
{
    char byte;
    for (int i = 0; i < 1000; i++)
        if (read(from, &byte, 1) == 1 && write(to, &byte, 1) != 1)
            abort();
}

static void run_system_calls(void)
{
    int from = open("/dev/zero", O_RDONLY), to = open("/dev/null", O_WRONLY);
    while (should_compute())
        copy_bytes(from, to);
    close(from);
    close(to);
}

static void run_lock(void)
{
    run_threads(look_up, THREADS);
}

static void run_one_thread(void)
{
    run_threads(work_or_wait, THREADS);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } problems[] = {{"hot-function", run_hot_function},
                    {"hot-line", run_hot_line},
                    {"lock", run_lock},
                    {"small-pool", run_small_pool},
                    {"pool", run_pool},
                    {"slow-writer", run_slow_writer},
                    {"sleep", run_sleeps},
                    {"sync", run_syncs},
                    {"one-thread", run_one_thread},
                    {"too-many-threads", run_too_many_threads},
                    {"child", run_child},
                    {"allocations", run_allocations},
                    {"page-faults", run_page_faults},
                    {"system-calls", run_system_calls}};
    start = read_clock(CLOCK_MONOTONIC);
    for (size_t i = 0; argc > 1 && i < sizeof(problems) / sizeof(*problems); i++)
        if (strcmp(argv[1], problems[i].name) == 0)
            return problems[i].run(), 0;
    fprintf(stderr, "usage: problems NAME\n");
    return 2;
}
