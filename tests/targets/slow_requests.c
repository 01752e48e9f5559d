/*
 * Marked requests of about 0.1 ms, of which every 20th takes 40 ms more, for a known cause. Other programs seldom
 * interrupt the short ones.
 * build: -O0 -pthread -Iinclude -fno-omit-frame-pointer
 *
 *     slow_requests COUNT
 *
 * Each of three threads marks COUNT requests: "locked" waits for cache_lock, which the main thread holds, "received"
 * waits for a pipe, "computed" runs compute_slowly().
 */
#include <prof/marks.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { EVERY = 20, SLOW_MS = 40 };

static int count, request_pipe[2];
static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t wanted[2], held;
static volatile double result;

static void run_for(double ms)
{
    struct timespec from, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    do {
        for (int i = 0; i < 1000; i++)
            result = result * 0.5 + i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((double)(now.tv_sec - from.tv_sec) * 1e3 + (double)(now.tv_nsec - from.tv_nsec) / 1e6 < ms);
}

static void serve(void)
{
    run_for(0.1);
}

static void compute_slowly(void)
{
    run_for(SLOW_MS);
}

static void wait_for_lock(void)
{
    sem_post(&wanted[0]);
    sem_wait(&held);
    pthread_mutex_lock(&cache_lock);
    pthread_mutex_unlock(&cache_lock);
}

static void wait_for_pipe(void)
{
    char byte;
    sem_post(&wanted[1]);
    if (read(request_pipe[0], &byte, 1) != 1)
        exit(1);
}

struct worker {
    const char *name;
    void (*be_slow)(void);
};

static void *work(void *data)
{
    const struct worker *worker = data;
    prctl(PR_SET_NAME, worker->name);
    for (int i = 1; i <= count; i++) {
        prof_mark_begin(worker->name);
        serve();
        if (i % EVERY == 0)
            worker->be_slow();
        prof_mark_end(worker->name);
    }
    return NULL;
}

static const struct timespec slow = {.tv_nsec = SLOW_MS * 1000000L};

static void *send(void *unused)
{
    for (int i = 0; i < count / EVERY; i++) {
        sem_wait(&wanted[1]);
        nanosleep(&slow, NULL);
        if (write(request_pipe[1], "", 1) != 1)
            exit(1);
    }
    return unused;
}

int main(int argc, char **argv)
{
    static struct worker workers[] = {
        {"locked", wait_for_lock}, {"received", wait_for_pipe}, {"computed", compute_slowly}};
    pthread_t threads[4];
    count = argc > 1 ? atoi(argv[1]) : 100;
    if (pipe(request_pipe))
        return 1;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, &workers[i]);
    pthread_create(&threads[3], NULL, send, NULL);
    for (int i = 0; i < count / EVERY; i++) {
        sem_wait(&wanted[0]);
        pthread_mutex_lock(&cache_lock);
        sem_post(&held);
        nanosleep(&slow, NULL);
        pthread_mutex_unlock(&cache_lock);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
