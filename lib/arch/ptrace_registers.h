/*
 * The registers of a thread that is stopped by ptrace, and system calls that the stop has interrupted. With registers.h
 * the part of lib/sample that depends on the architecture.
 *
 * Threads: any; nothing is shared.
 */
#pragma once

#include "arch/registers.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/user.h>

/* Whether the thread runs 64-bit code. The registers of 32-bit code have the same places. */
bool ptrace_registers_are_64_bit(const struct user_regs_struct *stopped);

/* Stores the registers by their DWARF numbers. */
void ptrace_registers_read(const struct user_regs_struct *stopped, uint64_t registers[SAMPLE_REGISTERS]);

/*
 * Most system calls that a stop interrupts are started again by the kernel, and the program sees nothing. A few return
 * EINTR at once (signal(7), "Interruption of system calls and library functions by stop signals"): epoll_wait, semop,
 * sigtimedwait, io_getevents, and sockets with a timeout. If the thread is at the end of such a call, has the kernel
 * restart it unless a handler of a signal runs first: then the program gets the EINTR that it would have got anyway.
 * Returns whether the registers have changed; the caller writes them back.
 */
bool ptrace_registers_restart(struct user_regs_struct *stopped);
