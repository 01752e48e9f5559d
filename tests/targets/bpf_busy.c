/* Spends its time in BPF programs, which the kernel compiles when they are loaded.
 * usage: bpf_busy turns MILLISECONDS       ten times: loads a program, runs it for a tenth of that CPU time, drops it
 *        bpf_busy inherited MILLISECONDS   runs the one that it was started with
 *        bpf_busy hold COMMAND...          loads a program and runs the command with it
 * Exits with 77 if it is not allowed to, or the kernel does not compile BPF. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { INHERITED_FD = 9, CANNOT = 77 };

static int load(const char *name)
{
    const struct bpf_insn loop[] = {
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1, .imm = 10000},
        {.code = BPF_ALU64 | BPF_SUB | BPF_K, .dst_reg = BPF_REG_1, .imm = 1},
        {.code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = BPF_REG_1, .off = -2, .imm = 0},
        {.code = BPF_JMP | BPF_EXIT},
    };
    union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
                           .insn_cnt = sizeof(loop) / sizeof(loop[0]),
                           .insns = (uint64_t)(uintptr_t)loop,
                           .license = (uint64_t)(uintptr_t) "GPL"};
    strncpy(attr.prog_name, name, sizeof(attr.prog_name) - 1);
    int fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
    struct bpf_prog_info info = {0};
    union bpf_attr ask = {
        .info = {.bpf_fd = (uint32_t)fd, .info_len = sizeof(info), .info = (uint64_t)(uintptr_t)&info}};
    if (fd < 0 || syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &ask, sizeof(ask)) || !info.jited_prog_len) {
        fprintf(stderr, "cannot have a compiled BPF program: %s\n", strerror(errno));
        exit(CANNOT);
    }
    return fd;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void run(int fd, double ms)
{
    unsigned char packet[64] = {0};
    for (double end = now() + ms; now() < end;) {
        union bpf_attr attr = {.test = {.prog_fd = (uint32_t)fd,
                                        .data_size_in = sizeof(packet),
                                        .data_in = (uint64_t)(uintptr_t)packet,
                                        .repeat = 1000}};
        if (syscall(SYS_bpf, BPF_PROG_TEST_RUN, &attr, sizeof(attr))) {
            perror("cannot run a BPF program");
            exit(CANNOT);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    double ms = strtod(argv[2], NULL);
    if (strcmp(argv[1], "inherited") == 0) {
        run(INHERITED_FD, ms);
        return 0;
    }
    if (strcmp(argv[1], "hold") == 0) {
        int status = 0;
        dup2(load("held_loop"), INHERITED_FD);
        pid_t child = fork();
        if (child == 0) {
            execvp(argv[2], argv + 2);
            _exit(127);
        }
        waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    }
    for (int turn = 0; turn < 10; turn++) {
        int fd = load(turn % 2 ? "odd_loop" : "even_loop");
        run(fd, ms / 10);
        close(fd);
    }
    return 0;
}
