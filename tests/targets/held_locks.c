/*
 * Two threads that wait for locks of a known length. build: -O0 -pthread -fno-omit-frame-pointer
 *
 *     held_locks MS COUNT
 *
 * holder() holds both locks for MS, COUNT times. Each time, wait_for_named() waits for `cache_lock` and wait_for_heap()
 * for a lock on the heap, which has another address in each run.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

static int ms, count;
static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER, *heap_lock;
static sem_t held[2], taken;

static void wait_for_lock(sem_t *is_held, pthread_mutex_t *lock)
{
    for (int i = 0; i < count; i++) {
        sem_wait(is_held);
        pthread_mutex_lock(lock);
        pthread_mutex_unlock(lock);
        sem_post(&taken);
    }
}

static void *wait_for_named(void *unused)
{
    prctl(PR_SET_NAME, "named");
    wait_for_lock(&held[0], &cache_lock);
    return unused;
}

static void *wait_for_heap(void *unused)
{
    prctl(PR_SET_NAME, "heap");
    wait_for_lock(&held[1], heap_lock);
    return unused;
}

static void holder(void)
{
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    for (int i = 0; i < count; i++) {
        pthread_mutex_lock(&cache_lock);
        pthread_mutex_lock(heap_lock);
        sem_post(&held[0]);
        sem_post(&held[1]);
        nanosleep(&time, NULL);
        pthread_mutex_unlock(&cache_lock);
        pthread_mutex_unlock(heap_lock);
        sem_wait(&taken);
        sem_wait(&taken);
    }
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    ms = argc > 1 ? atoi(argv[1]) : 10;
    count = argc > 2 ? atoi(argv[2]) : 40;
    heap_lock = malloc(sizeof(*heap_lock));
    pthread_mutex_init(heap_lock, NULL);
    pthread_create(&threads[0], NULL, wait_for_named, NULL);
    pthread_create(&threads[1], NULL, wait_for_heap, NULL);
    holder();
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
