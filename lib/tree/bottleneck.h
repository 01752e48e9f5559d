/*
 * The bottleneck of threads that wait, as sentences for the header of `prof report` and the page:
 *
 *   - With wakers, if the critical path of the first thread is on one other thread for more than a third of the
 *     range: "Of 0.128 s, 64.2 ms CPU time of second in compute while first waits for mutex lock_b, 63.4 ms in smaller
 *     parts." The share is that of the time without the runnable time, which depends on other programs. If the path
 *     stays on a thread that runs, the sentence names no wait.
 *   - If the threads that wait for a lock, for a disk or for a page wait for a seventh of their time, and for a tenth
 *     of the time of all threads: "3 of 5 threads wait 60% of their time for mutex cache in Cache::lookup." With
 *     stacks of wakers, the critical paths during the longest of these waits add what the holders do most of that time:
 *     "Its holder, thread loader, mostly runs read_all."
 *
 * Threads also wait for work with condition variables, semaphores, pipes and sockets, so these are no bottleneck.
 * Neither is a lock of unknown kind, but a lock of PostgreSQL or of the memory map is one. A condition variable or a
 * semaphore is a bottleneck only under three conditions: the profile has wakers; one function both waits and ends
 * waits, as for the items of a pool; and for most of the time, threads with items run or wait for something else: "8 of
 * 9 threads wait 63% of their time for condition variable pool_free in pool_get. Thread client, which ends waits,
 * mostly sleeps in run_query."
 */
#pragma once

#include "base/text_buffer.h"
#include "tree/wait_groups.h"

struct bottleneck {
    struct text_buffer sentence; /* empty: none */
    uint32_t object;             /* func of the object of the sentence; PROFILE_NONE: unknown */
    double weight;               /* 0 to 1: how much of the run the sentence explains */
    bool has_holder;             /* the sentence has the work of the threads that hold the object or items of a pool */
};

/* Fills the zeroed struct with the critical path of the first thread of the engine's query. Call bottleneck_destroy()
 * also after a failure. */
int bottleneck_find_path(struct bottleneck *bottleneck, const struct engine *engine, struct error *err);

/* The same for the object of most waits. `groups`: the waits of the query by object, which may be empty. `path`: the
 * critical path from bottleneck_find_path(). If the path explains why threads wait for another object than the end of a
 * thread, pools are no bottleneck. */
int bottleneck_find_object(struct bottleneck *bottleneck, const struct engine *engine, const struct wait_groups *groups,
                           const struct bottleneck *path, struct error *err);

/* Appends "mutex cache in Cache::lookup". */
int wait_group_append_object(struct text_buffer *text, const struct engine *engine, const struct wait_group *group,
                             struct error *err);

/* Appends "3 of 5 threads wait 60% of their time for mutex cache in Cache::lookup." */
int wait_group_append_sentence(struct text_buffer *text, const struct engine *engine, const struct wait_group *group,
                               struct error *err);

void bottleneck_destroy(struct bottleneck *bottleneck);

/* Groups the waits of the engine's query, of WEIGH_CPU_TIME, by object, unless its threads run for more than nine
 * tenths of their time. The groups stay empty then. */
int engine_group_bottleneck_waits(struct engine *engine, struct wait_groups *groups, struct error *err);
