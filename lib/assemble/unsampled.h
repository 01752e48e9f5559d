/*
 * Adds the CPU time that no sample covers to a profile, as samples of the single frame "(not sampled)". So a profile
 * adds up to the CPU time that the kernel counted (INFO_CPU_TIME), and no function gets time that it may not have used
 * (docs/decisions.md, "A profile shows the time without samples").
 *
 * The timer of a thread starts with a whole period: the time after a thread's last sample has no sample, and a thread
 * that ends within one period has none at all. A build or a shell script starts thousands of such threads, which may
 * use more CPU time than all others.
 *
 * Where the recorder follows the switches of threads (INFO_SWITCHES), it knows how long each thread ran after its last
 * sample. Switches do not show the kernel's work at each switch, 2 us, nor the work after a thread's last record, 20 to
 * 80 us. Ended threads get the CPU time after their last record that the kernel counted (SPOOL_UNSAMPLED_PROCESS,
 * INFO_CPU_TIME). The work at switches grows with the running time: its part extends the samples of all threads in
 * proportion, so that running and waiting still fill all of a thread's time. A part that is too large for switches, for
 * example after lost samples, appears as (not sampled).
 *
 * Without switches, the recorder estimates which thread used the time. A thread used at most the time since its last
 * sample, and on average less than a period. So the uncovered time is divided in proportion to the smaller of these two
 * values.
 *
 * Samples may also cover more than the CPU time used. A hypervisor takes time from a CPU: the kernel does not count
 * this time, but switches include it. So all CPU times are scaled down. Without switches, the counters of threads
 * include the setting of their own timers, some microseconds at each context switch. With 20,000 switches a second,
 * samples cover one and a half times the CPU time used. The excess is removed from samples that cover more than a
 * period, in proportion.
 *
 * Threads without their own row share a row by name, the row of the first such thread: 4,000 children of 0.2 ms are one
 * row. On a busy machine many of these threads are preempted. The profile shows only preemptions of the first thread;
 * the row includes the CPU time of all.
 */
#pragma once

#include "assemble/replay_state.h"

/* Makes the CPU time of a complete, undamaged replay equal to the kernel's count. Adds samples, and sets excess_removed
 * and the scales of processes. */
int unsampled_add(struct replay *replay, struct error *err);

/* Whether the profile includes CPU time without samples, which needs the kernel's count of CPU time. */
bool unsampled_is_complete(const struct replay *replay);
