/* Work of known shares: hot() gets three parts of the loops and warm() one, in every thread. Prints the CPU time used,
 * which is what its threads would use in SECONDS if nothing else ran: a busy machine makes it longer, not less work.
 * usage: shares THREADS SECONDS */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sink;
static double wanted; /* seconds of CPU time, of all threads */

#define WORK(name, rounds)                                                                                             \
    __attribute__((noinline)) static void name(void)                                                                   \
    {                                                                                                                  \
        uint64_t x = sink + 1;                                                                                         \
        for (int i = 0; i < (rounds); i++)                                                                             \
            x = (x ^ (x >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);                                                        \
        sink = x;                                                                                                      \
    }
WORK(hot, 30000)
WORK(warm, 10000)

static double used(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *work(void *argument)
{
    char name[16];
    snprintf(name, sizeof(name), "worker-%d", (int)(intptr_t)argument);
    pthread_setname_np(pthread_self(), name);
    while (used() < wanted) {
        hot();
        warm();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 2;
    cpu_set_t cpus;
    int at_once = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : CPU_COUNT(&cpus);
    wanted = (argc > 2 ? atof(argv[2]) : 1) * (count < at_once ? count : at_once);
    pthread_t *threads = calloc((size_t)count, sizeof(*threads));
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i))
            return 1;
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("%.6f\n", used());
    free(threads);
    return 0;
}
