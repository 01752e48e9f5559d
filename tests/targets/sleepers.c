/*
 * Many threads that sleep, and one that runs. build: -O2 -pthread
 *
 *     sleepers THREADS SECONDS
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

static void *sleeper(void *unused)
{
    for (;;)
        sleep(1000);
    return unused;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 * 1024);
    for (int i = 0; i < atoi(argv[1]); i++) {
        pthread_t thread;
        if (pthread_create(&thread, &small, sleeper, NULL))
            return 1;
    }
    for (double end = now() + atof(argv[2]); now() < end;)
        for (int i = 0; i < 10000; i++)
            sink += i;
    _exit(0);
}
