/*
 * A profile that grows. The server of a recording that goes on sends a profile without samples and stacks, and behind
 * it pieces of these, "added", in the order in which they came to be: rows of one sample table each, or of all shared
 * tables, from stacks to sources, whose rows never change. A page that has a part of these already gets the other ones
 * alone (meta.added_from). What else there is comes whole each time: metadata, libraries, threads, markers, counters.
 *
 * The last row of a piece of samples may be preliminary: the next piece of the table then begins with it again. A piece
 * of the shared tables says how many rows there are before it, and has strings of its own.
 */
#pragma once

#include "base/error.h"
#include "profile/profile.h"

/* Replaces the rows of `table` starting at `row` by `rows`, and takes ownership of their columns. A time earlier than
 * the previous row's becomes equal to it, because each piece was rounded separately. -EINVAL if rows are missing before
 * `row`, or columns in either table. */
int sample_table_append(struct sample_table *table, size_t row, struct sample_table *rows, struct error *err);

/* Moves the samples and shared tables of the earlier part `before` to `profile`, which was read with meta.added_from.
 * Call profile_destroy() for both, also after a failure, which may leave `before` without samples. -EINVAL if `profile`
 * does not continue `before`, which then stays unchanged. */
int profile_continue(struct profile *profile, struct profile *before, struct error *err);
