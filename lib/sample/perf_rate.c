#include "sample/perf_rate.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>

enum {
    OFTEN = 10000, /* switches per second above which setting the timer takes some percent of the thread's time */
    NOT_OFTEN = OFTEN / 2
};

static void set_interval(const struct perf_rate *rate, const struct perf_rate_thread *thread, uint64_t interval)
{
    for (uint32_t i = 0; i < thread->count; i++)
        ioctl(rate->fds.data[thread->first + i], PERF_EVENT_IOC_PERIOD, &interval);
}

bool perf_rate_begin_thread(struct perf_rate *rate, uint32_t tid)
{
    struct perf_rate_thread thread = {.tid = tid, .first = (uint32_t)rate->fds.length};
    if (!rate->interval)
        return true;
    return array_push(&rate->threads, thread) && hash_set(&rate->indexes, tid, (uint32_t)rate->threads.length - 1);
}

bool perf_rate_add_event(struct perf_rate *rate, int fd)
{
    if (!rate->interval || !rate->threads.length)
        return true;
    if (!array_push(&rate->fds, fd))
        return false;
    rate->threads.data[rate->threads.length - 1].count++;
    return true;
}

static void count_switch(struct perf_rate *rate, struct perf_rate_thread *thread)
{
    if (++thread->left != OFTEN || thread->is_lower)
        return;
    rate->lowered += !thread->was_lower;
    thread->is_lower = thread->was_lower = true;
    set_interval(rate, thread, rate->interval * PERF_RATE_FEWER);
}

void perf_rate_handle_record(struct perf_rate *rate, const struct perf_record *record)
{
    bool leaves = (record->type == PERF_RECORD_SWITCH || record->type == PERF_RECORD_SWITCH_CPU_WIDE) &&
                  record->context_switch.out;
    if (!rate->interval || (!leaves && record->type != PERF_RECORD_EXIT))
        return;
    uint32_t index = hash_get(&rate->indexes, record->tid);
    if (index == HASH_MISSING)
        return;
    if (leaves) {
        count_switch(rate, &rate->threads.data[index]);
    } else {
        rate->threads.data[index].has_ended = true;
        hash_remove(&rate->indexes, record->tid);
    }
}

void perf_rate_update_every_second(struct perf_rate *rate)
{
    for (size_t i = 0; i < rate->threads.length; i++) {
        struct perf_rate_thread *thread = &rate->threads.data[i];
        if (thread->is_lower && !thread->has_ended && thread->left < NOT_OFTEN) {
            thread->is_lower = false;
            set_interval(rate, thread, rate->interval);
        }
        thread->left = 0;
    }
}

void perf_rate_destroy(struct perf_rate *rate)
{
    array_free(&rate->threads);
    array_free(&rate->fds);
    hash_destroy(&rate->indexes);
}
