/*
 * Two processes that wake each other so many times: `ping_pong COUNT [MICROSECONDS]`. Their threads are switched to and
 * from more often than they are sampled. In each turn they compute for so long. Prints the CPU time of both by the
 * kernel's own counter, as short_lived.c does.
 */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* So many rounds of a loop, not so much time: a slowdown is to be seen. */
static void compute(uint64_t rounds)
{
    for (uint64_t i = 0; i < rounds; i++)
        sink++;
}

static uint64_t rounds_of(double seconds)
{
    static const uint64_t some = 10000;
    double best = 1;
    for (int i = 0; seconds > 0 && i < 20; i++) {
        double start = now();
        compute(some);
        double took = now() - start;
        best = took < best ? took : best;
    }
    return (uint64_t)(seconds / best * (double)some);
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 50000, there[2], back[2];
    uint64_t rounds = rounds_of(argc > 2 ? atof(argv[2]) / 1e6 : 0);
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof(attr),
                                   .config = PERF_COUNT_SW_CPU_CLOCK,
                                   .inherit = 1,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    int counter = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (pipe(there) || pipe(back))
        return 1;
    pid_t pid = fork();
    int in = pid == 0 ? there[0] : back[0], out = pid == 0 ? back[1] : there[1];
    char byte = 'x';
    for (int i = 0; i < count; i++) {
        compute(rounds);
        if (pid != 0 && write(out, &byte, 1) != 1)
            return 1;
        if (read(in, &byte, 1) != 1)
            return 1;
        if (pid == 0 && write(out, &byte, 1) != 1)
            return 1;
    }
    if (pid == 0)
        return 0;
    uint64_t counted = 0;
    if (waitpid(pid, NULL, 0) != pid || counter < 0 || read(counter, &counted, sizeof(counted)) != sizeof(counted))
        return 1;
    printf("%.6f\n", (double)counted / 1e9);
    return 0;
}
