/*
 * Packs a stream of bytes as one gzip file, on all processors.
 */
#ifndef PROF_PROFILE_FILE_GZIP_H
#define PROF_PROFILE_FILE_GZIP_H

#include "base/sink.h"

struct gzip_packer;

/* The packed bytes go to `out` (copied), which is called in the thread that calls these functions. NULL if memory ran
 * out. */
struct gzip_packer *gzip_packer_new(struct byte_sink out);

int gzip_packer_add(struct gzip_packer *packer, const void *bytes, size_t size, struct error *err);

/* Packs the rest and writes the end of the gzip file. Nothing may be added after. */
int gzip_packer_finish(struct gzip_packer *packer, struct error *err);

void gzip_packer_free(struct gzip_packer *packer);

#endif
