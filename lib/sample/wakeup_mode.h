/*
 * The wakeup mode of one CPU's ring. In fast mode, every sample wakes the recorder (perf_events_set_announcing()), so
 * that it can read the rest of a deep stack before the stack changes. In slow mode, the recorder reads the ring
 * periodically, which costs less: each wakeup costs the recorder 5-10 us of CPU time, and the target's thread an
 * interrupt. A ring is in fast mode while stacks are deeper than their copies.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/standard.h"

struct wakeup_mode {
    bool fast;
    uint64_t last_short; /* ns: last stack deeper than its copy; at first, the first sample */
    uint64_t hysteresis; /* ns of complete stacks until the return to slow mode */
    uint64_t slow_until; /* ns: no fast mode before this time, because fast mode did not help */
    uint32_t late;       /* consecutive stacks that were read too late to be completed */
};

enum wakeup_stack {
    WAKEUP_STACK_FITS,  /* the copy has the whole stack */
    WAKEUP_STACK_SHORT, /* deeper than the copy; the rest was read, or unreadable for other reasons than time */
    WAKEUP_STACK_LATE,  /* deeper than the copy; too late to read the rest */
};

/* `fast`: the ring starts in fast mode, to measure stack depths, and soon returns to slow mode if the copies
 * suffice. */
void wakeup_mode_init(struct wakeup_mode *mode, bool fast);

/* Adapts the mode to a sample of the CPU. `time`: ns. Returns whether the next sample should wake the recorder. */
bool wakeup_mode_add_sample(struct wakeup_mode *mode, uint64_t time, enum wakeup_stack stack);

/* Adapts the mode to lost samples: too many wakeups leave the recorder no time to read. */
void wakeup_mode_add_loss(struct wakeup_mode *mode, uint64_t time);
