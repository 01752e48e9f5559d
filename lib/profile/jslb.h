/*
 * JSLB ("JSON slabs"): a profile whose large columns are binary. A file holds numbered slabs: arrays of numbers of one
 * type, or JSON. One JSON slab is the root. In every JSON slab, {"$s": N} stands for slab N.
 */
#pragma once

#include "base/sink.h"

enum { JSLB_MAGIC_SIZE = 8 };

bool jslb_begins(const unsigned char *bytes, size_t size);

/* Writes the whole container as one JSON text. */
int jslb_to_json(const unsigned char *bytes, size_t size, const struct byte_sink *sink, struct error *err);
