/* build: -O2 -g
 *
 * contexts KIND MS: burns that many ms of CPU time on a stack that the C library did not begin.
 *
 *     makecontext   a context of the C library
 *     zero          a stack made by hand, with a return address of 0
 *     planted       the same with the address of a function, as coroutine libraries do
 *     alternate     a signal handler on an alternate signal stack, ten calls above main()
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

enum { STACK_SIZE = 64 << 10, ABOVE_STACK = 1024, DEPTH = 10 };

static long limit_ms;
static ucontext_t main_context, other_context;
static unsigned char stack[STACK_SIZE + ABOVE_STACK] __attribute__((aligned(16)));

static volatile uint64_t sum;

__attribute__((noinline)) static void burn(void)
{
    struct timespec now;
    do {
        for (int i = 0; i < 100000; i++)
            sum += sum ^ (uint64_t)i;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    } while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < limit_ms);
}

__attribute__((noinline, noreturn)) static void coroutine(void)
{
    burn();
    printf("%d\n", sum == 1);
    exit(0);
}

__attribute__((noinline, used)) static void crash(void)
{
    abort();
}

static void switch_to(void (*start)(void), void (*return_address)(void))
{
    uint64_t *top = (uint64_t *)(void *)(stack + STACK_SIZE) - 4;
    top[0] = (uint64_t)(uintptr_t)start;
    top[1] = (uint64_t)(uintptr_t)return_address;
#ifdef __aarch64__
    __asm__ volatile("mov sp, %0\n\tldp x1, x30, [sp], #16\n\tmov x29, #0\n\tbr x1" : : "r"(top) : "memory");
#else
    __asm__ volatile("mov %0, %%rsp\n\tret" : : "r"(top) : "memory");
#endif
}

static void handle(int signal)
{
    (void)signal;
    burn();
    sum++;
}

__attribute__((noinline)) static void descend(int depth)
{
    if (depth)
        descend(depth - 1);
    else
        raise(SIGUSR1);
    sum++;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    limit_ms = atol(argv[2]);
    if (!strcmp(argv[1], "makecontext")) {
        getcontext(&other_context);
        other_context.uc_stack.ss_sp = stack;
        other_context.uc_stack.ss_size = STACK_SIZE;
        other_context.uc_link = &main_context;
        makecontext(&other_context, coroutine, 0);
        swapcontext(&main_context, &other_context);
    } else if (!strcmp(argv[1], "zero")) {
        switch_to(coroutine, NULL);
    } else if (!strcmp(argv[1], "planted")) {
        switch_to(coroutine, crash);
    } else {
        stack_t alternate = {.ss_sp = stack, .ss_size = STACK_SIZE};
        struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
        sigaltstack(&alternate, NULL);
        sigaction(SIGUSR1, &action, NULL);
        descend(DEPTH);
    }
    return 0;
}
