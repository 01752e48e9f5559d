/*
 * Commands that read a profile also read a spool file: the recording of a prof that was killed, or that could not save
 * it, or that still runs. They know one by its content, and make its profile in memory.
 */
#pragma once

#include "symbol_options.h"

#include "assemble/assemble.h"

#include <stdbool.h>

/* Makes the profile of the recording `spool`, as assemble_recording() does, and prints in one line how far it goes and
 * how much of it is missing. `output` NULL: in memory. `symbols` is open and stays open; `no_cache`: see --no-cache.
 * With a debug server, Ctrl+C ends only the fetching. Returns 0 or the exit status, after a message. */
int spool_input_assemble(const char *spool, const char *output, const struct symbol_options *symbols, bool no_cache,
                         struct assemble_result *result);
