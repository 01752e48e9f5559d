/*
 * When and where the recorder thread runs.
 *
 * A recorder that runs late reads old stacks and loses samples. As root, it runs at the lowest real-time priority,
 * before everything of normal priority, for the few percent of a CPU that it needs. Otherwise it gets a better nice
 * value if that is allowed, and a short slice, with which it preempts early (Linux 6.12). A refusal does no harm.
 *
 * The recorder thread shares its address space with no thread of lower priority: one that is preempted while it holds
 * mmap_lock would stop the recorder at its next page fault. (The thread of file_sync.h maps nothing, and touches memory
 * that is new only when it starts.)
 *
 * It reaps its target at normal priority. Reaping drops the entries of /proc that the recorder has looked at, which the
 * target's last thread may be about to do. Until that is done the kernel tries again and again, which would take 0.95 s
 * if a recorder of real-time priority had the CPU of that thread.
 *
 * It runs on any CPU until one gives stacks that are deeper than their copies; then on that one. The rest of such a
 * stack is read from the living process (stack_reader.c), and a thread on another CPU would run on meanwhile. A
 * recorder on the thread's own CPU is woken by the interrupt that took the sample, and reads a stack that stands still.
 * It costs the thread the time of the reading, some 25 us a sample, and only threads with such stacks pay it. Each
 * sample that is read from another CPU is read too late: beside four busy loops on two CPUs a thread moves every 60 ms.
 * So the recorder follows the thread at its first sample on the other CPU.
 *
 * Measured with Python going down 45 levels of sorted(key=) and back, 170 KB of stack every 0.1 ms, at 1 kHz: 0.1 to
 * 1.3 % of stacks stay truncated, against 0.5 to 5.2 % from another CPU. These are runs of tests/bench/bench_record by
 * turns with and without this; its row is "stacks that reach the thread's start: python3, sorted(key=) recursion".
 *
 * Threads: all functions act on the thread that calls them, the recorder thread.
 */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- priority ---- */

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

/* ---- CPU ---- */

struct cpu_pin {
    cpu_set_t allowed; /* where it may run when it is not pinned */
    bool usable;       /* `allowed` is known */
    bool pinned;       /* to `cpu` */
    uint32_t cpu;

    uint32_t wanted;    /* the CPU of the last deep stack */
    uint32_t in_a_row;  /* deep stacks that all came from it */
    uint32_t tid;       /* the thread whose deep stack was the last of the CPU that it is pinned to */
    uint64_t last_deep; /* ns */
};

void cpu_pin_init(struct cpu_pin *pin);

/* A sample of the thread on `cpu` at `time` (ns, CLOCK_MONOTONIC) had a stack that is deeper than its copy. */
void cpu_pin_deep_stack(struct cpu_pin *pin, uint32_t cpu, uint32_t tid, uint64_t time);

/* Pins, moves or releases as the stacks up to `now` suggest. To be called after reading; cheap if nothing changes. A
 * CPU that is not allowed is not taken, and a refusal of the kernel changes nothing. */
void cpu_pin_choose(struct cpu_pin *pin, uint64_t now);

void cpu_pin_release(struct cpu_pin *pin);
