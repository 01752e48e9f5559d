/*
 * Chooses the CPU of the recorder thread: any, or one.
 *
 * A timer that expires on a CPU wakes the recorder there, and the recorder preempts the running thread at the
 * instruction that the interrupt hit. The ptrace sampler depends on this preemption (sampling_clock.h).
 *
 * With perf events, the recorder runs on any CPU until the samples of one CPU have stacks deeper than their copies.
 * Then the recorder pins itself to this CPU, because the recorder reads the rest of a deep stack from the live process
 * (stack_reader.c), and a thread on another CPU would continue to run meanwhile. On the thread's own CPU, the interrupt
 * that took the sample also wakes the recorder, so the stack does not change while the recorder reads it. Each such
 * sample costs the thread 25 us; only threads with deep stacks have this cost. When the thread moves to another CPU,
 * the recorder follows at the thread's first sample there.
 *
 * docs/decisions.md, "The recorder runs on the CPU of a thread with deep stacks", has measurements.
 *
 * Threads: all functions act on the thread that calls them, the recorder thread.
 */
#pragma once

#include "base/standard.h"

#include <sched.h>
#include <sys/types.h>

struct cpu_pin {
    cpu_set_t allowed; /* CPUs on which the unpinned recorder may run */
    bool usable;       /* `allowed` is known */
    bool pinned;       /* to `cpu` */
    uint32_t cpu;

    uint32_t wanted;    /* CPU of the last sample with a deep stack */
    uint32_t in_a_row;  /* number of consecutive deep stacks from the CPU `wanted` */
    uint32_t tid;       /* thread of the last deep stack on the pinned CPU */
    uint64_t last_deep; /* ns */
};

void cpu_pin_init(struct cpu_pin *pin);

/* Whether the thread may run on this CPU. */
bool cpu_pin_allows(const struct cpu_pin *pin, uint32_t cpu);

/* Moves the calling thread to a CPU. Returns false if the CPU is not allowed or the kernel refuses. */
bool cpu_pin_move(struct cpu_pin *pin, uint32_t cpu);

/* Counts a sample of `tid` on `cpu` at `time` (ns, CLOCK_MONOTONIC) with a stack deeper than its copy. */
void cpu_pin_count_deep_stack(struct cpu_pin *pin, uint32_t cpu, uint32_t tid, uint64_t time);

/* Pins, moves or releases the recorder, based on the deep stacks up to `now` (ns). Call this function after each read
 * of the rings. The call is cheap if nothing changes. Never chooses a CPU that is not allowed. If the kernel refuses,
 * nothing changes. */
void cpu_pin_choose(struct cpu_pin *pin, uint64_t now);

void cpu_pin_release(struct cpu_pin *pin);

/*
 * Keeps a stopped thread on its CPU when it continues. The recorder occupies that CPU, so the kernel would move the
 * thread to an idle CPU at each sample, and samples would miss the time of the move. cpu_stay_begin() restricts the
 * thread to this CPU; the caller wakes the thread, which waits for the CPU behind the recorder; cpu_stay_end() restores
 * its CPUs. Does nothing if the recorder runs on another CPU, or if the thread may run only on this CPU. A recorder
 * killed in the microsecond between the two calls leaves the thread restricted to its CPU.
 */
struct cpu_stay {
    cpu_set_t only, before;
    bool is_everywhere; /* `before` equals the recorder's allowed CPUs */
    pid_t tid;          /* 0: nothing to restore */
};

void cpu_stay_begin(struct cpu_stay *stay, const struct cpu_pin *pin, pid_t tid, uint32_t cpu);
void cpu_stay_end(const struct cpu_stay *stay);
