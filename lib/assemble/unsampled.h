/*
 * CPU time that no sample covers.
 *
 * The timer of a thread starts with a whole period, so what a thread uses after its last sample has none, and a thread
 * that ends within one period has no sample at all. A build or a shell script starts thousands of these, and they may
 * use more CPU time than all others. The kernel counts the CPU time of all threads together (INFO_CPU_TIME); what the
 * samples do not cover of it is put into the profile as samples with the one frame "(not sampled)", so that a profile
 * adds up to the time that was used and no function is given time that it may not have taken.
 *
 * Whose time it was is an estimate. A thread cannot have used more than the time since its last sample, and on average
 * uses less than a period: the rest is divided in proportion to the lesser of these two. The division carries over from
 * one thread to the next, in the order in which they ended, and gives a sample for each whole period.
 *
 * The other way round, the counters of threads take in the setting of their own timers, some microseconds each time
 * when a thread is switched to: where threads switch 20,000 times a second, samples cover half as much again as was
 * used. What the samples have too much is taken off those that cover more than a period, in proportion.
 *
 * Threads without a sample share a row by name, that of the first of them: 4,000 children of 0.2 ms are one row, not
 * 4,000.
 */
#ifndef PROF_ASSEMBLE_UNSAMPLED_H
#define PROF_ASSEMBLE_UNSAMPLED_H

#include "assemble/replay.h"

/* Makes the CPU time of a replay that has taken in everything else that which the kernel counted: adds these samples,
 * or sets excess_removed. Does nothing if the recording does not say how much it was, or parts of it are damaged. */
int unsampled_add(struct replay *replay, struct error *err);

#endif
