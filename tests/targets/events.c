/*
 * Does something a known number of times, in a function of that name, with a pause now and then so that a recorder on a
 * busy machine keeps up. build: -O0 -fno-omit-frame-pointer
 *
 *     events pages N       touch_pages() touches N pages of new memory
 *     events switches N    give_way() sleeps N times
 *     events calls N       count_call() is called N times
 *     events writes N      write_bytes() writes N times to /dev/null
 *     events all N         all of that, N times each
 *     events flood N       touches N pages without a pause, and prints the seconds that it took
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, AT_ONCE = 40 };

static volatile long calls;

static void pause_now_and_then(int i)
{
    struct timespec time = {.tv_nsec = 2000000};
    if (i % AT_ONCE == AT_ONCE - 1)
        nanosleep(&time, NULL);
}

__attribute__((noinline)) static void touch_pages(int count)
{
    volatile char *memory =
        mmap(NULL, (size_t)count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        exit(1);
    madvise((void *)memory, (size_t)count * PAGE, MADV_NOHUGEPAGE);
    for (int i = 0; i < count; i++) {
        memory[(size_t)i * PAGE] = 1;
        pause_now_and_then(i);
    }
}

__attribute__((noinline)) static void give_way(int count)
{
    struct timespec time = {.tv_nsec = 1000000};
    for (int i = 0; i < count; i++)
        nanosleep(&time, NULL);
}

__attribute__((noinline)) void count_call(int i)
{
    calls += i;
}

__attribute__((noinline)) static void call_often(int count)
{
    for (int i = 0; i < count; i++) {
        count_call(i);
        pause_now_and_then(i);
    }
}

__attribute__((noinline)) static void write_bytes(int count)
{
    int fd = open("/dev/null", O_WRONLY);
    for (int i = 0; i < count; i++) {
        if (write(fd, "x", 1) != 1)
            exit(1);
        pause_now_and_then(i);
    }
}

static int flood(int count)
{
    enum { PAGES = 20000 };
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int done = 0; done < count; done += PAGES) {
        size_t size = (size_t)PAGES * PAGE;
        volatile char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            return 1;
        madvise((void *)memory, size, MADV_NOHUGEPAGE);
        for (size_t i = 0; i < PAGES; i++)
            memory[i * PAGE] = 1;
        munmap((void *)memory, size);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.4f\n", (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(int count);
    } works[] = {{"pages", touch_pages}, {"switches", give_way}, {"calls", call_often}, {"writes", write_bytes}};
    if (argc != 3)
        return 2;
    if (strcmp(argv[1], "flood") == 0)
        return flood(atoi(argv[2]));
    for (size_t i = 0; i < sizeof(works) / sizeof(*works); i++)
        if (strcmp(argv[1], works[i].name) == 0 || strcmp(argv[1], "all") == 0)
            works[i].run(atoi(argv[2]));
    return 0;
}
