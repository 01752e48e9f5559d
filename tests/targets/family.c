/* A family of processes: the parent works in parent_work(), a forked child in child_work(), and a second child becomes
 * another program by exec (itself, as "family exec", which works in exec_work()). Each works for so many seconds of its
 * own CPU time, so that their shares are equal on a busy machine too, and each along two paths: two parts of its time
 * in twist(), one in stir(). usage: family SECONDS [exec] */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((noinline)) static void twist(void)
{
    for (int i = 0; i < 100000; i++)
        sink = sink * 31 + 7;
}
__attribute__((noinline)) static void stir(void)
{
    for (int i = 0; i < 50000; i++)
        sink = sink * 31 + 7;
}

static void spin(double seconds)
{
    for (double end = cpu_seconds() + seconds; cpu_seconds() < end;) {
        twist();
        stir();
    }
}

/* The assignment after the call keeps it from being a tail call, so that the function is on the stack. */
__attribute__((noinline)) static void parent_work(double seconds)
{
    spin(seconds);
    sink = 1;
}
__attribute__((noinline)) static void child_work(double seconds)
{
    spin(seconds);
    sink = 2;
}
__attribute__((noinline)) static void exec_work(double seconds)
{
    spin(seconds);
    sink = 3;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 0.3;
    if (argc > 2 && !strcmp(argv[2], "exec")) {
        exec_work(seconds);
        return 0;
    }
    pid_t child = fork();
    if (child == 0) {
        child_work(seconds);
        _exit(0);
    }
    pid_t second = fork();
    if (second == 0) {
        execl("/proc/self/exe", "family-exec", argc > 1 ? argv[1] : "0.3", "exec", (char *)NULL);
        _exit(127);
    }
    parent_work(seconds);
    int status = 0;
    waitpid(child, &status, 0);
    waitpid(second, &status, 0);
    return 0;
}
