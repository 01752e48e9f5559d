/*
 * Threads and processes whose critical path is known. usage: critical_path SHAPE; build: -O1 -fno-inline -pthread
 *
 *     locks        main waits for a lock of first(), which waits for a lock of second(), which computes
 *     pipeline     main reads a pipe from middle(), which reads a pipe from source()
 *     fork_join    main joins four threads, of which slow() computes longest
 *     child        main waits for a process, which waits for a process that computes
 *     inversion    main waits for a lock whose holder is preempted by busy threads on its CPU
 *     herd         eight threads wait for a condition that setter() broadcasts; main joins them
 *     call         main sends a request through a socket pair to a server process, which computes
 *     semaphores   main consumes what producer() computes, three times
 *     barrier      four threads meet at a barrier, of which slow() computes longest
 *     holder       main waits for a lock whose holder sleeps
 *
 * Prints one line of JSON: when the measured part began and ended on CLOCK_MONOTONIC (ns), and for each part of its
 * critical path the function, the name of its thread, and its length by the clock of that thread (ms).
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MS = 1000000, PARTS_MAX = 16, HERD = 8 };

struct part {
    const char *function, *thread;
    double ms;
};

/* Shared with child processes. */
static struct shared {
    struct part parts[PARTS_MAX];
    int count;
} * shared;

static volatile uint64_t sink;

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void note(const char *function, const char *thread, int64_t since)
{
    int at = __atomic_fetch_add(&shared->count, 1, __ATOMIC_SEQ_CST);
    if (at < PARTS_MAX)
        shared->parts[at] = (struct part){function, thread, (double)(now() - since) / MS};
}

static void compute(int ms)
{
    for (int64_t end = now() + (int64_t)ms * MS; now() < end;)
        for (int i = 0; i < 1000; i++)
            sink += (uint64_t)i;
}

static void pause_for(int ms)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)ms * MS}, NULL);
}

static pthread_t start(void *(*function)(void *), void *argument, const char *name)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, argument))
        exit(1);
    pthread_setname_np(thread, name);
    return thread;
}

/* Pairs of CPUs do not matter here: threads of all shapes but one wait for each other. */
static pthread_mutex_t lock_a = PTHREAD_MUTEX_INITIALIZER, lock_b = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t ready, taken;
static bool is_set;

/* ---- locks ---- */

/* Waits until another thread waits for the lock, as glibc marks it. */
static void await_waiter(const pthread_mutex_t *lock)
{
    while (*(const volatile int *)lock != 2)
        pause_for(1);
}

static void *second(void *unused)
{
    int64_t since = now();
    pthread_mutex_lock(&lock_b);
    sem_post(&ready);
    await_waiter(&lock_b);
    await_waiter(&lock_a);
    compute(40);
    note("second", "second", since);
    pthread_mutex_unlock(&lock_b);
    return unused;
}

static void *first(void *unused)
{
    sem_wait(&ready);
    pthread_mutex_lock(&lock_a);
    sem_post(&taken);
    pthread_mutex_lock(&lock_b);
    int64_t since = now();
    compute(20);
    note("first", "first", since);
    pthread_mutex_unlock(&lock_b);
    pthread_mutex_unlock(&lock_a);
    return unused;
}

static void locks(void)
{
    pthread_t threads[] = {start(second, NULL, "second"), start(first, NULL, "first")};
    sem_wait(&taken);
    pthread_mutex_lock(&lock_a);
    int64_t since = now();
    compute(15);
    note("locks", "critical_path", since);
    pthread_mutex_unlock(&lock_a);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

/* ---- pipeline ---- */

static int pipes[2][2];

static void *source(void *unused)
{
    for (int i = 0; i < 3; i++) {
        int64_t since = now();
        compute(20);
        note("source", "source", since);
        if (write(pipes[0][1], "x", 1) != 1)
            exit(1);
    }
    return unused;
}

static void *middle(void *unused)
{
    char byte;
    for (int i = 0; i < 3; i++) {
        if (read(pipes[0][0], &byte, 1) != 1)
            exit(1);
        int64_t since = now();
        compute(10);
        if (i == 2)
            note("middle", "middle", since);
        if (write(pipes[1][1], "x", 1) != 1)
            exit(1);
    }
    return unused;
}

static void pipeline(void)
{
    char byte;
    if (pipe(pipes[0]) || pipe(pipes[1]))
        exit(1);
    pthread_t threads[] = {start(source, NULL, "source"), start(middle, NULL, "middle")};
    for (int i = 0; i < 3; i++)
        if (read(pipes[1][0], &byte, 1) != 1)
            exit(1);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

/* ---- fork_join ---- */

static void *quick(void *unused)
{
    pause_for(20);
    return unused;
}

static void *slow(void *unused)
{
    int64_t since = now();
    compute(60);
    note("slow", "slow", since);
    return unused;
}

static void fork_join(void)
{
    pthread_t threads[] = {start(quick, NULL, "quick"), start(quick, NULL, "quick"), start(slow, NULL, "slow"),
                           start(quick, NULL, "quick")};
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    int64_t since = now();
    compute(15);
    note("fork_join", "critical_path", since);
}

/* ---- child ---- */

static void grandchild(void)
{
    prctl(PR_SET_NAME, "grandchild");
    int64_t since = now();
    compute(50);
    note("grandchild", "grandchild", since);
    _exit(0);
}

static void parent(void)
{
    prctl(PR_SET_NAME, "parent");
    if (fork() == 0)
        grandchild();
    wait(NULL);
    int64_t since = now();
    compute(20);
    note("parent", "parent", since);
    _exit(0);
}

static void child(void)
{
    if (fork() == 0)
        parent();
    wait(NULL);
}

/* ---- inversion ---- */

static void bind_to_cpu(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

static bool is_over;

static void *busy(void *unused)
{
    bind_to_cpu(1);
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED))
        compute(1);
    return unused;
}

/* Computes for 30 ms of its CPU time. */
static void hold(void)
{
    struct timespec time;
    int64_t end = 0;
    do {
        for (int i = 0; i < 1000; i++)
            sink += (uint64_t)i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        end = end ? end : (int64_t)time.tv_sec * 1000000000 + time.tv_nsec + 30 * MS;
    } while ((int64_t)time.tv_sec * 1000000000 + time.tv_nsec < end);
}

static void *holder_of_low_priority(void *unused)
{
    bind_to_cpu(1);
    pthread_mutex_lock(&lock_a);
    sem_post(&ready);
    int64_t since = now();
    hold();
    shared->parts[shared->count++] = (struct part){"hold", "low", 30};
    shared->parts[shared->count++] = (struct part){"(runnable)", "low", (double)(now() - since) / MS - 30};
    pthread_mutex_unlock(&lock_a);
    return unused;
}

static void inversion(void)
{
    bind_to_cpu(0);
    sem_init(&ready, 0, 0);
    pthread_t threads[] = {start(busy, NULL, "busy"), start(busy, NULL, "busy"),
                           start(holder_of_low_priority, NULL, "low")};
    sem_wait(&ready);
    pthread_mutex_lock(&lock_a);
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock_a);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

/* ---- herd ---- */

static void *setter(void *unused)
{
    int64_t since = now();
    compute(40);
    note("setter", "setter", since);
    pthread_mutex_lock(&lock_a);
    is_set = true;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&lock_a);
    return unused;
}

static void *of_the_herd(void *unused)
{
    pthread_mutex_lock(&lock_a);
    while (!is_set)
        pthread_cond_wait(&condition, &lock_a);
    int64_t since = now();
    compute(10); /* one after the other, with the lock */
    note("of_the_herd", "herd", since);
    pthread_mutex_unlock(&lock_a);
    return unused;
}

static void herd(void)
{
    pthread_t threads[HERD];
    for (int i = 0; i < HERD; i++)
        threads[i] = start(of_the_herd, NULL, "herd");
    pthread_t last = start(setter, NULL, "setter");
    for (int i = 0; i < HERD; i++)
        pthread_join(threads[i], NULL);
    pthread_join(last, NULL);
}

/* ---- call ---- */

static void serve(int fd)
{
    char byte;
    prctl(PR_SET_NAME, "server");
    while (read(fd, &byte, 1) == 1) {
        int64_t since = now();
        compute(25);
        note("serve", "server", since);
        if (write(fd, "y", 1) != 1)
            _exit(1);
    }
    _exit(0);
}

static void call(void)
{
    int fds[2];
    char byte;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
        exit(1);
    if (fork() == 0) {
        close(fds[0]);
        serve(fds[1]);
    }
    close(fds[1]);
    for (int i = 0; i < 3; i++) {
        int64_t since = now();
        compute(25);
        note("call", "critical_path", since);
        if (write(fds[0], "x", 1) != 1 || read(fds[0], &byte, 1) != 1)
            exit(1);
    }
}

/* ---- semaphores ---- */

static void *producer(void *unused)
{
    for (int i = 0; i < 3; i++) {
        int64_t since = now();
        compute(20);
        note("producer", "producer", since);
        sem_post(&ready);
        sem_wait(&taken);
    }
    return unused;
}

static void semaphores(void)
{
    sem_init(&ready, 0, 0);
    sem_init(&taken, 0, 0);
    pthread_t thread = start(producer, NULL, "producer");
    for (int i = 0; i < 3; i++) {
        sem_wait(&ready);
        int64_t since = now();
        compute(25);
        note("semaphores", "critical_path", since);
        sem_post(&taken);
    }
    pthread_join(thread, NULL);
}

/* ---- barrier ---- */

static void *meet(void *name)
{
    int64_t since = now();
    if (name)
        compute(50);
    else
        pause_for(10);
    if (name)
        note("meet", name, since);
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void meeting(void)
{
    pthread_barrier_init(&barrier, NULL, 4);
    pthread_t threads[] = {start(meet, NULL, "quick"), start(meet, "slow", "slow"), start(meet, NULL, "quick")};
    pthread_barrier_wait(&barrier);
    int64_t since = now();
    compute(15);
    note("meeting", "critical_path", since);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

/* ---- holder ---- */

static void *sleeping_holder(void *unused)
{
    pthread_mutex_lock(&lock_a);
    int64_t since = now();
    pause_for(50);
    note("(sleep)", "sleeper", since);
    pthread_mutex_unlock(&lock_a);
    return unused;
}

static void holder(void)
{
    pthread_t thread = start(sleeping_holder, NULL, "sleeper");
    pause_for(10);
    pthread_mutex_lock(&lock_a);
    int64_t since = now();
    compute(15);
    note("holder", "critical_path", since);
    pthread_mutex_unlock(&lock_a);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } shapes[] = {{"locks", locks},         {"pipeline", pipeline},
                  {"fork_join", fork_join}, {"child", child},
                  {"inversion", inversion}, {"herd", herd},
                  {"call", call},           {"barrier", meeting},
                  {"holder", holder},       {"semaphores", semaphores}};
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    for (size_t i = 0; argc == 2 && i < sizeof(shapes) / sizeof(*shapes); i++) {
        if (strcmp(shapes[i].name, argv[1]) != 0)
            continue;
        pause_for(50); /* apart from the start of the program */
        int64_t since = now();
        shapes[i].run();
        printf("{\"from_ns\": %lld, \"to_ns\": %lld, \"parts\": [", (long long)since, (long long)now());
        for (int k = 0; k < shared->count && k < PARTS_MAX; k++)
            printf("%s{\"function\": \"%s\", \"thread\": \"%s\", \"ms\": %.3f}", k ? ", " : "",
                   shared->parts[k].function, shared->parts[k].thread, shared->parts[k].ms);
        puts("]}");
        return 0;
    }
    fprintf(stderr, "usage: critical_path SHAPE\n");
    return 2;
}
