/*
 * Tells how much of its time interrupts take: it reads the clock over and over, and what passes between two readings
 * that took long was not its own. What takes longer than an interrupt (another program had the CPU, the host took it)
 * is left out. The call stack is 50 functions deep, 16 KB. For tests/bench/bench_slowdown.
 *
 * usage: interruptions SECONDS
 * Prints the share of the time that interrupts took, how many came a second, and their median in us.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    SHORTEST_NS = 1000, /* a reading of the clock takes 20 to 50 ns */
    LONGEST_NS = 150000,
    STEP_NS = 100
};

static uint64_t counts[LONGEST_NS / STEP_NS];

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void count_for(double seconds)
{
    uint64_t start = now(), last = start, end = start + (uint64_t)(seconds * 1e9), taken = 0, left_out = 0, total = 0;
    while (last < end) {
        uint64_t time = now(), passed = time - last;
        last = time;
        if (passed >= LONGEST_NS) {
            left_out += passed;
        } else if (passed >= SHORTEST_NS) {
            taken += passed;
            counts[passed / STEP_NS]++;
            total++;
        }
    }
    uint64_t below = 0;
    size_t median = 0;
    while (median < LONGEST_NS / STEP_NS - 1 && (below += counts[median]) < total / 2)
        median++;
    double looked_at = (double)(last - start - left_out);
    printf("%.6f %.0f %.1f\n", (double)taken / looked_at, (double)total / looked_at * 1e9,
           (double)median * STEP_NS / 1000);
}

static void descend(int depth, double seconds)
{
    volatile char local[256];
    memset((void *)local, depth, sizeof(local));
    if (depth)
        descend(depth - 1, seconds);
    else
        count_for(seconds);
    local[0]++;
}

int main(int argc, char **argv)
{
    descend(50, argc > 1 ? atof(argv[1]) : 1);
}
