/*
 * Raises the scheduling priority of the recorder thread. sample/cpu_pin.h chooses its CPU.
 *
 * A late recorder reads old stacks and loses samples. As root, the recorder runs at the lowest real-time priority, and
 * takes a few percent of a CPU. Otherwise it requests a better nice value and a short slice, with which it preempts
 * early (Linux 6.12). The recorder also works without a raised priority.
 *
 * The recorder thread shares its address space with no thread of lower priority: a thread preempted while it holds
 * mmap_lock would block the recorder at its next page fault. (The thread of file_sync.h maps nothing, and touches new
 * memory only when it starts.)
 *
 * The recorder reaps its target at normal priority. Reaping drops the /proc entries that the recorder has read; the
 * target's last thread may be about to do the same, and until then the kernel retries. A recorder of real-time priority
 * on the CPU of that thread would retry for 0.95 s.
 *
 * Threads: all functions act on the thread that calls them, the recorder thread.
 */
#pragma once

#include "base/standard.h"

/* The first version of struct sched_attr, which every kernel supports: sched_setattr(2). */
struct scheduling_policy {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period; /* ns; for a normal policy, runtime is the slice */
};

/* Raises the priority of the calling thread. Returns true if the thread now has a real-time priority. `before` receives
 * the previous policy for scheduling_restore(). The size of the policy is 0 if nothing changed. */
bool scheduling_raise(struct scheduling_policy *before);

/* Restores the priority. A second call does nothing. */
void scheduling_restore(struct scheduling_policy *before);
