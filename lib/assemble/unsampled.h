/*
 * Adds the CPU time that no sample covers to a profile.
 *
 * The timer of a thread starts with a whole period. So the time after a thread's last sample has no sample, and a
 * thread that ends within one period has none at all. A build or a shell script starts thousands of such threads, which
 * may use more CPU time than all others. This time becomes samples with the single frame "(not sampled)". So a profile
 * adds up to the CPU time that the kernel counted (INFO_CPU_TIME), and no function gets time that it may not have used.
 *
 * Where the recorder follows the switches of threads (INFO_SWITCHES), it knows how long each thread ran after its last
 * sample. Its switches do not show what the kernel counts while it switches from thread to thread, 2 us each time, and
 * after a thread's last record, until it is gone, 20 to 80 us. Threads that ended have the latter, as far as the kernel
 * counted more (SPOOL_UNSEEN, INFO_CPU_TIME). The former grows with the time that threads run: what is left makes the
 * samples of all of them longer in proportion, so that running and waiting stay all of the time. If it is too much for
 * that, as where samples were lost, it is not sampled.
 *
 * Elsewhere it is an estimate which thread used the time. A thread used at most the time since its last sample, and on
 * average less than a period. So the uncovered time is attributed in proportion to the lesser of the two.
 *
 * Samples may also cover too much. A hypervisor takes time from a CPU: the kernel does not count that, and switches do
 * not show it; all CPU times are scaled. Without switches, the counters of threads include setting their own timers,
 * some microseconds at each context switch. With 20,000 switches a second, samples cover one and a half times the CPU
 * time used. The excess is removed from samples that cover more than a period, in proportion.
 *
 * Threads without a row of their own share one by name, that of the first of them: 4,000 children of 0.2 ms are one
 * row, not 4,000. On a busy machine many of them are preempted, and the preemptions of all but the first are not shown:
 * what they ran before these is in the row, too.
 */
#pragma once

#include "assemble/replay.h"

/* Makes the CPU time of a complete replay equal to what the kernel counted, as far as the recording has that and is not
 * damaged: adds samples, and sets excess_removed and the scales of processes. */
int unsampled_add(struct replay *replay, struct error *err);

/* Whether the recording has the count of the kernel, so that what samples do not cover is in the profile. */
bool unsampled_has_all(const struct replay *replay);
