/*
 * A growing profile. During a recording, the server sends a profile without samples and stacks, followed by pieces of
 * samples and stacks ("added") in the order of their creation. A piece has rows of one sample table, the next CPU
 * slices of a thread, or rows of all shared tables (stacks to sources). Slices and rows of shared tables never change.
 * A page that already has some pieces gets only the new pieces (meta.added_from). The server always sends all metadata,
 * libraries, threads, markers and counters.
 *
 * The last row of a piece of samples may be preliminary: the next piece of the table then begins with the final version
 * of this row. A piece of the shared tables contains the number of earlier rows, and its own strings.
 */
#pragma once

#include "base/error.h"
#include "profile/profile.h"

/* Replaces the rows of `table` starting at `row` by `rows`, and takes ownership of their columns. A time earlier than
 * the previous row's becomes equal to it, because each piece was rounded separately. -EINVAL if rows before `row` are
 * missing, or if one table lacks a column of the other. */
int sample_table_append(struct sample_table *table, size_t row, struct sample_table *rows, struct error *err);

/* Appends `rows` to `table`, and takes ownership of their columns. A start earlier than the previous row's becomes
 * equal to it. */
int slice_table_append(struct slice_table *table, struct slice_table *rows, struct error *err);

/* Moves the samples, slices and shared tables of the earlier part `before` to `profile`, which was read with
 * meta.added_from. Call profile_destroy() for both, also after a failure, which may leave `before` without samples.
 * -EINVAL if `profile` does not continue `before`, which then stays unchanged. */
int profile_continue(struct profile *profile, struct profile *before, struct error *err);
