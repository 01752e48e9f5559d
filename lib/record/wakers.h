/*
 * Names wakers: "worker-2 (1234)" for a recorded thread, "Xorg (77), not recorded", "interrupt".
 *
 * A process that exits wakes its parent after the kernel has written its EXIT record, and a waker may end before the
 * woken thread runs. So the struct keeps the names of the last WAKERS_ENDED ended threads.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "process/thread_run.h"
#include "process/tracker.h"

enum { WAKER_NAME_SIZE = 80, WAKERS_ENDED = 64 };

/* Starts zeroed. */
struct wakers {
    struct {
        uint32_t tid;
        char name[16];
    } ended[WAKERS_ENDED];
    size_t next; /* index to overwrite next */
};

void wakers_handle_thread_end(struct wakers *wakers, uint32_t tid, const char *name);

/* Returns whether a thread, rather than an interrupt, ended a wait for `reason` (enum wait_reason). A soft interrupt
 * counts as a wakeup by the interrupted thread only if that thread may have sent a packet. Otherwise the interrupt
 * reports another event, such as a finished disk request, and interrupts an arbitrary thread. */
bool waker_is_thread(const struct thread_waker *waker, uint32_t reason);

/* Writes the name of a known waker that ended a wait for `reason` (enum wait_reason). */
void wakers_write_name(const struct wakers *wakers, struct tracker *tracker, const struct thread_waker *waker,
                       uint32_t reason, char *text, size_t size);
