#include "sample/perf_apart.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    ENDED_CHILDREN = 16, /* ended children per thread; each may have cost the thread one sample */
    STILL_ENDING = 4,    /* ended children per second for which a thread keeps its extra event */
    THREADS_MAX = 256    /* descriptors */
};

static int open_own_event(uint32_t tid)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof(attr),
                                   .config = PERF_COUNT_SW_DUMMY,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    return (int)syscall(SYS_perf_event_open, &attr, (pid_t)tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void add_own_event(struct perf_apart *apart, uint32_t tid)
{
    if (apart->threads.length == THREADS_MAX)
        return;
    struct perf_apart_thread thread = {.tid = tid, .fd = open_own_event(tid), .ended = STILL_ENDING};
    if (thread.fd >= 0 && !array_push(&apart->threads, thread))
        close(thread.fd);
}

static struct perf_apart_thread *find_apart_thread(const struct perf_apart *apart, uint32_t tid)
{
    for (size_t i = 0; i < apart->threads.length; i++)
        if (apart->threads.data[i].tid == tid)
            return &apart->threads.data[i];
    return NULL;
}

static void close_own_event(struct perf_apart *apart, struct perf_apart_thread *thread)
{
    close(thread->fd);
    *thread = apart->threads.data[--apart->threads.length];
}

static void count_ended_child(struct perf_apart *apart, uint32_t parent)
{
    struct perf_apart_thread *thread = find_apart_thread(apart, parent);
    uint32_t *ended = hash_at(&apart->ended, parent);
    if (thread)
        thread->ended++;
    if (!ended)
        return;
    *ended = *ended == HASH_MISSING ? 1 : *ended + 1;
    if (*ended == ENDED_CHILDREN)
        add_own_event(apart, parent);
}

static void remove_thread(struct perf_apart *apart, uint32_t tid)
{
    struct perf_apart_thread *thread = find_apart_thread(apart, tid);
    if (thread)
        close_own_event(apart, thread);
    hash_remove(&apart->parents, tid);
    hash_remove(&apart->ended, tid);
}

void perf_apart_handle_record(struct perf_apart *apart, const struct perf_record *record)
{
    if (record->type == PERF_RECORD_FORK) {
        hash_set(&apart->parents, record->tid, record->task.parent_tid);
    } else if (record->type == PERF_RECORD_EXIT) {
        uint32_t parent = hash_get(&apart->parents, record->tid);
        remove_thread(apart, record->tid);
        if (parent != HASH_MISSING)
            count_ended_child(apart, parent);
    }
}

void perf_apart_update_every_second(struct perf_apart *apart)
{
    for (size_t i = apart->threads.length; i-- > 0;) {
        struct perf_apart_thread *thread = &apart->threads.data[i];
        if (thread->ended >= STILL_ENDING) {
            thread->ended = 0;
            continue;
        }
        hash_remove(&apart->ended, thread->tid); /* restarts the count */
        close_own_event(apart, thread);
    }
}

void perf_apart_destroy(struct perf_apart *apart)
{
    for (size_t i = 0; i < apart->threads.length; i++)
        close(apart->threads.data[i].fd);
    array_free(&apart->threads);
    hash_destroy(&apart->parents);
    hash_destroy(&apart->ended);
}
