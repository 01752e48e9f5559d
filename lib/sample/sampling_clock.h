/*
 * When the ptrace sampler samples, and on which CPU it is then.
 *
 * A sample is to show what a thread does at an instant that does not depend on the thread. PTRACE_INTERRUPT alone does
 * not do that. The call marks the thread, and then interrupts its CPU. The interrupt takes some 5 us to arrive, and
 * meanwhile the thread runs on to its next system call or fault, finds the mark there, and stops. So calls gather the
 * samples of the microseconds before them. Everything that acts on a thread from another CPU marks the thread first:
 * signals, moves to other CPUs, preemption. A timer on the thread's own CPU interrupts first, and marks then.
 *
 * So the sampler sleeps on the CPU whose threads it samples. The interrupt of its timer hits the thread at any
 * instruction, and the kernel runs the sampler in place of the thread (scheduling.h has why the sampler goes first).
 * The thread stands still where it was hit, and PTRACE_INTERRUPT has it stop there. If the interrupt hits the thread in
 * a system call, the sampler runs at the end of the call, or in the middle where the kernel is preemptible; the sample
 * then shows the call.
 *
 * Measured with bare programs on 2 CPUs with a load of 3, Linux 6.18, 2,000 samples each. In brackets the share by the
 * program's own clock, which counts a little too much for calls:
 *
 *     share of the samples in                      a system call         a system call         a signal handler,
 *                                                  after 5 us of work    after 0.5 us of work  2,000 a second
 *     PTRACE_INTERRUPT from another CPU            99 %  (14 %)          99 %  (54 %)          14 %  (0.0 %)
 *     PTRACE_INTERRUPT on the thread's CPU         10 %                  38 %                   5 %
 *     POSIX timer of the thread's CPU time         10 %                  34 %                   0 %
 *
 * Measured with this sampler, with a load of 10, and a call of 0.19 us; in brackets the share by perf events:
 *
 *                                                   4.2 %  (3.4 %)       22 %  (23 %)           2-4 %  (0.2-0.5 %)
 *
 * The handler does nothing. Its samples are the kernel's: a thread that has stopped for a signal takes some 10 us back
 * to its program, and is at the first instruction of the handler then. Work in a handler gets its share. What a thread
 * does when it goes to sleep or wakes up gets half of its share: interrupts are off most of that time.
 *
 * The POSIX timer is as accurate. But it expires at most CONFIG_HZ times a second (250 here), only system calls that
 * are injected into the program can create it, and its signals go on when the sampler is killed, and kill the program.
 *
 * Two more things keep the instants independent of the program:
 *
 * - They come at random, and the last one does not say when the next one comes: the distances have the exponential
 *   distribution. A least distance would leave out what threads do soon after an instant. Of signals 40 % came within
 *   150 us after one, on a busy machine, so handlers got two thirds of their share when half a mean was the least. An
 *   instant that passes while the sampler is awake hits no thread, and the sampler draws another.
 * - A CPU gets its instants by how much the threads used it lately, not by where a thread was seen last. A thread that
 *   is woken, or continues after a stop, often does so on another CPU; a sampler that follows it late would miss what
 *   the thread does right then (a third of the time of signal handlers, when that was tried).
 *
 * - A thread that was stopped continues on the CPU on which it was (cpu_pin.h). With an idle CPU beside it, it would
 *   continue there at each stop: 47 % of the requested samples were taken on an otherwise idle machine, and 0.9 % of
 *   them in signal handlers that took 4.6 % of the time. Now it is 96 %, and 4.7 %.
 *
 * A wakeup costs the sampler 10 to 20 us, and a move to another CPU 30. So the CPUs take turns of several instants, and
 * a CPU that is used little has fewer of them.
 *
 * Threads: one thread, the sampler's, which is moved.
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
