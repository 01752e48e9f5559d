/*
 * Reads a profile of any format that prof opens, fed in pieces like profile_reader (profile/read.h). Once the first
 * bytes identify the Firefox Profiler's format, a profile_reader reads the file. Files in other formats are
 * collected whole, up to the limit of their importer.
 */
#pragma once

#include "profile/read.h"

struct import;

/* NULL if memory ran out. */
struct import *import_new(void);

/* Feeds the next uncompressed bytes. After a failure, every call fails with the same sentence. */
int import_feed(struct import *import, const void *bytes, size_t size, struct error *err);

/* Call this function at the end of the file, like profile_reader_finish(). */
int import_finish(struct import *import, struct profile *out, struct error *err);

/* Also accepts parts of a growing profile (profile/append.h), which the caller passes to profile_continue() with the
 * earlier parts. Without this call, a part is an error. */
void import_accept_parts(struct import *import);

/* Works as profile_reader_set_stop_flag() and profile_reader_defer_numbers(). */
void import_set_stop_flag(struct import *import, const atomic_bool *stop);
void import_defer_numbers(struct import *import, size_t least);

/* Returns the reader (borrowed), for its deferred runs. */
struct profile_reader *import_get_reader(struct import *import);

void import_free(struct import *import);
