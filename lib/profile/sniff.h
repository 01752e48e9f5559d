/*
 * Recognizes files that are no profiles, because users open many kinds of recordings in a profile viewer.
 */
#pragma once

#include "base/standard.h"

/* The number of bytes that detect every format. The first packet of a Perfetto trace needs most. Bytes that begin with
 * a brace may be JSON. */
enum { SNIFF_SIZE = 4096 };

/* Describes a foreign file by its first bytes, with advice, as a predicate: "is a perf.data file ...", or NULL if the
 * file may be JSON. */
const char *describe_foreign_file(const unsigned char *bytes, size_t size);
