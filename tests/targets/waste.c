/*
 * A program with a thread that burns CPU for nothing: "watcher" asks all the time whether something has changed, and
 * takes twice the CPU time of the two "render" threads, which work; "logger" sleeps nearly always. Every thread ends by
 * the CPU time that it has used, so the shares are the same on a busy machine.
 *
 *     waste [MILLISECONDS]     of CPU time for each render thread (300)
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double work_ms = 300;
static atomic_int changes;
static volatile uint64_t sink;

static double cpu_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

__attribute__((noinline)) static void draw_frame(void)
{
    uint64_t x = sink + 1;
    for (int i = 0; i < 200000; i++)
        x = (x ^ (x >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
    sink = x;
}

__attribute__((noinline)) static int poll_changes(void)
{
    int seen = 0;
    for (int i = 0; i < 100000; i++)
        seen += atomic_load(&changes);
    return seen;
}

static void *render(void *unused)
{
    while (cpu_ms() < work_ms)
        draw_frame();
    return unused;
}

static void *watch(void *unused)
{
    while (cpu_ms() < 2 * work_ms && poll_changes() == 0) {
    }
    return unused;
}

static void *log_lines(void *unused)
{
    for (int i = 0; i < 20; i++)
        usleep(10000);
    return unused;
}

int main(int argc, char **argv)
{
    static void *(*const bodies[])(void *) = {render, render, watch, log_lines};
    static const char *const names[] = {"render-1", "render-2", "watcher", "logger"};
    enum { THREADS = sizeof(bodies) / sizeof(*bodies) };
    pthread_t threads[THREADS];
    if (argc > 1)
        work_ms = atof(argv[1]);
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, bodies[i], NULL))
            return 1;
        pthread_setname_np(threads[i], names[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    puts("drawn");
    return 0;
}
