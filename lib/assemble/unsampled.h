/*
 * Adds the CPU time that no sample covers to a profile, as samples of the single frame "(not sampled)". So a profile
 * adds up to the CPU time that the kernel counted (INFO_CPU_TIME), and no function gets time that it may not have used
 * (docs/decisions.md, "Show time without samples as such").
 *
 * The timer of a thread starts with a whole period: the time after a thread's last sample has no sample, and a thread
 * that ends within one period has none at all. A build or a shell script starts thousands of such threads, which may
 * use more CPU time than all others.
 *
 * Where the recorder follows the switches of threads (INFO_SWITCHES), it knows how long each thread ran after its last
 * sample. Switches do not show the kernel's work at each switch, 2 us, nor the work after a thread's last record, 20
 * to 80 us. Threads that ended get the latter, as far as the kernel counted more (SPOOL_UNSEEN, INFO_CPU_TIME). The
 * former grows with the time that threads run: the rest makes the samples of all threads longer in proportion, so that
 * running and waiting stay all of the time. A rest too large for that, as where samples were lost, is not sampled.
 *
 * Elsewhere the thread that used the time is an estimate. A thread used at most the time since its last sample, and on
 * average less than a period. So the uncovered time is divided in proportion to the lesser of the two.
 *
 * Samples may also cover too much. A hypervisor takes time from a CPU: the kernel does not count that, and switches do
 * not show it; all CPU times are scaled. Without switches, the counters of threads include the setting of their own
 * timers, some microseconds at each context switch. With 20,000 switches a second, samples cover one and a half times
 * the CPU time used. The excess is removed from samples that cover more than a period, in proportion.
 *
 * Threads without a row of their own share one by name, that of the first of them: 4,000 children of 0.2 ms are one
 * row. On a busy machine many of them are preempted; the preemptions of all but the first are not shown, and what they
 * ran before these is in the row, too.
 */
#pragma once

#include "assemble/replay_state.h"

/* Makes the CPU time of a complete replay equal to the kernel's count, if the recording has it and is undamaged: adds
 * samples, and sets excess_removed and the scales of processes. */
int unsampled_add(struct replay *replay, struct error *err);

/* Whether the recording has the kernel's count, so that the profile includes CPU time without samples. */
bool unsampled_has_all(const struct replay *replay);
