/*
 * Compresses a stream of bytes into one gzip file, with ISA-L. The user waits for it at the end of a recording. zlib
 * takes eight times as long for a file that is a tenth smaller; that is more CPU time than the rest of the recorder
 * takes.
 */
#pragma once

#include "base/error.h"
#include "base/sink.h"

struct gzip_packer;

/* The packed bytes go to `sink` (copied). Returns 0, or -ENOMEM with `*out` NULL. */
int gzip_packer_new(struct gzip_packer **out, struct byte_sink sink, struct error *err);

int gzip_packer_add(struct gzip_packer *packer, const void *bytes, size_t size, struct error *err);

/* Packs the rest and writes the end of the gzip file. Nothing may be added after. */
int gzip_packer_finish(struct gzip_packer *packer, struct error *err);

/* Accepts NULL. */
void gzip_packer_free(struct gzip_packer *packer);
