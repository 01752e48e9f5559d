#include "os/parallel.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

enum { THREADS_MAX = 64 };

struct loop {
    void (*run)(void *context, size_t i);
    void *context;
    size_t count;
    atomic_size_t next;
};

static void *run_worker(void *argument)
{
    struct loop *loop = argument;
    for (size_t i = atomic_fetch_add(&loop->next, 1); i < loop->count; i = atomic_fetch_add(&loop->next, 1))
        loop->run(loop->context, i);
    return NULL;
}

void parallel_for(unsigned threads, size_t stack_size, size_t count, void (*run)(void *context, size_t i),
                  void *context)
{
    struct loop loop = {.run = run, .context = context, .count = count};
    pthread_t made[THREADS_MAX];
    pthread_attr_t attributes;
    unsigned made_count = 0;
    if (threads > THREADS_MAX)
        threads = THREADS_MAX;
    if (threads > count)
        threads = (unsigned)count;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the caller's threads handle signals */
    if (pthread_attr_init(&attributes) == 0) {
        pthread_attr_setstacksize(&attributes, stack_size);
        while (made_count < threads && pthread_create(&made[made_count], &attributes, run_worker, &loop) == 0)
            made_count++;
        pthread_attr_destroy(&attributes);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (made_count == 0)
        run_worker(&loop);
    for (unsigned i = 0; i < made_count; i++)
        pthread_join(made[i], NULL);
}

bool thread_start_detached(void *(*body)(void *context), void *context)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&thread, &attributes, body, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return !failed;
}

void condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}
