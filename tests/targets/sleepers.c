/*
 * Many threads that sleep, and one that runs. build: -O2 -pthread
 *
 *     sleepers THREADS SECONDS [MS]
 *
 * MS: they wake this often.
 */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile long sink;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void *sleeper(void *interval)
{
    for (;;)
        nanosleep(interval, NULL);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 3 || argc > 4)
        return 2;
    long ms = argc == 4 ? atol(argv[3]) : 1000000;
    struct timespec interval = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 * 1024);
    for (int i = 0; i < atoi(argv[1]); i++) {
        pthread_t thread;
        if (pthread_create(&thread, &small, sleeper, &interval))
            return 1;
    }
    for (double end = now() + atof(argv[2]); now() < end;)
        for (int i = 0; i < 10000; i++)
            sink += i;
    _exit(0);
}
