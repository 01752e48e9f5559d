/*
 * Runs a command for which perf_event_open() fails, as in a container: no_perf_events ERROR COMMAND..., ERROR a number
 * of errno(3). A seccomp filter answers the call, for the command and its children. So does ptrace() with NO_PTRACE in
 * the environment.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "no_perf_events ERROR COMMAND...\n");
        return 2;
    }
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, getenv("NO_PTRACE") ? SYS_ptrace : SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ((unsigned)atoi(argv[1]) & SECCOMP_RET_DATA)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof(filter) / sizeof(*filter), .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        fprintf(stderr, "no_perf_events: no filter: %s\n", strerror(errno));
        return 125;
    }
    execvp(argv[2], argv + 2);
    fprintf(stderr, "no_perf_events: %s: %s\n", argv[2], strerror(errno));
    return 127;
}
