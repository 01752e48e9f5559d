/*
 * Adds the CPU time that no sample covers to a profile.
 *
 * The timer of a thread starts with a whole period. So the time after a thread's last sample has no sample, and a
 * thread that ends within one period has none at all. A build or a shell script starts thousands of such threads, which
 * may use more CPU time than all others. The kernel counts the CPU time of all threads together (INFO_CPU_TIME). The
 * part that samples do not cover becomes samples with the single frame "(not sampled)". So a profile adds up to the CPU
 * time used, and no function gets time that it may not have used.
 *
 * Which thread used that time is an estimate. A thread used at most the time since its last sample, and on average less
 * than a period. So the uncovered time is attributed in proportion to the lesser of the two. The threads follow each
 * other in the order of their ends; each whole period makes a sample, and the rest carries over to the next thread.
 *
 * Where waits are recorded, the recorder knows how long each thread ran after its last sample or wait, and nothing is
 * estimated. Then what is still missing is the time of switching between threads, which grows with the switches: it is
 * spread over all samples in proportion.
 *
 * Samples may also cover too much: the counters of threads include setting their own timers, some microseconds at each
 * context switch. With 20,000 switches a second, samples cover one and a half times the CPU time used. The excess is
 * removed from samples that cover more than a period, in proportion.
 *
 * Threads without samples share a row by name, that of the first of them: 4,000 children of 0.2 ms are one row, not
 * 4,000. On a busy machine many of them are preempted, and the preemptions of all but the first are not shown: what
 * they ran before these has no sample either.
 */
#pragma once

#include "assemble/replay.h"

/* Makes the CPU time of a complete replay equal to what the kernel counted: adds samples, or sets excess_removed or
 * spread. Does nothing if the recording lacks that count or is damaged. */
int unsampled_add(struct replay *replay, struct error *err);
