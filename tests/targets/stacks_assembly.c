/*
 * Shapes of stack that hand-written assembly makes, mostly without CFI, between two breakpoint instructions, for
 * tests/unit/test_unwind_truth.c, which steps through it one instruction at a time. With an argument it burns that many
 * ms of CPU time in each of them, for tests/e2e/test_stacks.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* The argument is how often a loop turns. */
#define KERNEL(name, begin, loop, end)                                                                                 \
    void name(unsigned long turns);                                                                                    \
    __asm__("\t.text\n\t.type " #name ", @function\n" #name ":\n" begin "\n1:\t" loop "\n\tdec %rdi\n\tjnz 1b\n" end   \
            "\n\t.size " #name ", . - " #name "\n")

#define LOOP "imul $31, %rdx, %rdx\n\tinc %rdx\n\tmov %rdx, 64(%rsp)"

/* sp in a register that calls preserve, while the stack is realigned: OpenBLAS. */
#define KEPT_IN(reg)                                                                                                   \
    "sub $96, %rsp\n\tmov %rbx, (%rsp)\n\tmov %rbp, 8(%rsp)\n\tmov %r12, 16(%rsp)\n\tmov %r15, 24(%rsp)\n\t"           \
    "movups %xmm6, 32(%rsp)\n\tmov %rsp, " reg "\n\tsub $8192, %rsp\n\tand $-1024, %rsp"
#define BACK_FROM(reg)                                                                                                 \
    "\tmov " reg ", %rsp\n\tmov (%rsp), %rbx\n\tmov 8(%rsp), %rbp\n\tmov 16(%rsp), %r12\n\tmov 24(%rsp), %r15\n\t"     \
    "movups 32(%rsp), %xmm6\n\tadd $96, %rsp\n\tret"

KERNEL(kept_in_rbx, KEPT_IN("%rbx"), LOOP, BACK_FROM("%rbx"));
KERNEL(kept_in_rbp, KEPT_IN("%rbp"), LOOP, BACK_FROM("%rbp"));
KERNEL(kept_in_r12, KEPT_IN("%r12"), LOOP, BACK_FROM("%r12"));
KERNEL(kept_in_r15, KEPT_IN("%r15"), LOOP, BACK_FROM("%r15"));

/* In a word of the realigned stack: OpenSSL. */
KERNEL(kept_on_the_stack,
       "push %rbx\n\tpush %r14\n\tmov %rsp, %r11\n\tsub $512, %rsp\n\tand $-256, %rsp\n\tmov %r11, 152(%rsp)\n\t"
       "xor %r11, %r11",
       LOOP, "\tmov 152(%rsp), %rsp\n\tpop %r14\n\tpop %rbx\n\tret");

/* In a word that the frame pointer leads to: libjpeg-turbo. */
KERNEL(kept_below_rbp,
       "push %rbp\n\tmov %rsp, %rax\n\tsub $8, %rsp\n\tand $-32, %rsp\n\tmov %rax, (%rsp)\n\tmov %rsp, %rbp\n\t"
       "lea -512(%rbp), %rsp\n\tpush %rbx",
       LOOP, "\tpop %rbx\n\tmov %rbp, %rsp\n\tpop %rsp\n\tpop %rbp\n\tret");

/* Without realignment, at both ends of a frame that a register leads to. */
KERNEL(kept_by_lea, "push %r13\n\tlea 16(%rsp), %r13\n\tsub $200, %rsp", LOOP,
       "\tlea -16(%r13), %rsp\n\tpop %r13\n\tret");

/* It calls while sp is in another register. */
KERNEL(
    kept_while_it_calls,
    "push %rbx\n\tpush %r14\n\tmov %rdi, %r14\n\tmov %rsp, %rbx\n\tsub $400, %rsp\n\tand $-64, %rsp\n\tmov %r14, %rdi",
    "push %rdi\n\tsub $8, %rsp\n\tmov $3, %edi\n\tcall kept_in_r12\n\tadd $8, %rsp\n\tpop %rdi",
    "\tmov %rbx, %rsp\n\tpop %r14\n\tpop %rbx\n\tret");

/* In a word below sp, as the CFI of OpenSSL's SHA-512 says: CFA = *(rsp - 8) + 8. */
KERNEL(kept_below_sp,
       ".cfi_startproc\n\tmov %rsp, %rax\n\t.cfi_def_cfa_register %rax\n\tsub $1280, %rsp\n\tand $-512, %rsp\n\t"
       "mov %rax, 152(%rsp)\n\t.cfi_escape 0x0f, 6, 0x77, 0x98, 0x01, 0x06, 0x23, 0x08\n\tlea -128(%rsp), %rsp\n\t"
       ".cfi_escape 0x0f, 6, 0x77, 0x98, 0x02, 0x06, 0x23, 0x08\n\tmov 280(%rsp), %rdx\n\tmov %rdx, -8(%rsp)\n\t"
       ".cfi_escape 0x0f, 5, 0x77, 0x78, 0x06, 0x23, 0x08",
       LOOP, "\tmov -8(%rsp), %rsp\n\t.cfi_def_cfa %rsp, 8\n\tret\n\t.cfi_endproc");

/* The return address in a register: vfork of musl. */
KERNEL(without_return_address, "pop %rdx", "imul $31, %rax, %rax\n\tinc %rax", "\tpush %rdx\n\tret");

static void (*const kernels[])(unsigned long) = {
    kept_in_rbx,    kept_in_rbp, kept_in_r12,         kept_in_r15,   kept_on_the_stack,
    kept_below_rbp, kept_by_lea, kept_while_it_calls, kept_below_sp, without_return_address,
};
enum { KERNELS = sizeof(kernels) / sizeof(*kernels) };

static volatile unsigned long sink;

__attribute__((noinline)) static void caller(unsigned kernel, unsigned long turns)
{
    kernels[kernel](turns);
    sink++;
}

static void burn(unsigned kernel, long ms)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    long end = now.tv_sec * 1000 + now.tv_nsec / 1000000 + ms;
    do {
        caller(kernel, 100000);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    } while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < end);
}

int main(int argc, char **argv)
{
    for (unsigned i = 0; argc > 1 && i < KERNELS; i++)
        burn(i, atol(argv[1]));
    if (argc > 1)
        return 0;
    __asm__ volatile("int3");
    for (unsigned i = 0; i < KERNELS - 1; i++) /* to the shadow stack the last one has returned when it pops */
        caller(i, 150);
    __asm__ volatile("int3");
    printf("%lu\n", sink);
    return 0;
}
