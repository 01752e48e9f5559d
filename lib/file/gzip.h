/*
 * Compresses a stream of bytes into one gzip file with ISA-L. The user waits for the compression at the end of a
 * recording. zlib takes eight times as long as ISA-L, more than the CPU time of the recorder, for a file that is a
 * tenth smaller.
 */
#pragma once

#include "base/error.h"
#include "base/sink.h"

struct gzip_packer;

/* Creates a compressor that writes to `sink` (copied). Returns 0, or -ENOMEM with `*out` NULL. */
int gzip_packer_new(struct gzip_packer **out, struct byte_sink sink, struct error *err);

int gzip_packer_add(struct gzip_packer *packer, const void *bytes, size_t size, struct error *err);

/* Returns a sink that compresses its bytes. */
struct byte_sink gzip_packer_make_sink(struct gzip_packer *packer);

/* Compresses the remaining bytes and writes the end of the gzip file. No bytes may follow. */
int gzip_packer_finish(struct gzip_packer *packer, struct error *err);

/* Accepts NULL. */
void gzip_packer_free(struct gzip_packer *packer);
