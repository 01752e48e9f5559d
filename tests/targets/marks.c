/*
 * build: -O2 -g -Iinclude -pthread
 *
 * Marks itself with include/prof/marks.h, and logs what it marks with times of clock_gettime().
 *
 *     marks kinds          one mark of each kind, from two threads, a forked child and a program that is executed
 *     marks many N S T     N marks in S seconds, from T threads, by turns; then prints N
 *     marks burst N        N marks as fast as it can
 *     marks crash          some marks, then kill -9 of itself with an interval open
 *     marks cost N         prints the ns that each of N marks takes, of each kind; beside that of clock_gettime()
 *     marks forks N        N children, each of which makes one mark and ends
 *     marks first          two threads whose first marks are at the same time, 200 each
 *     marks wild           overwrites its buffer with nonsense, and makes it shorter
 *     marks wait FILE      marks each 10 ms until FILE is there
 */
#include <prof/marks.h>

#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>

/* "NAME TID KIND TIME": the time is read beside the mark, before or after it. */
static void log_mark(const char *name, const char *kind, uint64_t time)
{
    printf("%s %ld %s %" PRIu64 "\n", name, (long)syscall(SYS_gettid), kind, time);
    fflush(stdout);
}

static void instant(const char *name, const char *text)
{
    log_mark(name, "before", prof_marks_now());
    prof_mark_text(name, text);
    log_mark(name, "after", prof_marks_now());
}

static void spin_ms(unsigned ms)
{
    for (uint64_t end = prof_marks_now() + ms * UINT64_C(1000000); prof_marks_now() < end;)
        ;
}

static void *second_thread(void *unused)
{
    instant("thread", "of another thread");
    {
        PROF_INTERVAL_TEXT("scope", "inner");
        spin_ms(2);
    }
    return unused;
}

static int kinds(char *program)
{
    pthread_t thread;
    log_mark("outer", "start", prof_marks_now());
    prof_mark_begin_text("outer", "with a text");
    prof_mark_begin("inner");
    spin_ms(5);
    prof_mark_end("inner");
    instant("moment", "Grüße, \"quoted\"\n");
    prof_mark("bare");
    for (int i = 0; i < 10; i++)
        prof_counter("queue", i % 2 ? 7.5 : i);
    prof_mark_end("outer");
    log_mark("outer", "end", prof_marks_now());
    uint64_t start = prof_marks_now();
    spin_ms(3);
    prof_mark_span("span", NULL, start, prof_marks_now());
    prof_mark_end("never begun");
    prof_mark_begin("never ended");
    if (pthread_create(&thread, NULL, second_thread, NULL) == 0)
        pthread_join(thread, NULL);
    pid_t child = fork();
    if (child == 0) {
        instant("child", "");
        execl(program, program, "executed", (char *)NULL);
        _exit(1);
    }
    waitpid(child, NULL, 0);
    instant("last", "");
    return 0;
}

/* ---- many ---- */

struct many {
    uint64_t count, start, ns;
};

static void *mark_many(void *context)
{
    const struct many *many = context;
    static const char *const names[] = {"alpha", "beta", "gamma", "delta"};
    for (uint64_t i = 0; i < many->count; i++) {
        /* in packs of 100, as a program that is awakened does */
        uint64_t due = many->start + many->ns * (i / 100 * 100) / many->count, now = prof_marks_now();
        if (due > now) {
            struct timespec pause = {.tv_nsec = (long)((due - now) % 1000000000),
                                     .tv_sec = (time_t)((due - now) / 1000000000)};
            nanosleep(&pause, NULL);
        }
        prof_mark(names[i % 4]);
    }
    return NULL;
}

static int many(uint64_t count, uint64_t seconds, size_t threads)
{
    pthread_t ids[64];
    struct many each = {.count = count / threads, .start = prof_marks_now(), .ns = seconds * UINT64_C(1000000000)};
    for (size_t i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, mark_many, &each))
            return 1;
    for (size_t i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    printf("%" PRIu64 "\n", each.count * threads);
    return 0;
}

/* ---- cost ---- */

static double ns_each(uint64_t start, uint64_t count)
{
    return (double)(prof_marks_now() - start) / (double)count;
}

static int cost(uint64_t count)
{
    const bool is_on = prof_marks_are_recorded();
    double clock = 1e9, instant_ns = 1e9, text_ns = 1e9, counter_ns = 1e9;
    /* in packs that have room in the buffer, with pauses in which it is read; the best of them */
    const uint64_t pack = is_on ? 20000 : count;
    struct timespec pause = {.tv_nsec = 60000000};
    for (uint64_t done = 0; done < count; done += pack) {
        uint64_t start = prof_marks_now();
        for (uint64_t i = 0; i < pack; i++)
            prof_marks_now();
        double ns = ns_each(start, pack);
        clock = ns < clock ? ns : clock;
        start = prof_marks_now();
        for (uint64_t i = 0; i < pack; i++)
            prof_mark("cost");
        ns = ns_each(start, pack);
        instant_ns = ns < instant_ns ? ns : instant_ns;
        start = prof_marks_now();
        for (uint64_t i = 0; i < pack / 2; i++)
            prof_mark_text("cost", "of a short text");
        ns = ns_each(start, pack / 2);
        text_ns = ns < text_ns ? ns : text_ns;
        if (is_on)
            nanosleep(&pause, NULL);
        start = prof_marks_now();
        for (uint64_t i = 0; i < pack; i++)
            prof_counter("value", (double)i);
        ns = ns_each(start, pack);
        counter_ns = ns < counter_ns ? ns : counter_ns;
        if (is_on)
            nanosleep(&pause, NULL);
    }
    printf("{\"recorded\": %s, \"clock\": %.2f, \"mark\": %.2f, \"text\": %.2f, \"counter\": %.2f}\n",
           is_on ? "true" : "false", clock, instant_ns, text_ns, counter_ns);
    return 0;
}

/* ---- ends ---- */

static int crash(void)
{
    for (int i = 0; i < 100; i++)
        prof_mark("before the crash");
    prof_mark_begin("open");
    kill(getpid(), SIGKILL);
    return 1;
}

static int forks(int count)
{
    for (int i = 0; i < count; i++) {
        pid_t child = fork();
        if (child == 0) {
            prof_mark("born");
            _exit(i % 3 ? 0 : 7);
        }
        if (child > 0)
            waitpid(child, NULL, 0);
    }
    return 0;
}

static void *mark_at_once(void *barrier)
{
    pthread_barrier_wait(barrier);
    for (int i = 0; i < 200; i++)
        prof_mark("at once");
    return NULL;
}

static int first(void)
{
    pthread_t ids[2];
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < 2; i++)
        if (pthread_create(&ids[i], NULL, mark_at_once, &barrier))
            return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(ids[i], NULL);
    return 0;
}

/* Finds its own buffer in memory: the recorder has taken away its name. */
static int wild(void)
{
    prof_mark("first");
    char *memory = (char *)prof_marks_state_->head;
    struct timespec pause = {.tv_nsec = 200000000};
    nanosleep(&pause, NULL);
    for (uint64_t i = 0; i < PROF_MARKS_ROOM; i++)
        memory[PROF_MARKS_PAGE + i] = (char)(i * 7 + i / 4096);
    prof_marks_state_->head->written += 4096;
    nanosleep(&pause, NULL);
    prof_marks_state_->head->written += UINT64_C(1) << 40;
    nanosleep(&pause, NULL);
    prof_mark("last");
    return 0;
}

static int mark_until(const char *path)
{
    struct timespec pause = {.tv_nsec = 10000000};
    while (access(path, F_OK)) {
        prof_mark("tick");
        nanosleep(&pause, NULL);
    }
    return 0;
}

static uint64_t number(char **argv, int i)
{
    return argv[i] ? strtoull(argv[i], NULL, 10) : 1;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    if (!strcmp(mode, "kinds"))
        return kinds(argv[0]);
    if (!strcmp(mode, "executed")) {
        instant("executed", "");
        return 3;
    }
    if (!strcmp(mode, "many") && argc == 5)
        return many(number(argv, 2), number(argv, 3), number(argv, 4));
    if (!strcmp(mode, "burst")) {
        for (uint64_t i = 0, count = number(argv, 2); i < count; i++)
            prof_mark("burst");
        return 0;
    }
    if (!strcmp(mode, "cost"))
        return cost(number(argv, 2));
    if (!strcmp(mode, "crash"))
        return crash();
    if (!strcmp(mode, "forks"))
        return forks((int)number(argv, 2));
    if (!strcmp(mode, "first"))
        return first();
    if (!strcmp(mode, "wild"))
        return wild();
    if (!strcmp(mode, "wait") && argc == 3)
        return mark_until(argv[2]);
    fprintf(stderr, "marks: no such mode\n");
    return 2;
}
