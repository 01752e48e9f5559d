/* build: -O2 -g
 *
 * contexts KIND MS: burns that many ms of CPU time on a stack that the C library did not begin.
 *
 *     makecontext   a context of the C library
 *     tagged_stack  the same, on arm64 with a tag in the stack pointer
 *     tagged_frame  the stack of main(), on arm64 with a tag in the frame pointer
 *     zero          a stack made by hand, with a return address of 0
 *     planted       the same with the address of a function, as coroutine libraries do
 *     alternate     a signal handler on an alternate signal stack, ten calls above main()
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
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

#ifdef __aarch64__
enum { TAG = 0x2a };
void call_with_tag(void (*function)(void));
/* clang-format off */
__asm__(".text\n"
        ".type call_with_tag, %function\n"
        "call_with_tag: .cfi_startproc\n"
        "stp x29, x30, [sp, #-16]!\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset 29, -16\n"
        ".cfi_offset 30, -8\n"
        "mov x29, sp\n"
        ".cfi_def_cfa 29, 16\n"
        "orr x29, x29, #0xf00000000000000\n"
        "blr x0\n"
        "ldp x29, x30, [sp], #16\n"
        ".cfi_def_cfa 31, 0\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size call_with_tag, . - call_with_tag\n");
/* clang-format on */
#else
enum { TAG = 0 };
__attribute__((noinline, noclone)) static void call_with_tag(void (*function)(void))
{
    function();
    sum++;
}
#endif

/* Needs its frame pointer to find its caller. */
__attribute__((noinline, noclone)) static void call_with_array(size_t size)
{
    volatile char *bytes = alloca(size);
    bytes[0] = 1;
    call_with_tag(burn);
    sum += (uint64_t)bytes[0];
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
    if (!strcmp(argv[1], "makecontext") || !strcmp(argv[1], "tagged_stack")) {
        uint64_t tag = argv[1][0] == 't' ? (uint64_t)TAG << 56 : 0;
        if (tag) /* system calls accept tags */
            prctl(PR_SET_TAGGED_ADDR_CTRL, PR_TAGGED_ADDR_ENABLE, 0, 0, 0);
        getcontext(&other_context);
        other_context.uc_stack.ss_sp = (void *)((uintptr_t)stack | tag);
        other_context.uc_stack.ss_size = STACK_SIZE;
        other_context.uc_link = &main_context;
        makecontext(&other_context, coroutine, 0);
        swapcontext(&main_context, &other_context);
    } else if (!strcmp(argv[1], "tagged_frame")) {
        call_with_array(16);
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
