#include "record/wakers.h"

#include "os/file_io.h"
#include "spool/wait_reasons.h"
#include "sample/wakeups.h"

void wakers_handle_thread_end(struct wakers *wakers, uint32_t tid, const char *name)
{
    wakers->ended[wakers->next].tid = tid;
    snprintf(wakers->ended[wakers->next].name, sizeof(wakers->ended[0].name), "%s", name);
    wakers->next = (wakers->next + 1) % WAKERS_ENDED;
}

/* Returns the name of the last ended thread with this tid, or NULL for none. */
static const char *find_ended_name(const struct wakers *wakers, uint32_t tid)
{
    for (size_t i = 1; i <= WAKERS_ENDED; i++) {
        size_t at = (wakers->next + WAKERS_ENDED - i) % WAKERS_ENDED;
        if (wakers->ended[at].tid == tid)
            return wakers->ended[at].name;
    }
    return NULL;
}

static void write_stranger_name(uint32_t tid, char *text, size_t size)
{
    char path[32], name[32];
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/comm", tid);
    if (file_read_text(path, name, sizeof(name)))
        snprintf(text, size, "%s (%" PRIu32 "), not recorded", name, tid);
    else
        snprintf(text, size, "thread %" PRIu32 ", not recorded", tid);
}

bool waker_is_thread(const struct thread_waker *waker, uint32_t reason)
{
    return waker->tid && waker->context != WAKEUP_BY_INTERRUPT &&
           (waker->context != WAKEUP_BY_SOFT_INTERRUPT || reason == REASON_NETWORK);
}

void wakers_write_name(const struct wakers *wakers, struct tracker *tracker, const struct thread_waker *waker,
                       uint32_t reason, char *text, size_t size)
{
    struct tracked_process *process;
    if (!waker_is_thread(waker, reason)) {
        snprintf(text, size, "interrupt");
        return;
    }
    const struct tracked_thread *thread = tracker_find_thread(tracker, waker->tid, &process);
    const char *name = thread ? thread->name : find_ended_name(wakers, waker->tid);
    if (name)
        snprintf(text, size, "%s (%" PRIu32 ")", name, waker->tid);
    else
        write_stranger_name(waker->tid, text, size);
    size_t used = strlen(text);
    if (waker->context == WAKEUP_BY_SOFT_INTERRUPT)
        snprintf(text + used, size - used, ", in a soft interrupt");
}
