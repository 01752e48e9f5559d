/*
 * Threads that wait, each for a known reason and about a known time, in a function of that name. Prints the address of
 * the lock. build: -O0 -pthread -fno-omit-frame-pointer
 *
 *     waits [MS [stop]]
 *
 * holder() has the lock for MS (default 300), two threads wait for it in contend(); sleeper() sleeps for MS, reader()
 * reads a pipe that is written after MS, listener() accepts on a socket for MS, parent() waits for a child that lives
 * MS, and burner() runs. On arm64, the address of the lock has a tag. With "stop", only a process "stopped" polls a
 * pipe for MS, is stopped by a signal for MS, and polls the pipe again for MS.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int ms = 300;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, *tagged_lock = &lock;
static int pipes[2];
static volatile long sink;

static void pause_for(int length)
{
    struct timespec time = {.tv_sec = length / 1000, .tv_nsec = length % 1000 * 1000000L};
    nanosleep(&time, NULL);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

__attribute__((noinline)) void *contend(void *name)
{
    prctl(PR_SET_NAME, name);
    pause_for(20); /* holder() has it by then */
    pthread_mutex_lock(tagged_lock);
    pthread_mutex_unlock(tagged_lock);
    return NULL;
}

__attribute__((noinline)) void *holder(void *name)
{
    prctl(PR_SET_NAME, name);
    pthread_mutex_lock(tagged_lock);
    pause_for(ms);
    pthread_mutex_unlock(tagged_lock);
    return NULL;
}

__attribute__((noinline)) void *sleeper(void *name)
{
    prctl(PR_SET_NAME, name);
    pause_for(ms);
    return NULL;
}

__attribute__((noinline)) void *reader(void *name)
{
    char byte;
    prctl(PR_SET_NAME, name);
    if (read(pipes[0], &byte, 1) != 1)
        abort();
    return NULL;
}

__attribute__((noinline)) void *listener(void *name)
{
    prctl(PR_SET_NAME, name);
    struct pollfd polled = {.fd = socket(AF_UNIX, SOCK_DGRAM, 0), .events = POLLIN};
    poll(&polled, 1, ms);
    return NULL;
}

__attribute__((noinline)) void *parent(void *name)
{
    prctl(PR_SET_NAME, name);
    pid_t child = fork();
    if (child == 0) {
        pause_for(ms);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    return NULL;
}

__attribute__((noinline)) void *burner(void *name)
{
    prctl(PR_SET_NAME, name);
    for (double end = now() + ms; now() < end;)
        for (int i = 0; i < 10000; i++)
            sink += i;
    return NULL;
}

static int stop_child(void)
{
    char byte;
    pid_t child = fork();
    if (child == 0) {
        int empty[2];
        prctl(PR_SET_NAME, "stopped");
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (pipe(empty) == 0 && write(pipes[1], "x", 1) == 1)
            poll(&(struct pollfd){.fd = empty[0], .events = POLLIN}, 1, 100 * ms);
        _exit(0);
    }
    if (read(pipes[0], &byte, 1) != 1)
        return 1;
    pause_for(ms);
    kill(child, SIGSTOP);
    waitpid(child, NULL, WUNTRACED);
    pause_for(ms);
    kill(child, SIGCONT);
    waitpid(child, NULL, WCONTINUED);
    pause_for(ms);
    kill(child, SIGKILL);
    return waitpid(child, NULL, 0) != child;
}

int main(int argc, char **argv)
{
    static void *(*const functions[])(void *) = {holder, contend, contend, sleeper, reader, listener, parent, burner};
    static const char *const names[] = {"holder", "contender-1", "contender-2", "sleeper",
                                        "reader", "listener",    "parent",      "burner"};
    enum { THREADS = sizeof(names) / sizeof(*names) };
    pthread_t threads[THREADS];
    if (argc > 1)
        ms = atoi(argv[1]);
#ifdef __aarch64__
    if (prctl(PR_SET_TAGGED_ADDR_CTRL, PR_TAGGED_ADDR_ENABLE, 0, 0, 0) == 0)
        tagged_lock = (pthread_mutex_t *)((uintptr_t)&lock | (uintptr_t)0x2a << 56);
#endif
    if (pipe(pipes))
        return 1;
    if (argc > 2)
        return stop_child();
    printf("0x%jx\n", (uintmax_t)(uintptr_t)&lock);
    fflush(stdout);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, functions[i], (void *)names[i]);
    pause_for(ms);
    if (write(pipes[1], "x", 1) != 1)
        return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
