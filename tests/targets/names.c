/* C functions that inline into each other, over one and several levels, with parts that compilers split off. Runs for
 * no time; tests look at its symbols. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline int add(int a, int b)
{
    return a + b;
}

static inline int twice(int a)
{
    return add(a, a) * 2;
}

static int fold(const char *text, int seed)
{
    int sum = seed;
    for (size_t i = 0; i < strlen(text); i++) {
        sum = add(sum, twice(text[i]));
        if (sum < 0)
            sum = -sum;
    }
    return sum;
}

__attribute__((noinline)) static int recursive(int depth, const char *text)
{
    if (depth == 0)
        return fold(text, 1);
    return recursive(depth - 1, text) + twice(depth);
}

__attribute__((noinline)) int rare(const char *text, int argc)
{
    if (__builtin_expect(argc > 100, 0)) {
        fprintf(stderr, "%s %d\n", text, fold(text, argc));
        abort();
    }
    return fold(text, 3) + recursive(argc, text);
}

int main(int argc, char **argv)
{
    printf("%d\n", rare(argv[0], argc) + twice(argc));
    return 0;
}
