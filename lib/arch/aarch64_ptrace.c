/*
 * arm64. The kernel prepares the restart of a system call before the stop, and keeps the first argument of the call for
 * itself. So prof cannot restart the calls that return EINTR at once.
 */
#include "arch/ptrace_registers.h"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

bool ptrace_registers_fetch(pid_t tid, struct user_regs_struct *stopped)
{
    struct iovec registers = {stopped, sizeof(*stopped)};
    return ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &registers) == 0;
}

bool ptrace_registers_are_64_bit(const struct user_regs_struct *stopped)
{
    enum { MODE_32_BIT = 0x10 }; /* nRW of pstate */
    return !(stopped->pstate & MODE_32_BIT);
}

void ptrace_registers_read(const struct user_regs_struct *stopped, uint64_t registers[SAMPLE_REGISTERS])
{
    memcpy(registers, stopped->regs, sizeof(stopped->regs));
    registers[UNWIND_REG_SP] = stopped->sp;
    registers[UNWIND_REG_PC] = stopped->pc;
}

int64_t ptrace_registers_find_call(const struct user_regs_struct *stopped)
{
    uint64_t registers[SAMPLE_REGISTERS];
    ptrace_registers_read(stopped, registers);
    return arch_is_in_system_call(registers) ? (int64_t)stopped->regs[8] : -1;
}
