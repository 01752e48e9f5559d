/*
 * One thread for each kind of lock, which waits for it in a function of that name. Prints the addresses of the locks.
 * build: -O0 -pthread -fno-omit-frame-pointer
 *
 *     lock_kinds [MS]
 *
 * Each thread waits for about MS (default 400). Two pairs of threads hand a counter to and fro through two neighboring
 * condition variables, so that each variable uses both of its futex words.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { PAIRS = 2, KINDS = 8 };

struct pair {
    pthread_mutex_t mutex;
    int turn;
};

static int ms = 400;
static pthread_mutex_t cache_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t queue_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_ready = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t setup = PTHREAD_ONCE_INIT;
static sem_t slots;
static pthread_barrier_t phase;
static pthread_t sleeping;
static struct pair pairs[PAIRS];
static struct {
    char name[64];
    pthread_cond_t conditions[PAIRS];
} pool;

static void pause_for(int length)
{
    struct timespec time = {.tv_sec = length / 1000, .tv_nsec = length % 1000 * 1000000L};
    nanosleep(&time, NULL);
}

static void slow_setup(void)
{
    pause_for(ms);
}

static void *sleep_only(void *unused)
{
    pause_for(ms);
    return unused;
}

static void *mutex(void *unused)
{
    pthread_mutex_lock(&cache_mutex);
    pthread_mutex_unlock(&cache_mutex);
    return unused;
}

static void *condition(void *unused)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 3600;
    pthread_mutex_lock(&queue_mutex);
    pthread_cond_timedwait(&queue_ready, &queue_mutex, &until);
    pthread_mutex_unlock(&queue_mutex);
    return unused;
}

static void *rwlock(void *unused)
{
    pthread_rwlock_rdlock(&table_lock);
    pthread_rwlock_unlock(&table_lock);
    return unused;
}

static void *semaphore(void *unused)
{
    sem_wait(&slots);
    return unused;
}

static void *barrier(void *unused)
{
    pthread_barrier_wait(&phase);
    return unused;
}

static void *once(void *unused)
{
    pause_for(ms / 20); /* main() runs slow_setup() by then */
    pthread_once(&setup, slow_setup);
    return unused;
}

static void *join(void *unused)
{
    pthread_join(sleeping, NULL);
    return unused;
}

/* Takes turns of a ms each with the other thread of its pair. */
static void *take_turns(void *argument)
{
    size_t number = (size_t)argument;
    struct pair *pair = &pairs[number / 2];
    pthread_cond_t *changed = &pool.conditions[number / 2];
    char name[16];
    snprintf(name, sizeof(name), "turns-%zu", number);
    prctl(PR_SET_NAME, name);
    for (int i = 0; i < ms / 10; i++) {
        pthread_mutex_lock(&pair->mutex);
        while (pair->turn != (int)(number % 2))
            pthread_cond_wait(changed, &pair->mutex);
        pthread_mutex_unlock(&pair->mutex);
        pause_for(5);
        pthread_mutex_lock(&pair->mutex);
        pair->turn = !pair->turn;
        pthread_cond_signal(changed);
        pthread_mutex_unlock(&pair->mutex);
    }
    return NULL;
}

struct thread {
    const char *name;
    void *(*run)(void *);
};

static const struct thread kinds[KINDS] = {
    {"mutex", mutex},     {"condition", condition}, {"rwlock", rwlock}, {"semaphore", semaphore},
    {"barrier", barrier}, {"once", once},           {"join", join},     {"sleep", sleep_only},
};

static void *run_kind(void *argument)
{
    const struct thread *thread = argument;
    prctl(PR_SET_NAME, thread->name);
    return thread->run(NULL);
}

int main(int argc, char **argv)
{
    pthread_t threads[KINDS], turns[2 * PAIRS];
    if (argc > 1)
        ms = atoi(argv[1]);
    sem_init(&slots, 0, 0);
    pthread_barrier_init(&phase, NULL, 2);
    pthread_mutex_lock(&cache_mutex);
    pthread_rwlock_wrlock(&table_lock);
    for (int i = 0; i < PAIRS; i++) {
        pthread_mutex_init(&pairs[i].mutex, NULL);
        pthread_cond_init(&pool.conditions[i], NULL);
    }
    printf("%p %p %p\n", (void *)&cache_mutex, (void *)&pool.conditions[0], (void *)&pool.conditions[1]);
    fflush(stdout);
    pthread_create(&sleeping, NULL, sleep_only, NULL);
    for (int i = 0; i < KINDS; i++)
        pthread_create(&threads[i], NULL, run_kind, (void *)&kinds[i]);
    for (size_t i = 0; i < 2 * PAIRS; i++)
        pthread_create(&turns[i], NULL, take_turns, (void *)i);
    pthread_once(&setup, slow_setup);
    pthread_mutex_unlock(&cache_mutex);
    pthread_cond_signal(&queue_ready);
    pthread_rwlock_unlock(&table_lock);
    sem_post(&slots);
    pthread_barrier_wait(&phase);
    for (int i = 0; i < KINDS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2 * PAIRS; i++)
        pthread_join(turns[i], NULL);
    return 0;
}
