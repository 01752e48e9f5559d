/*
 * x86-64. A thread that is stopped at the end of a system call has the number of the call in orig_rax (else -1), and
 * its result in rax.
 *
 * The kernel's own result for "restart unless a handler runs" is -ERESTARTNOHAND. The kernel never returns
 * -ERESTARTNOHAND to a program, so no user-space header defines it.
 */
#include "arch/ptrace_registers.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>

enum { RESTART_UNLESS_HANDLED = 514, CODE_SEGMENT_32_BIT = 0x23 };

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

/* The kernel restarts socket calls, unless they have a timeout. */
static const uint16_t calls[] = {
    SYS_epoll_wait, SYS_epoll_pwait,  SYS_epoll_pwait2,  SYS_rt_sigtimedwait, SYS_semop,   SYS_semtimedop,
    SYS_recvfrom,   SYS_recvmsg,      SYS_recvmmsg,      SYS_sendto,          SYS_sendmsg, SYS_sendmmsg,
    SYS_accept,     SYS_accept4,      SYS_read,          SYS_write,           SYS_readv,   SYS_writev,
    SYS_connect,    SYS_io_getevents, SYS_io_pgetevents, SYS_io_uring_enter,
};

/* Numbers of these system calls in 32-bit programs, from arch/x86/entry/syscalls/syscall_32.tbl: read, write,
 * socketcall, ipc, readv, writev, rt_sigtimedwait, io_getevents, epoll_wait, epoll_pwait, recvmmsg, sendmmsg, connect,
 * accept4, sendto, sendmsg, recvfrom, recvmsg, and their variants with 64-bit times. */
static const uint16_t calls_32_bit[] = {3,   4,   102, 117, 145, 146, 177, 247, 256, 319, 337,
                                        345, 362, 364, 369, 370, 371, 372, 417, 420, 421, 441};

bool ptrace_registers_are_64_bit(const struct user_regs_struct *stopped)
{
    return stopped->cs != CODE_SEGMENT_32_BIT;
}

void ptrace_registers_read(const struct user_regs_struct *stopped, uint64_t registers[SAMPLE_REGISTERS])
{
    const uint64_t by_number[SAMPLE_REGISTERS] = {
        stopped->rax, stopped->rdx, stopped->rcx, stopped->rbx, stopped->rsi, stopped->rdi,
        stopped->rbp, stopped->rsp, stopped->r8,  stopped->r9,  stopped->r10, stopped->r11,
        stopped->r12, stopped->r13, stopped->r14, stopped->r15, stopped->rip,
    };
    for (size_t i = 0; i < SAMPLE_REGISTERS; i++)
        registers[i] = by_number[i];
}

static bool contains_number(uint64_t number, const uint16_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == number)
            return true;
    return false;
}

/* Returns whether the registers have changed. */
static bool restart_call(struct user_regs_struct *stopped)
{
    if ((int64_t)stopped->orig_rax < 0 || (int32_t)stopped->rax != -EINTR)
        return false;
    bool returns_at_once =
        ptrace_registers_are_64_bit(stopped)
            ? contains_number(stopped->orig_rax, calls, sizeof(calls) / sizeof(*calls))
            : contains_number(stopped->orig_rax, calls_32_bit, sizeof(calls_32_bit) / sizeof(*calls_32_bit));
    if (!returns_at_once)
        return false;
    stopped->rax = (uint64_t)-RESTART_UNLESS_HANDLED;
    return true;
}

bool ptrace_registers_fetch(pid_t tid, struct user_regs_struct *stopped)
{
    if (ptrace(PTRACE_GETREGS, tid, NULL, stopped))
        return false;
    if (restart_call(stopped))
        ptrace(PTRACE_SETREGS, tid, NULL, stopped);
    return true;
}

int64_t ptrace_registers_find_call(const struct user_regs_struct *stopped)
{
    return stopped->orig_rax < UINT32_MAX ? (int64_t)stopped->orig_rax : -1;
}
