/*
 * Records the context switches of recorded threads with a BPF program at the kernel's tracepoint sched_switch, instead
 * of SWITCH records. The program takes about a third of the time of these records (docs/decisions.md, "A BPF program
 * records switches").
 *
 * A thread is recorded if it has perf events (task_struct.perf_event_ctxp), which the threads of the recording have
 * from their first switch on. So the program ignores the switches of other programs.
 *
 * The program writes to a ring per CPU. The rings have the layout of the rings of perf events, so that perf_merge.h
 * reads both:
 *
 * - SWITCH_CPU_WIDE records of threads that leave their CPU, and of the next thread, `other_tid`. Such a record is
 *   also the only record of the switch to the next thread. The pids in the records are 0.
 * - LOST_SAMPLES records if the ring was full.
 *
 * The program needs BTF, Linux 5.5, and the capabilities CAP_BPF and CAP_PERFMON.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/array.h"
#include "sample/perf_record.h"
#include "sample/perf_ring.h"

struct sched_ring {
    uint32_t cpu;
    struct perf_ring ring;
};

struct sched_program {
    ARRAY(struct sched_ring) rings; /* one per online CPU; empty: the program does not run */
    int link_fd;                    /* the program runs while this descriptor is open; -1: closed */
};

/* The layout of the program's records. */
extern const struct perf_layout sched_program_layout;

/* The initial value: sched_program_close() accepts it. */
#define SCHED_PROGRAM_NONE ((struct sched_program){.link_fd = -1})

/* Starts the program on all online CPUs. `ring_size`: bytes of each ring, a power of two of at least a page, or 0 for
 * the usual size. Returns 0, or a negative errno value, and then leaves nothing open. */
int sched_program_open(struct sched_program *program, size_t ring_size);

/* Stops the program; the rings stay readable. */
void sched_program_stop(struct sched_program *program);

void sched_program_close(struct sched_program *program);
