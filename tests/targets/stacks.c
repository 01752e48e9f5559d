/*
 * Every shape of stack that C code makes, between two breakpoint instructions, for tests/unit/test_unwind_truth.c,
 * which steps through it one instruction at a time. Prints a number that depends on all of it.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))
#ifdef __clang__
#undef NOINLINE
#define NOINLINE __attribute__((noinline))
#endif

static volatile unsigned long sink;
static volatile int zero;

NOINLINE static unsigned long leaf(unsigned long x)
{
    return x * 31 + sink;
}

NOINLINE static unsigned long with_alloca(unsigned n)
{
    char *space = alloca(n * 16 + 8);
    memset(space, (int)n, n * 16 + 8);
    sink += leaf((unsigned char)space[n]);
    char more[n + 1];
    memset(more, 1, n + 1);
    return leaf((unsigned long)more[n]) + (unsigned char)space[n * 3];
}

NOINLINE static unsigned long with_varargs(int count, ...)
{
    va_list args;
    va_start(args, count);
    unsigned long sum = 0;
    double real = 0;
    for (int i = 0; i < count; i++) {
        sum += va_arg(args, unsigned long);
        real += va_arg(args, double);
    }
    va_end(args);
    return leaf(sum) + (unsigned long)real;
}

/* A frame that the function aligns by itself, so that its CFA is not sp or bp plus a constant. */
NOINLINE static unsigned long with_aligned_frame(unsigned long x)
{
    char block[192] __attribute__((aligned(128)));
    memset(block, (int)x, sizeof(block));
    char *space = alloca(x + 16);
    memset(space, 3, x + 16);
    sink += (uintptr_t)block % 128;
    return leaf((unsigned char)block[x % 192]) + (unsigned char)space[x];
}

/* Enough live values for all callee-saved registers. */
NOINLINE static unsigned long with_many_registers(unsigned long a, unsigned long b, unsigned long c, unsigned long d,
                                                  unsigned long e, unsigned long f, unsigned long g)
{
    unsigned long p = leaf(a + b), q = leaf(b + c), r = leaf(c + d), s = leaf(d + e), t = leaf(e + f), u = leaf(f + g);
    return leaf(p ^ q) + leaf(r ^ s) + leaf(t ^ u) + p * q + r * s + t * u + a + b + c + d + e + f + g;
}

NOINLINE static unsigned long recurse(unsigned depth)
{
    char local[48];
    memset(local, (int)depth, sizeof(local));
    if (depth == 0)
        return leaf(7);
    return recurse(depth - 1) + (unsigned char)local[depth % 48];
}

NOINLINE static unsigned long tail_target(unsigned long x)
{
    return leaf(x) + 1;
}

NOINLINE static unsigned long tail_caller(unsigned long x)
{
    char local[32];
    memset(local, (int)x, sizeof(local));
    sink += (unsigned char)local[x % 32];
    return tail_target(x + 3);
}

static jmp_buf jump;

__attribute__((noreturn, noinline)) static void never_returns(int depth)
{
    sink += leaf((unsigned long)depth);
    if (depth > 0)
        never_returns(depth - 1);
    longjmp(jump, 1);
}

NOINLINE static unsigned long calls_noreturn(unsigned long x)
{
    if (zero == 0)
        never_returns(3);
    return x;
}

NOINLINE static unsigned long shrink_wrapped(unsigned long x)
{
    if (x % 3 == 0)
        return x; /* before anything is saved */
    unsigned long a = leaf(x), b = leaf(a), c = leaf(b);
    return a + b * c;
}

NOINLINE static unsigned long large_frame(unsigned x)
{
    char block[20000];
    memset(block + x, 5, 64);
    return leaf((unsigned char)block[x + 7]);
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Through the PLT, lazily bound, and back by a callback. */
NOINLINE static unsigned long through_libraries(void)
{
    int numbers[24];
    char text[200];
    for (int i = 0; i < 24; i++)
        numbers[i] = (i * 7919) % 101;
    qsort(numbers, 24, sizeof(int), compare);
    snprintf(text, sizeof(text), "%d %s %.3f %lu", numbers[3], "text", 1.5 + numbers[5], sink);
    return strlen(text) + (unsigned long)strtol("1234", NULL, 10) + (unsigned long)(strchr(text, 't') - text);
}

static void handler(int signal_number)
{
    char local[64];
    memset(local, signal_number, sizeof(local));
    sink += leaf((unsigned char)local[signal_number % 64]) * 0;
}

NOINLINE static void install_handlers(void)
{
    static char other_stack[64 * 1024];
    sigaltstack(&(stack_t){.ss_sp = other_stack, .ss_size = sizeof(other_stack)}, NULL);
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handler}, NULL);
    sigaction(SIGUSR2, &(struct sigaction){.sa_handler = handler, .sa_flags = SA_RESTART}, NULL);
}

NOINLINE static unsigned long everything(unsigned long x)
{
    x += with_alloca(5) + with_varargs(3, 1UL, 1.0, 2UL, 2.0, 3UL, 3.0) + with_aligned_frame(x % 10);
    x +=
        with_many_registers(1, 2, 3, 4, 5, 6, x) + recurse(40) + tail_caller(x) + shrink_wrapped(x) + shrink_wrapped(3);
    x += large_frame((unsigned)x % 1000) + through_libraries();
    if (setjmp(jump) == 0)
        x += calls_noreturn(x);
    raise(SIGUSR2);
    return x + leaf(x);
}

int main(void)
{
    install_handlers();
    __asm__ volatile("int3");
    unsigned long result = everything((unsigned long)zero + 1);
    __asm__ volatile("int3");
    printf("%lu\n", result);
    return 0;
}
