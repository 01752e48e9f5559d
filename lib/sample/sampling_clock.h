/*
 * Chooses the instants at which the ptrace sampler samples, and their CPUs.
 *
 * A sample must show the thread at an instant that does not depend on the thread. So the sampler sleeps on the CPU
 * whose threads it samples. The interrupt of its timer hits the thread at any instruction, and the kernel switches to
 * the sampler, which has priority (scheduling.h). The thread stays at that instruction, and PTRACE_INTERRUPT stops it
 * there. If the interrupt hits the thread in a system call, the sampler runs at the end of the call, or in the middle
 * if the kernel is preemptible. In both cases the sample shows the call.
 *
 * - Instants are random: their distances have the exponential distribution. A minimum distance would hide the work of
 *   threads soon after an instant. An instant that passes while the sampler is awake hits no thread, and the sampler
 *   draws another instant.
 * - A CPU gets instants in proportion to its recent use, not by the last CPU of a thread: a woken thread often
 *   continues on another CPU, and a sampler that followed late would miss the start of its run.
 * - A stopped thread continues on the same CPU (cpu_pin.h).
 *
 * A wakeup costs the sampler 10-20 us, and a move to another CPU 30 us. So the sampler stays on a CPU
 * for several instants, and for fewer instants on a little-used CPU.
 *
 * Between instants, the caller reads sleeping threads in passes. The sampler delays the threads of its own CPU, so a
 * pass reads only threads of other CPUs. Before the planned time of a pass, the sampler moves to a CPU chosen at
 * random.
 *
 * A thread that stops for a signal stays at the first instruction of its handler for about 10 us, so an empty handler
 * has too many samples. Code that puts a thread to sleep or wakes a thread gets half of its samples, because interrupts
 * are off for most of the code's time.
 *
 * docs/decisions.md, "The sampler stops a thread where the thread runs", has measurements and the alternatives.
 *
 * Threads: one thread, the sampler's, which moves between CPUs.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "sample/cpu_pin.h"

struct sampling_clock_cpu {
    uint64_t used;   /* ns of CPU time used since the last tick */
    uint64_t load;   /* ns of CPU time used per interval, on average over LOAD_TICKS */
    uint32_t credit; /* remaining weight for instants in its turn */
    bool is_refused; /* the kernel refuses to run the sampler on this CPU */
};

struct sampling_clock {
    struct cpu_pin *pin;
    uint64_t interval; /* ns, on average, between two instants of a fully used CPU */
    uint64_t mean;     /* ns, on average, between any two instants, or 0 while no CPU is in use */
    uint64_t random;   /* state of the random numbers */
    uint64_t instant;  /* ns: time of the next instant */
    uint32_t cpu;      /* CPU of the next instant */
    uint32_t in_use;   /* CPUs with load that the sampler can use */
    uint64_t pass;     /* ns: planned time of the next pass over sleeping threads, or UINT64_MAX for none */
    uint32_t pass_cpu; /* CPU of the pass */
    bool is_placed;    /* the sampler has been on this CPU since before the planned time */
    int timer_fd;
    uint64_t armed;                        /* ns: time at which the timer expires */
    uint32_t armed_on;                     /* CPU on which the timer runs */
    ARRAY(struct sampling_clock_cpu) cpus; /* indexed by the number of the CPU */
};

/* The reason why the sampler is awake. */
struct sampling_instant {
    bool is_hit; /* at `time` the sampler slept on `cpu`, and preempted a thread */
    uint32_t cpu;
    uint64_t time; /* ns */
};

/* The pin must outlive the clock. */
int sampling_clock_init(struct sampling_clock *clock, struct cpu_pin *pin, uint64_t interval, struct error *err);
void sampling_clock_destroy(struct sampling_clock *clock);

/*
 * sampling_clock_add_cpu_time() adds the CPU time (ns) that a thread used on a CPU. sampling_clock_tick() ends
 * `intervals` intervals, after all their use was added.
 */
int sampling_clock_add_cpu_time(struct sampling_clock *clock, uint32_t cpu, uint64_t used, struct error *err);
void sampling_clock_tick(struct sampling_clock *clock, uint64_t intervals);

/* Whether the sampler can sample threads of this CPU at instants. */
bool sampling_clock_can_visit(const struct sampling_clock *clock, uint32_t cpu);

/* Call this function when the sampler wakes. Returns whether an instant woke the sampler, and chooses the next
 * instant. */
struct sampling_instant sampling_clock_check_instant(struct sampling_clock *clock, uint64_t now);

/* Plans the next pass for `time` (ns, UINT64_MAX: none), and chooses its CPU. Does nothing if the sampler has only one
 * CPU. */
void sampling_clock_plan_pass(struct sampling_clock *clock, uint64_t time);

/*
 * Call this function right before the sampler sleeps. Moves to the CPU of the next instant or pass, and sets the timer
 * to the instant, or to `look` (ns) if earlier. The caller itself wakes for the pass. `stays`: delays the move as long
 * as possible, because stops of threads are pending.
 */
void sampling_clock_arm(struct sampling_clock *clock, uint64_t look, bool stays);
