/*
 * Children that end before a sampler's timer fires for the first time: `short_lived COUNT MICROSECONDS`. Of four
 * children three are named "long-child" and run so long, one is named "short-child" and runs a third of it.
 *
 * Prints the CPU time of all of them by their resource usage, which is what time(1) prints, and the part of the long
 * ones in that of all children.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;

static double own_cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void child(const char *name, double seconds)
{
    prctl(PR_SET_NAME, name);
    while (own_cpu_seconds() < seconds)
        for (int i = 0; i < 1000; i++)
            sink++;
    _exit(0);
}

static double cpu_seconds_of(const struct rusage *usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
           (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 4000;
    double seconds = (argc > 2 ? atof(argv[2]) : 200) / 1e6, used[2] = {0};
    for (int i = 0; i < count; i++) {
        struct rusage usage;
        int is_long = i % 4 != 0, status;
        pid_t pid = fork();
        if (pid == 0)
            child(is_long ? "long-child" : "short-child", is_long ? seconds : seconds / 3);
        if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
            return 1;
        used[is_long] += cpu_seconds_of(&usage);
    }
    struct rusage own;
    getrusage(RUSAGE_SELF, &own);
    printf("%.6f %.4f\n", cpu_seconds_of(&own) + used[0] + used[1], used[1] / (used[0] + used[1]));
    return 0;
}
