/*
 * Recognizes files that are no profiles: people drop all kinds of recordings on a profile viewer.
 */
#pragma once

#include <stddef.h>

/* Bytes that are enough: of all that is compared, the first packet of a Perfetto trace reaches furthest. What begins
 * with a brace may be JSON, whatever follows. */
enum { SNIFF_SIZE = 4096 };

/* "is a perf.data file ...": a predicate for the file that begins with these bytes, with what to do about it; NULL if
 * it may be JSON. */
const char *sniff_foreign(const unsigned char *bytes, size_t size);
