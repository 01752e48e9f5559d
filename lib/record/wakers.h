/*
 * The names of those who wake threads: "worker-2 (1234)" of a recorded thread, "Xorg (77), not recorded", "interrupt".
 *
 * A process that ends wakes its parent when the record of its end has been written already, and a thread that has woken
 * another may end before that one is on a CPU. So the names of the last ones that have ended are kept.
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#pragma once

#include "process/thread_run.h"
#include "process/tracker.h"

#include <stddef.h>
#include <stdint.h>

enum { WAKER_NAME_SIZE = 80, WAKERS_ENDED = 64 };

/* Starts zeroed. */
struct wakers {
    struct {
        uint32_t tid;
        char name[16];
    } ended[WAKERS_ENDED];
    size_t next; /* to be replaced */
};

void wakers_thread_ends(struct wakers *wakers, uint32_t tid, const char *name);

/* `waker` is known, and has ended a wait for this reason (enum wait_reason). A soft interrupt counts as its thread's
 * only where a packet may have been sent by that: else it ends the work of a disk, say, in whichever thread it came
 * over. */
void wakers_name(const struct wakers *wakers, struct tracker *tracker, const struct thread_waker *waker,
                 uint32_t reason, char *text, size_t size);
