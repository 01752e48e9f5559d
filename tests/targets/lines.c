/*
 * Lines with known costs. The line HOT takes most of the time, for divisions. `often` calls its function for three
 * times as long as `seldom`. The rest of the time is in a call that the compiler inlines into the line INLINED.
 *
 *     lines [MILLISECONDS]    of its own CPU time
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static inline __attribute__((always_inline)) uint64_t mix(uint64_t x)
{
    for (int i = 0; i < 16; i++)
        x = (x ^ (x >> 31)) * UINT64_C(0x94d049bb133111eb); /* MIX */
    return x;
}

__attribute__((noinline)) static uint64_t divide(uint64_t x)
{
    for (uint64_t i = 1; i < 20000; i++) {
        x ^= UINT64_MAX / (x | i) + i; /* HOT */
        if (x == 42)
            puts("never");
    }
    return x;
}

__attribute__((noinline)) static uint64_t scramble(uint64_t x)
{
    for (uint64_t i = 1; i < 4000; i++)
        x += mix(x + i); /* INLINED */
    return x;
}

__attribute__((noinline)) static uint64_t often(uint64_t x)
{
    for (int i = 0; i < 3; i++)
        x = divide(x) + 1; /* CALL */
    return x + 1;
}

__attribute__((noinline)) static uint64_t seldom(uint64_t x)
{
    x = divide(x) + 1;
    for (uint64_t i = 1; i < 1500; i++)
        x ^= mix(x);
    return x;
}

int main(int argc, char **argv)
{
    double end = now() + (argc > 1 ? atof(argv[1]) : 1000);
    uint64_t x = 1;
    while (now() < end)
        x = scramble(often(x) + seldom(x));
    printf("%d\n", (int)(x & 1));
    return 0;
}
