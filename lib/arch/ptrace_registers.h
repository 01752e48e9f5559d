/*
 * The registers of a thread stopped by ptrace, and of a thread of a core file.
 *
 * Threads: any; the functions share no data.
 */
#pragma once

#include "arch/dwarf_registers.h"

#include <sys/user.h>

/*
 * Reads the registers of a stopped thread, and lets the kernel restart the system call that the stop interrupted.
 *
 * The kernel restarts most system calls that a ptrace stop interrupts. A few system calls return EINTR at once
 * (signal(7), "Interruption of system calls and library functions by stop signals"): epoll_wait, semop, sigtimedwait,
 * io_getevents, and sockets with a timeout. If the thread is at the end of such a system call, makes the kernel restart
 * the call. If a signal handler runs first, the call returns EINTR, as without prof.
 *
 * Returns false if the thread is not stopped.
 */
bool ptrace_registers_fetch(pid_t tid, struct user_regs_struct *stopped);

/* Whether the thread runs 64-bit code. Registers of 32-bit code are in the same members. */
bool ptrace_registers_are_64_bit(const struct user_regs_struct *stopped);

/* Stores the registers by their DWARF numbers. */
void ptrace_registers_read(const struct user_regs_struct *stopped, uint64_t registers[SAMPLE_REGISTERS]);

/* Returns the number of the system call in which the thread is, or -1. */
int64_t ptrace_registers_find_call(const struct user_regs_struct *stopped);
