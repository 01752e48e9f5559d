/*
 * Work of known shares in three functions: half() 50 %, third() 30 %, fifth() 20 % of the CPU time, in calls of 5 to 20
 * us that come in an order that depends on the seed. With "sleep" the thread sleeps after each round of ten calls, so
 * that few ticks find it at work. usage: thirds SECONDS SEED [sleep]; the seconds are of CPU time
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;

#define WORK(name)                                                                                                     \
    __attribute__((noinline)) static void name(unsigned steps)                                                         \
    {                                                                                                                  \
        uint64_t x = sink + 1;                                                                                         \
        for (unsigned i = 0; i < steps; i++)                                                                           \
            x = (x ^ (x >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);                                                        \
        sink = x;                                                                                                      \
    }

WORK(half)
WORK(third)
WORK(fifth)

int main(int argc, char **argv)
{
    static void (*const functions[10])(unsigned) = {half, half, half, half, half, third, third, third, fifth, fifth};
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    srand(argc > 2 ? (unsigned)atoi(argv[2]) : 1);
    struct timespec time;
    do {
        unsigned first = (unsigned)rand() % 10, steps = 2000 + (unsigned)rand() % 6000;
        unsigned stride = (unsigned[]){1, 3, 7, 9}[rand() % 4];
        for (unsigned i = 0; i < 10; i++)
            functions[(first + i * stride) % 10](steps);
        if (argc > 3)
            usleep(300);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    } while ((double)time.tv_sec + (double)time.tv_nsec / 1e9 < seconds);
    return 0;
}
