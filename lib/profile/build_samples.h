/*
 * Builds the samples of threads: order, times and CPU units.
 */
#pragma once

#include "profile/build_tables.h"

/* Reads the times of a table of `rows` rows into `time`, from the time column or from deltas. */
int build_times(struct build *build, struct column *time, struct column *deltas, size_t rows, const char *path);

/* Fills the empty sample tables of a thread. */
int build_samples(struct build *build, struct raw_thread *raw, size_t index, struct thread *thread);

/* Adds the sample tables that follow the threads (append.h). */
int build_added_samples(struct build *build);

/* Converts the CPU deltas of all threads to µs. Drops the deltas if the file does not state their unit. */
void build_cpu_deltas(struct build *build, uint32_t unit);
