/*
 * Where the recorder thread runs: on any CPU, or on one.
 *
 * A thread that a timer wakes on its own CPU runs in place of what ran there, from the very instruction that the
 * timer's interrupt hit. The ptrace sampler depends on that (sampling_clock.h).
 *
 * With perf events the recorder runs on any CPU until one gives stacks that are deeper than their copies; then on that
 * one. It reads the rest of such a stack from the living process (stack_reader.c), and a thread on another CPU would
 * run on meanwhile. A recorder on the thread's own CPU is woken by the interrupt that took the sample, and reads a
 * stack that stands still. That costs the thread 25 us a sample; only threads with such stacks pay it. When the thread
 * moves, the recorder follows it at its first sample on the other CPU.
 *
 * Measurements: docs/decisions.md, "Run the recorder on the CPU of a deep thread".
 *
 * Threads: all functions act on the thread that calls them, the recorder thread.
 */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

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

/* Whether the thread may run on this CPU. */
bool cpu_pin_allows(const struct cpu_pin *pin, uint32_t cpu);

/* Moves the thread to a CPU, and returns whether it runs there now: false if the CPU is not allowed or the kernel
 * refuses. */
bool cpu_pin_move(struct cpu_pin *pin, uint32_t cpu);

/* A sample of the thread on `cpu` at `time` (ns, CLOCK_MONOTONIC) had a stack that is deeper than its copy. */
void cpu_pin_deep_stack(struct cpu_pin *pin, uint32_t cpu, uint32_t tid, uint64_t time);

/* Pins, moves or releases as the stacks up to `now` suggest. To be called after reading; cheap if nothing changes. A
 * CPU that is not allowed is not taken, and a refusal of the kernel changes nothing. */
void cpu_pin_choose(struct cpu_pin *pin, uint64_t now);

void cpu_pin_release(struct cpu_pin *pin);

/*
 * Keeps a thread that is stopped on its CPU when it continues: the recorder has the CPU then, and the kernel would
 * choose an idle one instead. The target would move each time it is sampled, and samples would miss what it does right
 * then. cpu_stay_begin() allows it only this CPU, and cpu_stay_end() all that it had; in between it is woken, and waits
 * for the CPU behind the recorder. Only if the recorder runs there, and the thread may also run elsewhere. A recorder
 * that is killed in the microsecond in between leaves the thread on its CPU.
 */
struct cpu_stay {
    cpu_set_t only, before;
    bool is_everywhere; /* `before` is where the recorder may run as well */
    pid_t tid;          /* 0: nothing is to be undone */
};

void cpu_stay_begin(struct cpu_stay *stay, const struct cpu_pin *pin, pid_t tid, uint32_t cpu);
void cpu_stay_end(const struct cpu_stay *stay);
