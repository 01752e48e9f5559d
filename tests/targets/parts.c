/* Functions that compilers take apart: error paths that gcc moves away (.cold), bodies behind an early return (.part),
 * copies for a constant argument (.constprop) or without an unused one (.isra). Runs for no time; with a profile of it
 * (-fprofile-use) more parts are cold. Tests look at its symbols. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shape {
    char name[32];
    long sides, length, unused;
};

static volatile long checked;

/* Always called with the same `by`. */
__attribute__((noinline)) static long scale(long value, long by)
{
    for (long i = 0; i < by; i++)
        value += checked * i + by;
    return value;
}

/* Reads one field of what it is given. */
__attribute__((noinline)) static long perimeter(const struct shape *shape, long unused)
{
    (void)unused;
    long total = 0;
    for (long i = 0; i < shape->sides; i++)
        total += scale(i, 7);
    return total;
}

/* Small for those who pass NULL, large for the others. */
static long measure(const struct shape *shape)
{
    if (!shape)
        return 0;
    long total = perimeter(shape, 3);
    for (size_t i = 0; i < strlen(shape->name); i++) {
        total += scale(shape->name[i], 7);
        if (total > 1000000)
            total /= shape->length + 1;
        checked++;
    }
    printf("%s %ld\n", shape->name, total);
    return total;
}

/* Ends the program where no program should come. */
__attribute__((noinline)) long check(const struct shape *shape, long limit)
{
    if (__builtin_expect(limit < 0, 0)) {
        fprintf(stderr, "%s: %ld sides of %ld\n", shape->name, shape->sides, limit);
        for (long i = 0; i < shape->sides; i++)
            fprintf(stderr, "%ld ", scale(i, 7));
        abort();
    }
    return limit > 2 ? measure(shape) : limit;
}

__attribute__((noinline)) long both(const struct shape *left, const struct shape *right)
{
    return measure(left) - measure(right);
}

__attribute__((noinline)) long three(const struct shape *left, const struct shape *middle, const struct shape *right)
{
    return measure(left) + measure(middle) + measure(right);
}

int main(int argc, char **argv)
{
    struct shape shape = {.sides = argc + 3, .length = 7};
    snprintf(shape.name, sizeof(shape.name), "%s", argv[0]);
    long total = 0;
    for (long i = 0; i < 100 * argc; i++)
        total += check(&shape, i % 3) + both(NULL, argc > 3 ? &shape : NULL);
    total += three(&shape, NULL, argc > 1 ? &shape : NULL) + check(&shape, 5);
    printf("%ld\n", total + perimeter(&shape, total));
    return 0;
}
