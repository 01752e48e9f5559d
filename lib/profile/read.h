/*
 * Reads a profile in pieces of any size, from a file, zlib or the network.
 */
#pragma once

#include "profile/column.h"
#include "profile/profile.h"

#include <stdatomic.h>

struct profile_reader;

/* NULL if memory ran out. */
struct profile_reader *profile_reader_new(void);

/* Reads the next bytes of the (uncompressed) JSON or JSLB. After a failure, every call fails with the same sentence. */
int profile_reader_feed(struct profile_reader *reader, const void *bytes, size_t size, struct error *err);

/* Call this function at the end of the file: completes the tables, converts older versions, checks the profile and
 * moves it to `out` (zeroed by the caller, who owns it). The error names the format of the file, or the JSON path and
 * byte of the fault. */
int profile_reader_finish(struct profile_reader *reader, struct profile *out, struct error *err);

/* Makes the reader fail with -ECANCELED soon after *stop becomes true, set by any thread. */
void profile_reader_set_stop_flag(struct profile_reader *reader, const atomic_bool *stop);

void profile_reader_free(struct profile_reader *reader);

/* ---- deferred columns ----
 *
 * Nearly all bytes of a large profile are long columns of numbers. The reader can defer them: another thread parses a
 * run of numbers (numbers_read(), between brackets) and transfers the elements before the end. The reader itself only
 * counts the commas of a deferred run. If the run holds another number of elements, read the file again without
 * deferring to get the error. */

struct deferred_column {
    const char *text; /* position in the piece; invalid after the next piece */
    size_t size, count;
    enum column_type type;
    bool is_read;
    struct column *column; /* column of the reader */
    size_t first;
};

/* Makes the reader defer runs of at least `least` bytes, starting at the next piece. With 0, the default, the reader
 * defers no runs. */
void profile_reader_defer_numbers(struct profile_reader *reader, size_t least);

/* Returns all deferred runs so far, in order. */
const struct deferred_column *profile_reader_get_deferred_columns(const struct profile_reader *reader, size_t *count);

/* Returns the memory to which the caller writes the `count` elements of a run, in the type of the column. The memory is
 * valid until the next call. Returns NULL if the run does not exist, or on the second call for the run. */
void *profile_reader_get_deferred_elements(struct profile_reader *reader, size_t number);
