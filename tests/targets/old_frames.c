/*
 * Waits in a function that keeps a frame pointer and has large variables which it does not set, so that old return
 * addresses lie in its frame: of the sort that ran before. Then waits in a function that its caller reaches by a jump
 * of another function. build: -O1 -fno-omit-frame-pointer
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 2000, DEPTH = 40 };

static int numbers[NUMBERS];
static volatile int sink;

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static void stir(int depth)
{
    char *texts[8];
    for (int i = 0; i < 8; i++)
        texts[i] = strdup("text of some length, which malloc() finds room for");
    if (depth > 0)
        stir(depth - 1);
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = rand();
    if (depth % 8 == 0)
        qsort(numbers, NUMBERS, sizeof(*numbers), compare);
    for (int i = 0; i < 8; i++)
        free(texts[i]);
    sink += numbers[0];
}

__attribute__((noinline)) static int blocked(int ms)
{
    volatile char unset[4096];
    int code = poll(NULL, 0, ms);
    return code + unset[0] * 0;
}

__attribute__((noinline)) static int between(int ms)
{
    int code = blocked(ms);
    sink += code;
    return code;
}

__attribute__((noinline)) static int jumped_to(int ms)
{
    int code = poll(NULL, 0, ms);
    sink += code;
    return code;
}

__attribute__((noinline, optimize("O2"))) static int jump(int ms)
{
    sink++;
    return jumped_to(ms);
}

/* Uses the register of the frame pointer for another value. */
__attribute__((noinline, optimize("omit-frame-pointer"))) static int without_pointer(int ms)
{
#ifdef __x86_64__
    __asm__ volatile("xor %%ebp, %%ebp" ::: "rbp");
#endif
    int code = jump(ms);
    sink += code;
    return code;
}

static int (*volatile wait_without_pointer)(int) = without_pointer;

int main(void)
{
    for (int i = 0; i < 3; i++) {
        stir(DEPTH);
        between(150);
        wait_without_pointer(150);
    }
    return 0;
}
