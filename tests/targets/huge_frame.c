/*
 * Works below a function whose frame is 8 MiB large: more of a stack than a sampler can copy. Some numeric programs
 * keep their arrays there. usage: huge_frame SECONDS, of CPU time; raises the limit of its stack first
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 8 << 20 };

static volatile uint64_t sink;

__attribute__((noinline)) static void work(double seconds)
{
    struct timespec time;
    do {
        uint64_t x = sink + 1;
        for (int i = 0; i < 100000; i++)
            x = (x ^ (x >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
        sink = x;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    } while ((double)time.tv_sec + (double)time.tv_nsec / 1e9 < seconds);
}

__attribute__((noinline)) static uint64_t large(double seconds)
{
    volatile char array[SIZE];
    for (int i = 0; i < SIZE; i += 4096)
        array[i] = (char)i;
    work(seconds);
    return (uint64_t)array[0] + (uint64_t)array[SIZE - 1];
}

int main(int argc, char **argv)
{
    struct rlimit limit;
    getrlimit(RLIMIT_STACK, &limit);
    if (limit.rlim_cur < 4 * (rlim_t)SIZE) {
        limit.rlim_cur = 4 * (rlim_t)SIZE;
        if (setrlimit(RLIMIT_STACK, &limit))
            return 2;
        execv(argv[0], argv);
    }
    printf("%d\n", (int)large(argc > 1 ? atof(argv[1]) : 1));
    return 0;
}
