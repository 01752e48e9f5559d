/*
 * Uses what counters count, and says how much. build: -O2 -pthread
 *
 *     counted MEBIBYTES THREADS WRITTEN_MEBIBYTES FILE CPU_MS
 *
 * Touches memory and keeps it, starts threads that sleep, writes to the file, and runs until it has used the CPU time.
 * Prints minor faults, major faults, ms of CPU time, voluntary and involuntary switches, as getrusage() has them.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static volatile long sink;

static double used_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void run_until(double ms)
{
    while (used_ms() < ms)
        for (int i = 0; i < 10000; i++)
            sink += i;
}

static void *sleeper(void *unused)
{
    for (;;)
        sleep(1000);
    return unused;
}

int main(int argc, char **argv)
{
    enum { BLOCK = 65536, MEBIBYTE = 1 << 20 };
    static char block[BLOCK];
    if (argc != 6)
        return 2;
    size_t size = (size_t)atol(argv[1]) * MEBIBYTE;
    char *memory = malloc(size + 1);
    if (!memory)
        return 1;
    memset(memory, 1, size);
    for (int i = 0; i < atoi(argv[2]); i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, sleeper, NULL))
            return 1;
    }
    double cpu_ms = atof(argv[5]);
    run_until(cpu_ms / 2); /* with all of the memory */
    free(memory);
    int fd = open(argv[4], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (long left = atol(argv[3]) * MEBIBYTE / BLOCK; left > 0; left--)
        if (write(fd, block, BLOCK) != BLOCK)
            return 1;
    close(fd);
    for (int i = 0; i < 20; i++)
        usleep(1000);
    run_until(cpu_ms);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%ld %ld %.1f %ld %ld\n", usage.ru_minflt, usage.ru_majflt, used_ms(), usage.ru_nvcsw, usage.ru_nivcsw);
    return 0;
}
