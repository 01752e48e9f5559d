/* build: -O2 -g
 *
 * sorting MS: main() and one thread sort numbers with qsort(), whose callers are in the C library, for that many ms
 * each.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { COUNT = 20000 };

static long limit_ms;

static int compare(const void *a, const void *b)
{
    int left = *(const int *)a, right = *(const int *)b;
    return left < right ? -1 : left > right;
}

__attribute__((noinline)) static int sort_numbers(uint32_t seed)
{
    static _Thread_local int numbers[COUNT];
    for (int i = 0; i < COUNT; i++)
        numbers[i] = (int)((seed = seed * 1664525 + 1013904223) >> 1);
    qsort(numbers, COUNT, sizeof(*numbers), compare);
    return numbers[0];
}

__attribute__((noinline)) static void *sort_on(void *unused)
{
    struct timespec now;
    do {
        sort_numbers(7);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < limit_ms);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    limit_ms = argc > 1 ? atol(argv[1]) : 1000;
    if (pthread_create(&thread, NULL, sort_on, NULL) != 0)
        return 1;
    if (sort_on(NULL))
        return 1;
    pthread_join(thread, NULL);
    printf("sorted\n");
    return 0;
}
