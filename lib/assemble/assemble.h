/*
 * The last step of a recording: from its spool file to a symbolicated profile.
 */
#ifndef PROF_ASSEMBLE_ASSEMBLE_H
#define PROF_ASSEMBLE_ASSEMBLE_H

#include "base/error.h"

#include <stdint.h>

struct assemble_options {
    unsigned threads;         /* for symbols; 0: one per processor */
    const char *cache_folder; /* see struct symbolizer_options */
};

struct assemble_result {
    uint64_t samples, lost, cut; /* cut: samples whose stack does not reach the thread's start */
    uint64_t threads, processes; /* with samples */
    uint64_t addresses, unnamed; /* distinct addresses in libraries, and those without a symbol */
    uint64_t damaged;            /* blocks of the spool, or samples in it, that could not be read */
    uint64_t bytes;              /* of the profile file */
};

/* Reads `spool_path`, names every address and writes the profile to `output_path` (gzip if it ends in .gz) by way of a
 * temporary file in the same folder: the output is whole or not there. The spool is left as it is. */
int assemble_recording(const char *spool_path, const char *output_path, const struct assemble_options *options,
                       struct assemble_result *result, struct error *err);

#endif
