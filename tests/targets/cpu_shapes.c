/*
 * Uses CPU time in many ways, and says how much the kernel counted: `cpu_shapes SHAPE [SECONDS]`. build: -O2 -pthread
 *
 * Most shapes are a child process, and print "kernel SECONDS" when it has ended: by the resource usage of the program,
 * of all that was waited for, and of the daemon. Two are for who attaches: they run for so many seconds, print
 * "pids PID...", and end. One without what it needs prints "missing".
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;
static int results; /* a pipe: what nobody waits for writes its ns there */

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void burn(int microseconds)
{
    int64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + 1000 * (int64_t)microseconds;
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
        for (int i = 0; i < 1000; i++)
            sink++;
}

static void doze(int microseconds)
{
    struct timespec time = {.tv_nsec = 1000L * microseconds};
    nanosleep(&time, NULL);
}

static int64_t used_ns(int who)
{
    struct rusage usage;
    getrusage(who, &usage);
    return ((int64_t)usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
           1000 * ((int64_t)usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void *burner(void *microseconds)
{
    burn((int)(intptr_t)microseconds);
    return NULL;
}

/* Stacks are small, because there are many. */
static pthread_t start_thread(void *(*run)(void *), void *context, int is_detached)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 * 1024);
    pthread_attr_setdetachstate(&attributes, is_detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
    if (pthread_create(&thread, &attributes, run, context))
        _exit(9);
    return thread;
}

static void run_threads(int rounds, int count, int microseconds)
{
    pthread_t threads[16];
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < count; i++)
            threads[i] = start_thread(burner, (void *)(intptr_t)(microseconds * (i + 1)), 0);
        for (int i = 0; i < count; i++)
            pthread_join(threads[i], NULL);
    }
}

/* ---- shapes that end ---- */

static void single(void)
{
    burn(300000);
}

static void threads(void)
{
    run_threads(1, 8, 10000);
}

static void short_threads(void)
{
    run_threads(150, 2, 1000);
}

static void storm(void)
{
    int living = 0;
    for (int i = 0; i < 1500; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            burn(100);
            _exit(0);
        }
        if (pid < 0)
            _exit(9);
        if (++living == 20)
            living -= wait(NULL) > 0;
    }
    while (wait(NULL) > 0)
        continue;
}

static void exec_chain(int rest)
{
    char text[16];
    burn(600);
    snprintf(text, sizeof(text), "%d", rest - 1);
    if (rest)
        execl("/proc/self/exe", "cpu_shapes", "exec-chain", text, (char *)NULL);
}

static pthread_barrier_t barrier;

static void *meet(void *unused)
{
    pthread_barrier_wait(&barrier);
    burn(400);
    doze(50000);
    burn(400);
    pthread_barrier_wait(&barrier);
    return unused;
}

static void barriers(void)
{
    enum { COUNT = 300 };
    static pthread_t all[COUNT];
    pthread_barrier_init(&barrier, NULL, COUNT);
    for (int i = 0; i < COUNT; i++)
        all[i] = start_thread(meet, NULL, 0);
    for (int i = 0; i < COUNT; i++)
        pthread_join(all[i], NULL);
}

static atomic_int ended;

static void *burn_alone(void *microseconds)
{
    burner(microseconds);
    ended++;
    return NULL;
}

static void detached(void)
{
    enum { COUNT = 800 };
    for (int i = 0; i < COUNT; i++) {
        start_thread(burn_alone, (void *)(intptr_t)250, 1);
        doze(200);
    }
    while (ended < COUNT)
        doze(1000);
    doze(20000);
}

/* A child of a child, whose parent has ended. */
static void daemonize(void)
{
    burn(50000);
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        if (fork() == 0) {
            burn(250000);
            int64_t used = used_ns(RUSAGE_SELF);
            if (write(results, &used, sizeof(used)) < 0)
                _exit(9);
            _exit(0);
        }
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    burn(50000);
}

static void vforks(void)
{
    for (int i = 0; i < 300; i++) {
        pid_t pid = vfork();
        if (pid == 0) {
            execl("/proc/self/exe", "cpu_shapes", "burst", (char *)NULL);
            _exit(9);
        }
        waitpid(pid, NULL, 0);
    }
}

/* Reads that the kernel's own workers do: threads of this process that no user code runs in. */
static void io_uring(void)
{
    enum { READS = 5000, SIZE = 16 << 20 };
    struct io_uring_params setup = {0};
    int fd = (int)syscall(SYS_io_uring_setup, 8, &setup), zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || zero < 0)
        _exit(8);
    char *queue = mmap(NULL, setup.sq_off.array + setup.sq_entries * sizeof(unsigned), PROT_READ | PROT_WRITE,
                       MAP_SHARED, fd, IORING_OFF_SQ_RING);
    char *answers = mmap(NULL, setup.cq_off.cqes + setup.cq_entries * sizeof(struct io_uring_cqe),
                         PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_CQ_RING);
    struct io_uring_sqe *entry =
        mmap(NULL, setup.sq_entries * sizeof(*entry), PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQES);
    char *buffer = malloc(SIZE);
    if (queue == MAP_FAILED || answers == MAP_FAILED || entry == MAP_FAILED || !buffer)
        _exit(8);
    atomic_uint *tail = (atomic_uint *)(queue + setup.sq_off.tail),
                *head = (atomic_uint *)(answers + setup.cq_off.head);
    for (int i = 0; i < READS && used_ns(RUSAGE_SELF) < 300000000; i++) {
        *entry = (struct io_uring_sqe){.opcode = IORING_OP_READ,
                                       .flags = IOSQE_ASYNC,
                                       .fd = zero,
                                       .addr = (uint64_t)(uintptr_t)buffer,
                                       .len = SIZE};
        unsigned at = *tail & (setup.sq_entries - 1);
        ((unsigned *)(queue + setup.sq_off.array))[at] = 0;
        ++*tail;
        if (syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
            _exit(8);
        ++*head;
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} shapes[] = {
    {"single", single},    {"threads", threads},   {"short-threads", short_threads},
    {"storm", storm},      {"barriers", barriers}, {"detached", detached},
    {"daemon", daemonize}, {"vforks", vforks},     {"io-uring", io_uring},
};

/* ---- shapes for who attaches ---- */

static void ping_pong(double seconds)
{
    int there[2], back[2];
    char byte = 0;
    if (pipe(there) || pipe(back))
        _exit(9);
    pid_t pid = fork();
    if (pid == 0) {
        close(there[1]);
        while (read(there[0], &byte, 1) == 1) {
            burn(10);
            if (write(back[1], &byte, 1) != 1)
                break;
        }
        _exit(0);
    }
    printf("pids %d %d\n", (int)getpid(), (int)pid);
    fflush(stdout);
    for (int64_t end = clock_ns(CLOCK_MONOTONIC) + (int64_t)(seconds * 1e9); clock_ns(CLOCK_MONOTONIC) < end;) {
        if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
            break;
        burn(10);
    }
    close(there[1]);
    wait(NULL);
}

static atomic_int is_over;

static void *wake_and_burn(void *number)
{
    while (!is_over) {
        doze(50000 + 100 * (int)(intptr_t)number);
        burn(50);
    }
    return NULL;
}

static void crowd(double seconds)
{
    enum { COUNT = 1000 };
    static pthread_t all[COUNT];
    for (int i = 0; i < COUNT; i++)
        all[i] = start_thread(wake_and_burn, (void *)(intptr_t)i, 0);
    printf("pids %d\n", (int)getpid());
    fflush(stdout);
    for (int64_t end = clock_ns(CLOCK_MONOTONIC) + (int64_t)(seconds * 1e9); clock_ns(CLOCK_MONOTONIC) < end;)
        doze(10000);
    is_over = 1;
    for (int i = 0; i < COUNT; i++)
        pthread_join(all[i], NULL);
}

/* A process whose threads and children end while it goes on. */
static void server(double seconds)
{
    printf("pids %d\n", (int)getpid());
    fflush(stdout);
    for (int64_t end = clock_ns(CLOCK_MONOTONIC) + (int64_t)(seconds * 1e9); clock_ns(CLOCK_MONOTONIC) < end;) {
        burn(500);
        pthread_join(start_thread(burner, (void *)(intptr_t)300, 0), NULL);
        doze(200);
    }
}

/* ---- */

static int run_shape(const char *name)
{
    if (strcmp(name, "exec-chain") == 0)
        exec_chain(400);
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
        if (strcmp(name, shapes[i].name) == 0)
            shapes[i].run();
    return 0;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    double seconds = argc > 2 ? atof(argv[2]) : 3;
    int ends[2], status;
    int64_t used, other = 0;
    if (strcmp(name, "burst") == 0) {
        burn(400);
        return 0;
    }
    if (strcmp(name, "exec-chain") == 0 && argc > 2) {
        exec_chain(atoi(argv[2]));
        return 0;
    }
    if (strcmp(name, "ping-pong") == 0 || strcmp(name, "crowd") == 0 || strcmp(name, "server") == 0) {
        (*name == 'p' ? ping_pong : *name == 'c' ? crowd : server)(seconds);
        return 0;
    }
    if (pipe2(ends, O_CLOEXEC))
        return 1;
    results = ends[1];
    pid_t pid = fork();
    if (pid == 0)
        _exit(run_shape(name));
    close(ends[1]);
    while (read(ends[0], &used, sizeof(used)) == sizeof(used))
        other += used;
    if (waitpid(pid, &status, 0) != pid)
        return 1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 8)
        printf("missing\n");
    else
        printf("kernel %.6f\n", (double)(used_ns(RUSAGE_SELF) + used_ns(RUSAGE_CHILDREN) + other) / 1e9);
    return WIFEXITED(status) && WEXITSTATUS(status) % 8 == 0 ? 0 : 1;
}
