/*
 * When the recorder thread runs: before others. Where: sample/cpu_pin.h.
 *
 * A late recorder reads old stacks and loses samples. As root, it runs at the lowest real-time priority, before
 * everything of normal priority, for the few percent of a CPU that it needs. Otherwise it asks for a better nice
 * value, and for a short slice, with which it preempts early (Linux 6.12). A refusal does no harm.
 *
 * The recorder thread shares its address space with no thread of lower priority: one that is preempted while it holds
 * mmap_lock would stop the recorder at its next page fault. (The thread of file_sync.h maps nothing, and touches new
 * memory only when it starts.)
 *
 * It reaps its target at normal priority. Reaping drops the entries of /proc that the recorder has read, which the
 * target's last thread may be about to do. Until then the kernel tries again and again, for 0.95 s if a recorder of
 * real-time priority has the CPU of that thread.
 *
 * Threads: all functions act on the thread that calls them, the recorder thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* As in sched_setattr(2); its first version, which every kernel knows. */
struct scheduling_policy {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period; /* ns; of a normal policy, runtime is the slice */
};

/* Raises the priority of the thread. True if it is a real-time one now. `before` is for scheduling_restore(); its size
 * is 0 where there is nothing to restore. */
bool scheduling_raise(struct scheduling_policy *before);

/* Once for each time that it was raised; nothing happens the second time. */
void scheduling_restore(struct scheduling_policy *before);
