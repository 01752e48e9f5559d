/*
 * Reads a profile of any format that prof opens, fed in pieces like profile_reader (profile/read.h). Once the first
 * bytes identify the Firefox Profiler's format, the bytes go on to a profile_reader; files in other formats are
 * collected whole, up to the limit of their importer.
 */
#pragma once

#include "profile/read.h"

struct import;

/* NULL if memory ran out. */
struct import *import_new(void);

/* Feeds the next uncompressed bytes. After a failure, every call fails with the same sentence. */
int import_feed(struct import *import, const void *bytes, size_t size, struct error *err);

/* The end of the file; as profile_reader_finish(). */
int import_finish(struct import *import, struct profile *out, struct error *err);

/* Also accepts parts of a growing profile (profile/append.h): only for a caller that has the earlier parts, and
 * passes both to profile_continue(). Without this call, a part is an error. */
void import_take_parts(struct import *import);

/* As profile_reader_stop_on() and profile_reader_defer(). */
void import_stop_on(struct import *import, const atomic_bool *stop);
void import_defer(struct import *import, size_t least);

/* The reader, for its deferred runs: borrowed. */
struct profile_reader *import_reader(struct import *import);

void import_free(struct import *import);
