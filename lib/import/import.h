/*
 * Reads a profile of any format that prof opens, fed in pieces like profile_reader (profile/read.h). Profiles in the
 * Firefox Profiler's format go on to a profile_reader as soon as the first bytes have told that they are; other formats
 * are collected whole, up to the limit of their importer.
 */
#pragma once

#include "profile/read.h"

struct import;

/* NULL if memory ran out. */
struct import *import_new(void);

/* The next bytes, not compressed. Once it has failed it fails always, with the same sentence. */
int import_feed(struct import *import, const void *bytes, size_t size, struct error *err);

/* The end of the file; as profile_reader_finish(). */
int import_finish(struct import *import, struct profile *out, struct error *err);

/* Takes parts of a profile that grows, too (profile/append.h): only for a caller that has what is before them, and
 * gives both to profile_continue(). Without this, a part is an error. */
void import_take_parts(struct import *import);

/* As profile_reader_stop_on() and profile_reader_defer(). */
void import_stop_on(struct import *import, const atomic_bool *stop);
void import_defer(struct import *import, size_t least);

/* For what it has deferred: borrowed. */
struct profile_reader *import_reader(struct import *import);

void import_free(struct import *import);
