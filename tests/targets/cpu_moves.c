/*
 * A thread that moves between two CPUs at times that it prints. build: -O1
 *
 *     cpu_moves CPU CPU MS COUNT
 *
 * COUNT times, the thread moves to the other CPU and is busy for MS. It prints the CPU, the times (ns of
 * CLOCK_MONOTONIC) at which it is there and at which it leaves, and the CPU time in between (ns).
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    for (int i = 0; i < atoi(argv[4]); i++) {
        int cpu = atoi(argv[1 + i % 2]);
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        if (sched_setaffinity(0, sizeof(set), &set))
            return 1;
        uint64_t start = read_clock(CLOCK_MONOTONIC), ran = read_clock(CLOCK_THREAD_CPUTIME_ID), now;
        do
            now = read_clock(CLOCK_MONOTONIC);
        while (now < start + strtoull(argv[3], NULL, 10) * 1000000);
        printf("%d %ju %ju %ju\n", cpu, (uintmax_t)start, (uintmax_t)now,
               (uintmax_t)(read_clock(CLOCK_THREAD_CPUTIME_ID) - ran));
    }
    return 0;
}
