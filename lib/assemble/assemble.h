/*
 * The last step of a recording: turns its spool file into a symbolicated profile.
 *
 * Threads: an object of lib/assemble belongs to the thread that creates it. Only the symbolizer starts other threads,
 * and waits for them.
 */
#pragma once

#include "assemble/assemble_options.h"
#include "base/error.h"

/* Reads `spool_path`, symbolizes every address and writes the profile to `output_path`, as gzip if the path ends in
 * .gz. Replaces the output atomically, through a temporary file in the same directory. `output_path` NULL: writes to
 * memory, see result->memory_fd. Does not change the spool, which may still grow. */
int assemble_recording(const char *spool_path, const char *output_path, const struct assemble_options *options,
                       struct assemble_result *result, struct error *err);
