/*
 * Processes or threads that are large in number. build: -O1 -g -fno-omit-frame-pointer -pthread
 *
 *     many fork COUNT      children, one after the other
 *     many exec COUNT      children that run this program anew, one after the other, and end at once
 *     many threads COUNT   threads that live at once
 *     many named COUNT     threads that name themselves, run and end, eight at once; prints tid and name of each
 *     many sleep COUNT     threads that sleep, until it is killed; prints a line when all are there
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_ALLOWED = 77, AT_ONCE = 8 };

static volatile unsigned long sink;
static pthread_barrier_t all_live;

static __attribute__((noinline)) void spin(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        sink += i;
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Half of it in libc. */
static __attribute__((noinline)) void short_work(void)
{
    static int numbers[2000];
    for (int i = 0; i < 2000; i++)
        numbers[i] = i * 7919 % 2000;
    qsort(numbers, 2000, sizeof(*numbers), compare);
    spin(100000);
}

static void *live(void *context)
{
    pthread_barrier_wait(&all_live);
    spin(20000);
    return context;
}

static void *sleep_long(void *context)
{
    pthread_barrier_wait(&all_live);
    for (;;)
        pause();
    return context;
}

static void *name_itself(void *context)
{
    char name[16];
    snprintf(name, sizeof(name), "thread-%05d", (int)(size_t)context);
    prctl(PR_SET_NAME, name);
    printf("%d %s\n", (int)syscall(SYS_gettid), name);
    spin(300000);
    return NULL;
}

static int run_children(int count, char *program, int again)
{
    char *const argv[] = {program, "once", NULL};
    for (int i = 0; i < count; i++) {
        pid_t pid = fork();
        if (pid < 0)
            return NOT_ALLOWED;
        if (pid == 0 && again) {
            execv(program, argv);
            _exit(1);
        }
        if (pid == 0) {
            spin(20000);
            _exit(0);
        }
        waitpid(pid, NULL, 0);
    }
    return 0;
}

static int run_at_once(int count, void *(*start)(void *))
{
    pthread_t *threads = calloc(count, sizeof(*threads));
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_barrier_init(&all_live, NULL, start == live ? count : count + 1);
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], &small, start, NULL))
            return NOT_ALLOWED;
    if (start == sleep_long) {
        pthread_barrier_wait(&all_live);
        puts("ready");
        fflush(stdout);
        pause();
    }
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

static int run_named(int count)
{
    pthread_t threads[AT_ONCE];
    for (int i = 0; i < count; i++) {
        if (i >= AT_ONCE)
            pthread_join(threads[i % AT_ONCE], NULL);
        if (pthread_create(&threads[i % AT_ONCE], NULL, name_itself, (void *)(size_t)i))
            return NOT_ALLOWED;
    }
    for (int i = 0; i < AT_ONCE && i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "once")) {
        short_work();
        return 0;
    }
    int count = argc == 3 ? atoi(argv[2]) : 0;
    if (count <= 0)
        return 2;
    if (!strcmp(argv[1], "fork") || !strcmp(argv[1], "exec"))
        return run_children(count, argv[0], argv[1][0] == 'e');
    if (!strcmp(argv[1], "threads"))
        return run_at_once(count, live);
    if (!strcmp(argv[1], "sleep"))
        return run_at_once(count, sleep_long);
    return !strcmp(argv[1], "named") ? run_named(count) : 2;
}
