/*
 * Threads that wait and measure their own waits. usage: wait_truth MODE [SECONDS [DIRECTORY]]; build: -O2 -pthread
 *
 *     mix      sleeps twice for 150 us, then asks a thread, which sleeps as long, through a pipe
 *     mix3     sleeps for 100 us, asks a thread that computes for 300 us, waits for a condition that comes after 1 ms
 *     uneven   sleeps for 12 ms, then asks a thread, which sleeps for 3 ms, through a pipe
 *     alias    500 us asleep and 500 us at a semaphore in strict alternation, aligned to whole ms
 *     direct   reads 4 KiB at a time with O_DIRECT from a file in DIRECTORY (.)
 *     fault    page faults from disk in a mapping of the same file
 *     sync     writes 4 KiB at a time to the same file, and waits until the disk has them
 *     preempt  two threads compute on one CPU
 *     queue    six threads wake at the same times, and queue with two that compute on one CPU
 *     long     60 ms each: sleep, pipe, condition, socket, child process
 *     many     200 threads, each awake 50 times a second: a sleep and a pipe in turn
 *
 * At the end it prints one line of JSON per thread. Times are ms: wall_ms from the creation of the thread, cpu_ms by
 * the thread's CPU clock, runnable_ms by schedstat (proc(5)), blocked_ms the rest of the wall time. Each kind of wait
 * has the same for its calls, and `waits`: how often the thread gave up its CPU in these calls. A mode without what it
 * needs prints a line that begins with "missing: ".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KINDS_MAX = 5, THREADS_MAX = 201, MANY = 200, FILE_SIZE = 128 << 20, FAULT_STEP = 64 << 10 };
enum { US = 1000, MS = 1000000, UNDISTURBED = 20 * US, TRIES = 3 };

struct reading {
    int64_t wall, cpu, runnable; /* ns */
    int64_t waits, preemptions, faults;
};

struct kind {
    const char *name;
    struct reading sum;
    int64_t calls, longest; /* ns blocked */
};

struct meter {
    char name[16];
    int tid, schedstat;
    int64_t created;
    struct reading total;
    struct kind kinds[KINDS_MAX];
    void (*run)(struct meter *);
    pthread_t thread;
    int number;   /* in mode many */
    bool has_got; /* a byte from the pipe, or a request */
};

static struct meter meters[THREADS_MAX];
static int meter_count;
static int64_t run_until; /* ns */
static const char *directory = ".";
static volatile uint64_t sink;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* ---- clocks ---- */

static int64_t clock_ns(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int64_t now(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* Reads the clocks of this thread, again if it lost its CPU in between. */
static struct reading read_clocks(const struct meter *meter)
{
    struct reading reading;
    for (int i = 0; i < TRIES; i++) {
        char text[96];
        struct rusage usage;
        reading.wall = now();
        reading.cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        ssize_t size = pread(meter->schedstat, text, sizeof(text) - 1, 0);
        if (size <= 0)
            fail("schedstat");
        text[size] = 0;
        reading.runnable = (int64_t)strtoull(strchr(text, ' ') + 1, NULL, 10);
        getrusage(RUSAGE_THREAD, &usage);
        reading.waits = usage.ru_nvcsw;
        reading.preemptions = usage.ru_nivcsw;
        reading.faults = usage.ru_majflt;
        if (now() - reading.wall < UNDISTURBED)
            break;
    }
    return reading;
}

static void add_call(const struct meter *meter, struct kind *kind, const char *name, const struct reading *begin)
{
    struct reading end = read_clocks(meter);
    int64_t blocked = end.wall - begin->wall - (end.cpu - begin->cpu) - (end.runnable - begin->runnable);
    kind->name = name;
    kind->calls++;
    kind->longest = blocked > kind->longest ? blocked : kind->longest;
    kind->sum.wall += end.wall - begin->wall;
    kind->sum.cpu += end.cpu - begin->cpu;
    kind->sum.runnable += end.runnable - begin->runnable;
    kind->sum.waits += end.waits - begin->waits;
    kind->sum.preemptions += end.preemptions - begin->preemptions;
    kind->sum.faults += end.faults - begin->faults;
}

/* Defines wait_NAME(), which measures a call, the kind NAME of wait, number INDEX of its thread. */
#define WAIT(name, index, parameters, call)                                                                            \
    __attribute__((noinline)) static void wait_##name parameters                                                       \
    {                                                                                                                  \
        struct reading begin = read_clocks(meter);                                                                     \
        call;                                                                                                          \
        add_call(meter, &meter->kinds[index], #name, &begin);                                                          \
    }

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

static void sleep_until(int64_t time)
{
    struct timespec until = timespec_of(time);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

static void compute(int64_t ns)
{
    int64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
        for (int i = 0; i < 1000; i++)
            sink++;
}

static bool goes_on(void)
{
    return now() < run_until;
}

/* ---- the file ---- */

static int open_file(int flags)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/wait_truth.data", directory);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | flags, 0600);
    if (fd < 0 && flags & O_DIRECT && errno == EINVAL) {
        printf("missing: the file system of %s has no O_DIRECT\n", directory);
        exit(0);
    }
    if (fd < 0)
        fail(path);
    return fd;
}

/* Creates the file on the disk unless it exists. */
static void make_file(void)
{
    int fd = open_file(0);
    struct statfs system;
    if (fstatfs(fd, &system))
        fail("statfs");
    if (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC) {
        printf("missing: the file system of %s is not on a disk\n", directory);
        exit(0);
    }
    char *block = malloc(1 << 20);
    for (off_t at = lseek(fd, 0, SEEK_END); block && at < FILE_SIZE; at += 1 << 20) {
        for (size_t i = 0; i < 1 << 20; i++)
            block[i] = (char)(i * 2654435761 >> 13);
        if (pwrite(fd, block, 1 << 20, at) < 0)
            fail("pwrite");
    }
    if (fsync(fd))
        fail("fsync");
    free(block);
    close(fd);
}

/* ---- waits ---- */

static int to_server[2], to_client[2], sockets[2], pipes[MANY][2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER, request = PTHREAD_COND_INITIALIZER;
static bool is_requested, is_signalled, is_over;
static sem_t semaphore;

/* False at the end of the pipe. */
static bool get(int fd)
{
    char byte;
    ssize_t size = read(fd, &byte, 1);
    if (size < 0)
        fail("read");
    return size == 1;
}

static void put(int fd)
{
    if (write(fd, "x", 1) != 1)
        fail("write");
}

static void await_condition(void)
{
    pthread_mutex_lock(&mutex);
    is_signalled = false;
    is_requested = true;
    pthread_mutex_unlock(&mutex);
    pthread_cond_signal(&request); /* the mutex is free: the woken thread waits only once */
    pthread_mutex_lock(&mutex);
    while (!is_signalled)
        pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
}

/* False after the last request. */
static bool await_request(void)
{
    pthread_mutex_lock(&mutex);
    while (!is_requested && !is_over)
        pthread_cond_wait(&request, &mutex);
    bool is_one = is_requested;
    is_requested = false;
    pthread_mutex_unlock(&mutex);
    return is_one;
}

static void await_semaphore(int64_t time)
{
    struct timespec until = timespec_of(time);
    while (sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until) && errno == EINTR)
        ;
}

static void await_child(int64_t length)
{
    pid_t pid = fork();
    if (pid < 0)
        fail("fork");
    if (!pid) {
        sleep_until(now() + length);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

WAIT(sleep, 0, (struct meter * meter, int64_t until), sleep_until(until))
WAIT(pipe, 1, (struct meter * meter, int fd), meter->has_got = get(fd))
WAIT(condition, 2, (struct meter * meter), await_condition())
WAIT(request, 1, (struct meter * meter), meter->has_got = await_request())
WAIT(semaphore, 2, (struct meter * meter, int64_t until), await_semaphore(until))
WAIT(socket, 3, (struct meter * meter, int fd), poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 1000))
WAIT(child, 4, (struct meter * meter, int64_t length), await_child(length))
WAIT(disk, 0, (struct meter * meter, int fd, void *to, off_t at), if (pread(fd, to, 4096, at) != 4096) fail("pread"))
WAIT(sync, 0, (struct meter * meter, int fd), if (fdatasync(fd)) fail("fdatasync"))
WAIT(fault, 0, (struct meter * meter, const volatile char *at), sink += (uint64_t)*at)

/* ---- threads of the modes ---- */

/* Sleeps `times` times for `length` ns, then asks a thread that serve() answers. */
static void sleep_and_ask(struct meter *meter, int times, int64_t length)
{
    while (goes_on()) {
        for (int i = 0; i < times; i++)
            wait_sleep(meter, now() + length);
        put(to_server[1]);
        wait_pipe(meter, to_client[0]);
    }
    close(to_server[1]);
}

/* Sleeps for `length` ns before each answer. */
static void serve(struct meter *meter, int64_t length)
{
    for (wait_pipe(meter, to_server[0]); meter->has_got; wait_pipe(meter, to_server[0])) {
        wait_sleep(meter, now() + length);
        put(to_client[1]);
    }
}

static void mix(struct meter *meter)
{
    sleep_and_ask(meter, 2, 150 * US);
}

static void mix_server(struct meter *meter)
{
    serve(meter, 150 * US);
}

static void uneven(struct meter *meter)
{
    sleep_and_ask(meter, 1, 12 * MS);
}

static void uneven_server(struct meter *meter)
{
    serve(meter, 3 * MS);
}

static void end_requests(void)
{
    close(to_server[1]);
    pthread_mutex_lock(&mutex);
    is_over = true;
    pthread_cond_signal(&request);
    pthread_mutex_unlock(&mutex);
}

static void mix3(struct meter *meter)
{
    while (goes_on()) {
        wait_sleep(meter, now() + 100 * US);
        put(to_server[1]);
        wait_pipe(meter, to_client[0]);
        wait_condition(meter);
    }
    end_requests();
}

static void mix3_server(struct meter *meter)
{
    for (wait_pipe(meter, to_server[0]); meter->has_got; wait_pipe(meter, to_server[0])) {
        compute(300 * US);
        put(to_client[1]);
    }
}

static void signaller(struct meter *meter, int64_t delay)
{
    for (wait_request(meter); meter->has_got; wait_request(meter)) {
        wait_sleep(meter, now() + delay);
        pthread_mutex_lock(&mutex);
        is_signalled = true;
        pthread_mutex_unlock(&mutex);
        pthread_cond_signal(&condition);
    }
}

static void mix3_signaller(struct meter *meter)
{
    signaller(meter, MS);
}

/* A sampler whose period is a multiple of 1 ms meets only one of the kinds. */
static void alias(struct meter *meter)
{
    while (goes_on()) {
        int64_t ms = now() / MS * MS;
        wait_sleep(meter, ms + MS);
        wait_semaphore(meter, ms + MS + MS / 2);
    }
}

static void direct(struct meter *meter)
{
    int fd = open_file(O_DIRECT);
    void *buffer = aligned_alloc(4096, 4096);
    for (int64_t i = 0; buffer && goes_on(); i++)
        wait_disk(meter, fd, buffer, i * 7919 % (FILE_SIZE / 4096) * 4096);
    free(buffer);
    close(fd);
}

static void sync_writes(struct meter *meter)
{
    static char block[4096];
    int fd = open_file(0);
    for (int64_t i = 0; goes_on(); i++) {
        memset(block, (int)i, sizeof(block));
        if (pwrite(fd, block, sizeof(block), i * 7919 % (FILE_SIZE / 4096) * 4096) < 0)
            fail("pwrite");
        wait_sync(meter, fd);
    }
    close(fd);
}

static void fault(struct meter *meter)
{
    int fd = open_file(0);
    while (goes_on()) {
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        char *map = mmap(NULL, FILE_SIZE, PROT_READ, MAP_SHARED, fd, 0);
        if (map == MAP_FAILED)
            fail("mmap");
        madvise(map, FILE_SIZE, MADV_RANDOM);
        for (size_t i = 0; i < FILE_SIZE && goes_on(); i += FAULT_STEP)
            wait_fault(meter, map + i);
        munmap(map, FILE_SIZE);
    }
    close(fd);
}

static void burner(struct meter *meter)
{
    (void)meter;
    while (goes_on())
        compute(MS);
}

static void queuer(struct meter *meter)
{
    while (goes_on()) {
        wait_sleep(meter, (now() / (5 * MS) + 1) * 5 * MS);
        compute(300 * US);
    }
}

enum { LONG = 60 * MS };

static void long_waits(struct meter *meter)
{
    while (goes_on()) {
        wait_sleep(meter, now() + LONG);
        put(to_server[1]);
        wait_pipe(meter, to_client[0]);
        wait_condition(meter);
        put(to_server[1]);
        wait_socket(meter, sockets[0]);
        get(sockets[0]);
        wait_child(meter, LONG);
    }
    end_requests();
}

static void long_server(struct meter *meter)
{
    for (bool to_socket = false;; to_socket = !to_socket) {
        wait_pipe(meter, to_server[0]);
        if (!meter->has_got)
            return;
        wait_sleep(meter, now() + LONG);
        put(to_socket ? sockets[1] : to_client[1]);
    }
}

static void long_signaller(struct meter *meter)
{
    signaller(meter, LONG);
}

enum { MANY_INTERVAL = 20 * MS };

static _Atomic int64_t wanted[MANY]; /* ns: when a thread wants its byte; 0: never */

static void many(struct meter *meter)
{
    sleep_until(now() + MANY_INTERVAL * meter->number / MANY); /* spread */
    while (goes_on()) {
        wait_sleep(meter, now() + MANY_INTERVAL);
        wanted[meter->number] = now() + MANY_INTERVAL;
        wait_pipe(meter, pipes[meter->number][0]);
    }
}

static void many_server(struct meter *meter)
{
    while (now() < run_until + 5 * MANY_INTERVAL) {
        wait_sleep(meter, now() + MS);
        for (int i = 0; i < MANY; i++)
            if (wanted[i] && wanted[i] <= now()) {
                wanted[i] = 0;
                put(pipes[i][1]);
            }
    }
}

/* ---- modes ---- */

static void *run_thread(void *argument)
{
    struct meter *meter = argument;
    prctl(PR_SET_NAME, meter->name);
    prctl(PR_SET_TIMERSLACK, 1);
    meter->tid = gettid();
    meter->schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (meter->schedstat < 0)
        fail("/proc/thread-self/schedstat");
    meter->run(meter);
    meter->total = read_clocks(meter);
    return NULL;
}

static void start(const char *name, void (*run)(struct meter *), int count)
{
    for (int i = 0; i < count; i++) {
        struct meter *meter = &meters[meter_count++];
        snprintf(meter->name, sizeof(meter->name), count > 1 ? "%s-%d" : "%s", name, i);
        meter->run = run;
        meter->number = i;
        meter->created = now();
        if ((errno = pthread_create(&meter->thread, NULL, run_thread, meter)))
            fail("pthread_create");
    }
}

/* Restricts this thread and those that it creates later to one CPU. */
static void use_one_cpu(void)
{
    cpu_set_t cpus, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof(cpus), &cpus))
        fail("sched_getaffinity");
    for (int cpu = CPU_SETSIZE - 1; !CPU_COUNT(&one); cpu--)
        if (CPU_ISSET(cpu, &cpus))
            CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof(one), &one))
        fail("sched_setaffinity");
}

static void print_kind(const struct kind *kind, const char *separator)
{
    const struct reading *sum = &kind->sum;
    printf("%s{\"kind\": \"%s\", \"calls\": %jd, \"waits\": %jd, \"faults\": %jd, \"wall_ms\": %.3f, \"cpu_ms\": %.3f, "
           "\"runnable_ms\": %.3f, \"blocked_ms\": %.3f, \"longest_ms\": %.3f}",
           separator, kind->name, (intmax_t)kind->calls, (intmax_t)sum->waits, (intmax_t)sum->faults,
           (double)sum->wall / 1e6, (double)sum->cpu / 1e6, (double)sum->runnable / 1e6,
           (double)(sum->wall - sum->cpu - sum->runnable) / 1e6, (double)kind->longest / 1e6);
}

static void print_meter(const struct meter *meter)
{
    const struct reading *total = &meter->total;
    int64_t wall = total->wall - meter->created;
    const char *separator = "";
    printf("{\"thread\": \"%s\", \"tid\": %d, \"from_ns\": %jd, \"to_ns\": %jd, \"wall_ms\": %.3f, \"cpu_ms\": %.3f, "
           "\"runnable_ms\": %.3f, \"blocked_ms\": %.3f, \"waits\": %jd, \"preemptions\": %jd, \"kinds\": [",
           meter->name, meter->tid, (intmax_t)meter->created, (intmax_t)total->wall, (double)wall / 1e6,
           (double)total->cpu / 1e6, (double)total->runnable / 1e6, (double)(wall - total->cpu - total->runnable) / 1e6,
           (intmax_t)total->waits, (intmax_t)total->preemptions);
    for (int i = 0; i < KINDS_MAX; i++)
        if (meter->kinds[i].calls) {
            print_kind(&meter->kinds[i], separator);
            separator = ", ";
        }
    printf("]}\n");
}

static void start_mode(const char *mode)
{
    if (!strcmp(mode, "mix")) {
        start("mix", mix, 1);
        start("server", mix_server, 1);
    } else if (!strcmp(mode, "uneven")) {
        start("uneven", uneven, 1);
        start("server", uneven_server, 1);
    } else if (!strcmp(mode, "mix3")) {
        start("mix3", mix3, 1);
        start("server", mix3_server, 1);
        start("signaller", mix3_signaller, 1);
    } else if (!strcmp(mode, "alias")) {
        start("alias", alias, 1);
    } else if (!strcmp(mode, "direct")) {
        start("direct", direct, 1);
    } else if (!strcmp(mode, "sync")) {
        start("sync", sync_writes, 1);
    } else if (!strcmp(mode, "fault")) {
        start("fault", fault, 1);
    } else if (!strcmp(mode, "preempt")) {
        use_one_cpu();
        start("burner", burner, 2);
    } else if (!strcmp(mode, "queue")) {
        use_one_cpu();
        start("burner", burner, 2);
        start("queuer", queuer, 6);
    } else if (!strcmp(mode, "long")) {
        start("long", long_waits, 1);
        start("server", long_server, 1);
        start("signaller", long_signaller, 1);
    } else if (!strcmp(mode, "many")) {
        start("many", many, MANY);
        start("server", many_server, 1);
    } else {
        fprintf(stderr, "wait_truth: no mode %s\n", mode);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 4)
        return 2;
    if (argc > 3)
        directory = argv[3];
    if (!strcmp(argv[1], "direct") || !strcmp(argv[1], "fault") || !strcmp(argv[1], "sync"))
        make_file();
    if (pipe(to_server) || pipe(to_client) || socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets) || sem_init(&semaphore, 0, 0))
        fail("pipe");
    for (int i = 0; i < MANY && !strcmp(argv[1], "many"); i++)
        if (pipe(pipes[i]))
            fail("pipe");
    run_until = now() + (int64_t)((argc > 2 ? atof(argv[2]) : 5) * 1e9);
    start_mode(argv[1]);
    for (int i = 0; i < meter_count; i++)
        pthread_join(meters[i].thread, NULL);
    for (int i = 0; i < meter_count; i++)
        print_meter(&meters[i]);
    return 0;
}
