/*
 * Where the recorder runs: on any CPU, until one gives stacks that are deeper than their copies; then on that one.
 *
 * The rest of such a stack is read from the living process (stack_reader.c), and a thread on another CPU would run on
 * meanwhile. A recorder that goes before the thread on the thread's own CPU is woken by the interrupt that took the
 * sample, and reads a stack that stands still. It costs the thread the time of the reading, some 25 us a sample, and
 * only threads with such stacks pay it.
 *
 * Measured with Python going down 45 levels of sorted(key=) and back, 170 KB of stack every 0.1 ms, at 1 kHz: 0.1
 * to 1.3 % of stacks stay cut, against 0.5 to 5.2 % from another CPU. These are runs of tests/bench/bench_record by
 * turns with and without this file's doing; its row is "stacks that reach the thread's start: python3, sorted(key=)
 * recursion".
 */
#ifndef PROF_RECORD_CPU_PIN_H
#define PROF_RECORD_CPU_PIN_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* Of the thread that calls these functions. */
struct cpu_pin {
    cpu_set_t allowed; /* where it may run when it is not pinned */
    bool usable;       /* `allowed` is known */
    bool pinned;       /* to `cpu` */
    uint32_t cpu;

    uint32_t wanted;    /* the CPU of the last deep stack */
    uint32_t in_a_row;  /* deep stacks that all came from it */
    uint64_t last_deep; /* ns */
};

void cpu_pin_init(struct cpu_pin *pin);

/* A sample of `cpu` at `time` (ns, CLOCK_MONOTONIC) had a stack that is deeper than its copy. */
void cpu_pin_deep_stack(struct cpu_pin *pin, uint32_t cpu, uint64_t time);

/* Pins, moves or releases as the stacks up to `now` suggest. To be called after reading; cheap if nothing changes. A
 * CPU that is not allowed is not taken, and a refusal of the kernel changes nothing. */
void cpu_pin_choose(struct cpu_pin *pin, uint64_t now);

void cpu_pin_release(struct cpu_pin *pin);

#endif
