/*
 * Functions that compute beside system calls and signal handlers: a sampler that stops threads is prone to count too
 * much for these. The length of each piece depends on the seed. usage: mixes KIND SECONDS SEED; the seconds are of CPU
 * time.
 *
 *     calls     computing, and a short system call in between, some 15 % of the time
 *     signals   computing, and the handler of a signal that comes 2,000 times a second; prints the CPU time of each
 *               function by the clock of the thread, because the number of signals in it depends on what else runs
 *     handlers  the same with a handler that works three times as long, 500 times a second
 *     kernel    system calls of different lengths, and some computing
 *     threads   two threads as in "calls", and two that wake each other through pipes; prints the CPU time of these
 * two, because what a switch takes depends on the sampler
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static double seconds;
static int zero, null;
static char buffer[1 << 16];

/* ---- pieces ---- */

static inline uint64_t spin(unsigned steps)
{
    uint64_t x = steps;
    for (unsigned i = 0; i < steps; i++)
        x = (x ^ (x >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
    return x;
}

#define COMPUTE(name)                                                                                                  \
    __attribute__((noinline)) static void name(unsigned steps)                                                         \
    {                                                                                                                  \
        static _Thread_local volatile uint64_t sink;                                                                   \
        sink = spin(steps);                                                                                            \
    }

COMPUTE(compute)
COMPUTE(compute_more)
COMPUTE(handle_work)
COMPUTE(before_wait)
COMPUTE(after_wait)

#define CALL(name, call)                                                                                               \
    __attribute__((noinline)) static void name(int fd)                                                                 \
    {                                                                                                                  \
        (void)fd;                                                                                                      \
        if ((call) < 0)                                                                                                \
            abort();                                                                                                   \
    }

CALL(call_short, syscall(SYS_getppid))
CALL(call_read, read(zero, buffer, 40000))
CALL(call_write, write(null, buffer, 1))
CALL(call_stat, stat("/usr/bin", &(struct stat){0}))
CALL(wake_forth, write(fd, "x", 1))
CALL(wait_back, read(fd, &(char){0}, 1))
CALL(wake_back, write(fd, "back", 1)) /* another text: the same function would be merged */

/* ---- mixes ---- */

static unsigned between(unsigned *seed, unsigned least, unsigned most)
{
    return least + (unsigned)rand_r(seed) % (most - least);
}

static double used(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int goes_on(void)
{
    return used(CLOCK_THREAD_CPUTIME_ID) < seconds;
}

static void *run_calls(void *seed)
{
    while (goes_on())
        for (int i = 0; i < 100; i++) {
            compute(between(seed, 500, 2500));
            call_short(0);
            compute_more(between(seed, 0, 500));
        }
    return NULL;
}

static volatile double handled;                               /* seconds */
static unsigned handler_steps = 20000, signal_interval = 500; /* us */

static void handle(int signal)
{
    double start = used(CLOCK_THREAD_CPUTIME_ID);
    (void)signal;
    handle_work(handler_steps);
    handled += used(CLOCK_THREAD_CPUTIME_ID) - start;
}

static double without_handler(void)
{
    double before, now;
    do {
        before = handled;
        now = used(CLOCK_THREAD_CPUTIME_ID);
    } while (handled != before);
    return now - before;
}

static void *run_signals(void *seed)
{
    struct itimerval each = {{0, signal_interval}, {0, signal_interval}};
    double computed = 0, computed_more = 0, start, end = without_handler();
    signal(SIGALRM, handle);
    setitimer(ITIMER_REAL, &each, NULL);
    while (goes_on()) {
        start = end;
        compute(between(seed, 50000, 150000));
        end = without_handler();
        computed += end - start;
        start = end;
        compute_more(between(seed, 20000, 50000));
        end = without_handler();
        computed_more += end - start;
    }
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    printf("compute=%f compute_more=%f handle_work=%f\n", computed, computed_more, handled);
    return NULL;
}

static void run_handlers(void *seed)
{
    handler_steps = 60000;
    signal_interval = 2000;
    run_signals(seed);
}

static void *run_kernel(void *seed)
{
    while (goes_on())
        for (int i = 0; i < 20; i++) {
            call_read(0);
            compute(between(seed, 500, 2500));
            for (unsigned n = between(seed, 1, 9); n; n--)
                call_stat(0);
            for (unsigned n = between(seed, 1, 9); n; n--)
                call_write(0);
        }
    return NULL;
}

static int forth[2], back[2];

/* Seconds of CPU time of the thread since the last call. */
static double lap(void)
{
    static _Thread_local double last;
    double now = used(CLOCK_THREAD_CPUTIME_ID), since = now - last;
    last = now;
    return since;
}

static void *run_waker(void *seed)
{
    double before = 0, wake = 0, wait = 0;
    while (goes_on())
        for (int i = 0; i < 20; i++) {
            lap();
            before_wait(between(seed, 1000, 30000));
            before += lap();
            wake_forth(forth[1]);
            wake += lap();
            wait_back(back[0]);
            wait += lap();
        }
    printf("before_wait=%f wake_forth=%f wait_back=%f\n", before, wake, wait);
    close(forth[1]);
    return NULL;
}

static void *run_woken(void *seed)
{
    double after = 0, wake = 0;
    for (char c; read(forth[0], &c, 1) == 1;) {
        lap();
        after_wait(between(seed, 1000, 30000));
        after += lap();
        wake_back(back[1]);
        wake += lap();
    }
    printf("after_wait=%f wake_back=%f\n", after, wake);
    return NULL;
}

static void run_threads(unsigned seed)
{
    static void *(*const runs[4])(void *) = {run_calls, run_calls, run_waker, run_woken};
    pthread_t threads[4];
    unsigned seeds[4];
    if (pipe(forth) || pipe(back))
        abort();
    seconds /= 4;
    for (unsigned i = 0; i < 4; i++) {
        seeds[i] = seed * 4 + i;
        pthread_create(&threads[i], NULL, runs[i], &seeds[i]);
    }
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "";
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
    seconds = argc > 2 ? atof(argv[2]) : 1;
    zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (!strcmp(kind, "calls"))
        run_calls(&seed);
    else if (!strcmp(kind, "signals"))
        run_signals(&seed);
    else if (!strcmp(kind, "handlers"))
        run_handlers(&seed);
    else if (!strcmp(kind, "kernel"))
        run_kernel(&seed);
    else if (!strcmp(kind, "threads"))
        run_threads(seed);
    else
        return 2;
    return 0;
}
