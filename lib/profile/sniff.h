/*
 * What a file is that is no profile: people drop all kinds of recordings on a profile viewer.
 */
#pragma once

#include <stddef.h>

enum { SNIFF_SIZE = 24 }; /* bytes that are enough (no magic is longer), except for tar archives and Perfetto traces */

/* "is a perf.data file ...": a predicate for the file that begins with these bytes, with what to do about it; NULL if
 * it may be JSON. */
const char *sniff_foreign(const unsigned char *bytes, size_t size);
