/*
 * What a program must not notice while it is sampled: each mode does something that a tracer could spoil, and prints
 * what it has seen. build: -O1 -pthread
 *
 *     manners waits SECONDS     waits 100 times or more, in calls that a stop of the thread interrupts; prints how many
 *                               EINTR there were
 *     manners ignored SECONDS   the same, in one thread, while signals come that it ignores
 *     manners signals COUNT     handles all signals; prints how many of COUNT queued ones each handler got
 *     manners forks COUNT       starts COUNT short processes; prints how many ended with the right status
 *     manners vforks COUNT      the same with vfork and exec
 *     manners threads COUNT     starts COUNT short threads; prints how many have run
 *     manners exec-leader       execs from its first thread; manners exec-thread: from another; prints "after exec"
 *     manners burn SECONDS      uses CPU time; prints "burned"
 *     manners keeps SECONDS     the same, after forbidding others to read its memory
 *     manners traces            starts a process that it traces; prints "traced" or "refused"
 *     manners crash             ends by SIGSEGV, with a handler that resets itself
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EPOLL, SIGNAL, SEMAPHORE, SOCKET, LONG, KINDS };

static const char *const kinds[KINDS] = {"epoll_wait", "sigtimedwait", "semtimedop", "recv", "a long epoll_wait"};

enum { WAITS_MIN = 100 };

static atomic_int stop, interrupted[KINDS], waits;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static volatile unsigned sink;

static void burn_a_little(unsigned steps)
{
    for (unsigned i = 0; i < steps; i++)
        sink += i * i;
}

/* ---- waits ---- */

static void count(int kind, int result)
{
    waits++;
    interrupted[kind] += result < 0 && errno == EINTR;
}

/* Each wait is short, so that the thread falls asleep thousands of times a second: the race between the look at a
 * thread and its interrupt is lost now and then. */
static void *wait_epoll(void *context)
{
    (void)context;
    int epoll = epoll_create1(0);
    struct epoll_event event;
    while (!stop) {
        burn_a_little(20000);
        count(EPOLL, epoll_wait(epoll, &event, 1, 1));
    }
    return NULL;
}

static void *wait_signal(void *context)
{
    (void)context;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    struct timespec timeout = {.tv_nsec = 100000};
    while (!stop) {
        burn_a_little(20000);
        count(SIGNAL, sigtimedwait(&set, NULL, &timeout));
    }
    return NULL;
}

static void *wait_semaphore(void *context)
{
    (void)context;
    int id = semget(IPC_PRIVATE, 1, 0600);
    struct sembuf down = {.sem_op = -1};
    struct timespec timeout = {.tv_nsec = 100000};
    while (!stop) {
        burn_a_little(20000);
        count(SEMAPHORE, (int)syscall(SYS_semtimedop, id, &down, 1, &timeout));
    }
    semctl(id, 0, IPC_RMID);
    return NULL;
}

static void *wait_socket(void *context)
{
    (void)context;
    int pair[2];
    char byte;
    struct timeval timeout = {.tv_usec = 1000};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return NULL;
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    while (!stop) {
        burn_a_little(20000);
        count(SOCKET, (int)recv(pair[0], &byte, 1, 0));
    }
    return NULL;
}

/* Waits without an end: only the event at the end of the test ends it. */
static int last_event;

static void *wait_long(void *context)
{
    (void)context;
    int epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(epoll, EPOLL_CTL_ADD, last_event, &event);
    count(LONG, epoll_wait(epoll, &event, 1, -1));
    return NULL;
}

static int report_waits(void)
{
    int sum = 0;
    for (int i = 0; i < KINDS; i++) {
        sum += interrupted[i];
        if (interrupted[i])
            fprintf(stderr, "%s: %d EINTR\n", kinds[i], interrupted[i]);
    }
    fprintf(stderr, "%d waits\n", waits);
    printf("%d\n", sum);
    return 0;
}

static int do_waits(double seconds)
{
    void *(*const bodies[])(void *) = {wait_epoll, wait_signal, wait_semaphore, wait_socket, wait_long};
    enum { THREADS = sizeof(bodies) / sizeof(*bodies) };
    pthread_t threads[THREADS];
    last_event = eventfd(0, 0);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, bodies[i], NULL);
    for (double end = now() + seconds; now() < end || waits < WAITS_MIN;)
        burn_a_little(1000);
    stop = 1;
    uint64_t one = 1;
    if (write(last_event, &one, sizeof(one)) != sizeof(one))
        return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return report_waits();
}

/* Signals that are ignored reach a traced program all the same, and interrupt what it waits in: that a child has ended,
 * and that the size of the window has changed. */
static int do_ignored(double seconds)
{
    struct epoll_event event;
    struct sembuf down = {.sem_op = -1};
    struct timespec timeout = {.tv_nsec = 3000000};
    struct timeval socket_timeout = {.tv_usec = 3000};
    int epoll = epoll_create1(0), id = semget(IPC_PRIVATE, 1, 0600), pair[2];
    char byte;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return 1;
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &socket_timeout, sizeof(socket_timeout));
    double end = now() + seconds;
    for (int i = 0; now() < end || waits < WAITS_MIN; i++) {
        pid_t child = fork();
        if (child == 0) {
            usleep(1000);
            kill(getppid(), SIGWINCH);
            usleep(500);
            _exit(0);
        }
        if (i % 4 == 0)
            count(EPOLL, epoll_wait(epoll, &event, 1, 3));
        else if (i % 4 == 1)
            count(SIGNAL, sigtimedwait(&set, NULL, &timeout));
        else if (i % 4 == 2)
            count(SEMAPHORE, (int)syscall(SYS_semtimedop, id, &down, 1, &timeout));
        else
            count(SOCKET, (int)recv(pair[0], &byte, 1, 0));
        waitpid(child, NULL, 0);
    }
    semctl(id, 0, IPC_RMID);
    return report_waits();
}

/* ---- signals ---- */

static volatile sig_atomic_t got[NSIG];
static volatile sig_atomic_t wrong_values;

static void take_signal(int signal, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code == SI_QUEUE && info->si_value.sival_int != signal * 3)
        wrong_values++;
    got[signal]++;
}

static int do_signals(int wanted)
{
    int real_time = 0, others = 0;
    for (int i = 1; i < NSIG; i++) {
        struct sigaction action = {.sa_sigaction = take_signal, .sa_flags = SA_SIGINFO};
        if (i != SIGKILL && i != SIGSTOP)
            sigaction(i, &action, NULL);
    }
    pid_t self = getpid(), child = fork();
    if (child == 0) {
        for (int i = 0; i < wanted; i++)
            for (int number = SIGRTMIN; number < SIGRTMIN + 4; number++)
                while (sigqueue(self, number, (union sigval){.sival_int = number * 3}) && errno == EAGAIN)
                    usleep(100);
        for (int number = 1; number < 32; number++)
            if (number != SIGKILL && number != SIGSTOP && number != SIGCONT && number != SIGCHLD)
                kill(self, number);
        usleep(100000);
        kill(self, SIGCONT); /* it would take away stop signals that still wait */
        _exit(0);
    }
    int status;
    while (waitpid(child, &status, 0) != child)
        burn_a_little(100000);
    for (double end = now() + 5; now() < end;) {
        real_time = others = 0;
        for (int number = SIGRTMIN; number < SIGRTMIN + 4; number++)
            real_time += got[number];
        for (int number = 1; number < 32; number++)
            others += got[number] > 0;
        if (real_time >= 4 * wanted && others == 29)
            break;
        burn_a_little(100000);
    }
    printf("%d queued, %d kinds, %d wrong\n", real_time, others, (int)wrong_values);
    return 0;
}

/* ---- processes and threads ---- */

static int do_forks(int wanted)
{
    int right = 0;
    for (int i = 0; i < wanted; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(i % 100);
        int status;
        right += waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == i % 100;
    }
    printf("%d\n", right);
    return 0;
}

static int do_vforks(int wanted)
{
    int right = 0;
    for (int i = 0; i < wanted; i++) {
        pid_t child = vfork();
        if (child == 0) {
            execl("/bin/sh", "sh", "-c", "exit 5", (char *)NULL);
            _exit(127);
        }
        int status;
        right += waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 5;
    }
    printf("%d\n", right);
    return 0;
}

static atomic_int threads_run;

static void *run_thread(void *context)
{
    burn_a_little(1000);
    threads_run++;
    return context;
}

static int do_threads(int wanted)
{
    for (int i = 0; i < wanted; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, run_thread, NULL) == 0)
            pthread_join(thread, NULL);
    }
    printf("%d\n", threads_run);
    return 0;
}

static char *self_path;

static void *exec_self(void *context)
{
    usleep(20000);
    execl(self_path, self_path, "after-exec", (char *)NULL);
    return context;
}

static void *burn_on(void *context)
{
    for (;;)
        burn_a_little(1000);
    return context;
}

static int do_exec(int from_thread)
{
    pthread_t threads[4];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, burn_on, NULL);
    if (!from_thread)
        exec_self(NULL);
    pthread_create(&threads[3], NULL, exec_self, NULL);
    pthread_join(threads[3], NULL);
    return 1;
}

static void burn(double seconds)
{
    struct timespec time;
    do {
        burn_a_little(100000);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    } while ((double)time.tv_sec + (double)time.tv_nsec / 1e9 < seconds);
}

static int do_crash(void)
{
    struct sigaction action = {.sa_sigaction = take_signal, .sa_flags = (int)(SA_SIGINFO | SA_RESETHAND)};
    sigaction(SIGSEGV, &action, NULL);
    for (volatile int *nothing = NULL;;)
        *nothing = 1;
}

static int do_traces(void)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(ptrace(PTRACE_TRACEME) ? 1 : 0);
    waitpid(child, &status, 0);
    puts(status == 0 ? "traced" : "refused");
    return 0;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    double number = argc > 2 ? atof(argv[2]) : 1;
    self_path = argv[0];
    if (!strcmp(mode, "waits"))
        return do_waits(number);
    if (!strcmp(mode, "ignored"))
        return do_ignored(number);
    if (!strcmp(mode, "signals"))
        return do_signals((int)number);
    if (!strcmp(mode, "forks"))
        return do_forks((int)number);
    if (!strcmp(mode, "vforks"))
        return do_vforks((int)number);
    if (!strcmp(mode, "threads"))
        return do_threads((int)number);
    if (!strncmp(mode, "exec-", 5))
        return do_exec(!strcmp(mode, "exec-thread"));
    if (!strcmp(mode, "after-exec")) {
        burn(0.2);
        puts("after exec");
        return 3;
    }
    if (!strcmp(mode, "traces"))
        return do_traces();
    if (!strcmp(mode, "keeps") && prctl(PR_SET_DUMPABLE, 0))
        return 1;
    if (!strcmp(mode, "burn") || !strcmp(mode, "keeps")) {
        burn(number);
        puts("burned");
        return 0;
    }
    return !strcmp(mode, "crash") ? do_crash() : 2;
}
