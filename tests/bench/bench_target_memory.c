/*
 * Times reading 4 KiB of another process, in CPU time of all processes of prof:
 *
 *     bench_target_memory [READS [ROUNDS]]
 *
 * prints medians of ROUNDS rounds, and ratios to process_vm_readv(): for a process of prof's own user, and for one of
 * the user nobody, whose memory the helper reads (root only).
 */
#include "os/clock.h"
#include "os/target_memory.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS_MAX = 99, SIZE = 4096, NOBODY = 65534 };

static char place[SIZE];

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static size_t read_plainly(struct target_thread thread, uint64_t address, void *out, size_t size)
{
    struct iovec local = {out, size}, remote = {(void *)(uintptr_t)address, size};
    return (size_t)process_vm_readv((pid_t)thread.tid, &local, 1, &remote, 1, 0);
}

static uint64_t cpu_time(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID) + target_memory_get_cpu_time();
}

/* us a read, of a new process of the user. */
static double measure(size_t read(struct target_thread, uint64_t, void *, size_t), uid_t user, int reads, int rounds)
{
    static char into[SIZE];
    double took[ROUNDS_MAX];
    pid_t pid = fork();
    if (pid == 0) {
        if (user != getuid() && setresuid(user, user, user))
            _exit(1);
        memset(place, 1, SIZE);
        for (;;)
            pause();
    }
    usleep(100000);
    for (int i = 0; i < rounds; i++) {
        uint64_t start = cpu_time();
        for (int k = 0; k < reads; k++)
            if (read((struct target_thread){(uint32_t)pid, (uint32_t)pid}, (uint64_t)(uintptr_t)place, into, SIZE) !=
                SIZE)
                abort();
        took[i] = (double)(cpu_time() - start) / 1e3 / reads;
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    qsort(took, (size_t)rounds, sizeof(*took), ascending);
    return took[rounds / 2];
}

int main(int argc, char **argv)
{
    int reads = argc > 1 ? atoi(argv[1]) : 20000, rounds = argc > 2 ? atoi(argv[2]) : 7;
    if (reads < 1 || rounds < 1 || rounds > ROUNDS_MAX)
        return 2;
    double plain = measure(read_plainly, getuid(), reads, rounds);
    double own = measure(target_memory_read, getuid(), reads, rounds);
    printf("process_vm_readv() %.2f us, own user %.2f us (%.2f times)", plain, own, own / plain);
    if (getuid() == 0) {
        double other = measure(target_memory_read, NOBODY, reads, rounds);
        printf(", another user %.2f us (%.2f times)", other, other / plain);
    }
    printf("\n");
    target_memory_stop();
    return 0;
}
