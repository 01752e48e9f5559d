/*
 * When the ptrace sampler samples, and on which CPU it is then.
 *
 * A sample shows what a thread does at an instant that does not depend on the thread. So the sampler sleeps on the CPU
 * whose threads it samples. The interrupt of its timer hits the thread at any instruction, and the kernel runs the
 * sampler in place of the thread (scheduling.h: the sampler goes first). The thread stands still where it was hit, and
 * PTRACE_INTERRUPT stops it there. If the interrupt hits the thread in a system call, the sampler runs at the end of
 * the call, or in the middle where the kernel is preemptible; the sample then shows the call.
 *
 * - Instants come at random: their distances have the exponential distribution, without a least distance, which would
 *   leave out what threads do soon after an instant. An instant that passes while the sampler is awake hits no thread,
 *   and the sampler draws another.
 * - A CPU gets its instants by how much the threads used it lately, not by where a thread was seen last: a woken
 *   thread often continues on another CPU, and a sampler that follows late misses what the thread does then.
 * - A stopped thread continues on the CPU on which it was (cpu_pin.h).
 *
 * A wakeup costs the sampler 10 to 20 us, and a move to another CPU 30. So the CPUs take turns of several instants,
 * and a CPU that is used little has fewer of them.
 *
 * A thread that stops for a signal is at the first instruction of its handler for some 10 us, so an empty handler has
 * too many samples. What a thread does when it goes to sleep or wakes up has half of its share: interrupts are off
 * most of that time.
 *
 * Measurements and other ways: docs/decisions.md, "Stop a thread where it runs".
 *
 * Threads: one thread, the sampler's, which moves between CPUs.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "sample/cpu_pin.h"

#include <stdbool.h>
#include <stdint.h>

struct sampling_clock_cpu {
    uint64_t used;   /* ns of CPU time that its threads have used since the last tick */
    uint64_t load;   /* ns of CPU time that its threads use in an interval, on average over LOAD_TICKS */
    uint32_t credit; /* for the instants of its turn */
    bool is_refused; /* the kernel does not let the sampler run there */
};

struct sampling_clock {
    struct cpu_pin *pin;
    uint64_t interval; /* ns between two instants of a CPU in full use, on average ... */
    uint64_t mean;     /* ... and between two of any; 0: no CPU is in use */
    uint64_t random;   /* state of the generator */
    uint64_t instant;  /* ns: the next one, ... */
    uint32_t cpu;      /* ... on this CPU */
    uint32_t in_use;   /* CPUs that have load and can be visited */
    int timer_fd;
    uint64_t armed;                        /* ns: when the timer expires, ... */
    uint32_t armed_on;                     /* ... on this CPU */
    ARRAY(struct sampling_clock_cpu) cpus; /* by their numbers */
};

/* Why the sampler is awake. */
struct sampling_instant {
    bool is_hit; /* at `time` the sampler was asleep on `cpu`, and runs since in place of a thread */
    uint32_t cpu;
    uint64_t time; /* ns */
};

/* The pin must outlive the clock. */
int sampling_clock_init(struct sampling_clock *clock, struct cpu_pin *pin, uint64_t interval, struct error *err);
void sampling_clock_destroy(struct sampling_clock *clock);

/*
 * sampling_clock_use() adds CPU time (ns) that a thread has used on this CPU. sampling_clock_tick() ends that many
 * intervals, of which all use was added. CPUs get instants in proportion to their recent use, not by the CPU on which a
 * thread was seen last: threads often move to another CPU when they are woken, and the sampler would miss what they do
 * right then.
 */
int sampling_clock_use(struct sampling_clock *clock, uint32_t cpu, uint64_t used, struct error *err);
void sampling_clock_tick(struct sampling_clock *clock, uint64_t intervals);

/* Whether threads of this CPU can be sampled at instants. */
bool sampling_clock_can_visit(const struct sampling_clock *clock, uint32_t cpu);

/* Call this when the sampler wakes. Returns whether an instant woke it, and chooses the next one. */
struct sampling_instant sampling_clock_take(struct sampling_clock *clock, uint64_t now);

/*
 * Call this right before the sampler sleeps. It moves to the CPU of the next instant and sets the timer to it, or to
 * `look` (ns) if that is earlier. With `stays`, the move waits as long as it can:
 * stops of threads are about to come.
 */
void sampling_clock_arm(struct sampling_clock *clock, uint64_t look, bool stays);
