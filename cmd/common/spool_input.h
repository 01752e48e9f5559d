/*
 * Commands that read a profile also read the spool file of a running or killed prof, and the perf.data file of perf
 * record. They recognize both by their content, and make the profile in memory.
 */
#pragma once

#include "cmd/common/symbol_options.h"

#include "assemble/assemble.h"
#include "profile/profile.h"

#include <stdbool.h>

/* Whether the file is a spool or a perf.data file. False if it cannot be read. "-" is the standard input, of which
 * nothing is read; it waits for its first bytes. */
bool spool_input_is_recording(const char *path);

/* "a recording that was not saved as a profile" */
const char *spool_input_kind(const char *path);

/* Makes the profile of the recording `spool`, or perf.data file (or "-"), as assemble_recording() does, and prints in
 * one line how far it goes and how much of it is missing. `output` NULL: in memory. `symbols` is open and stays open;
 * `no_cache`: see --no-cache. With a debug server, Ctrl+C ends only the fetching. Returns 0 or the exit status, after a
 * message. */
int spool_input_assemble(const char *spool, const char *output, const struct symbol_options *symbols, bool no_cache,
                         struct assemble_result *result);

/* Reads a profile, or makes that of a recording; opens `symbols` for that, and for a profile whose addresses have no
 * names yet, which gets those that this machine knows. The caller destroys the profile. Returns 0
 * or the exit status, after a message. */
int spool_input_load(const char *path, struct symbol_options *symbols, struct profile *profile);
