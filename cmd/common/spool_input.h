/*
 * Input files of the commands that read profiles. They may also be the spool file of a running or killed prof, or a
 * perf.data file: prof recognizes both by their content, and makes the profile in memory.
 */
#pragma once

#include "cmd/common/symbol_options.h"

#include "assemble/assemble.h"
#include "profile/profile.h"

/* Returns whether the file is a spool file or a perf.data file, or false if it is not readable. "-" is standard
 * input: the function waits for the first bytes, and consumes none. */
bool spool_input_is_recording(const char *path);

/* Describes the kind of the file for messages: "a recording that was not saved as a profile". */
const char *describe_spool_input(const char *path);

/* Makes the profile of a spool file or a perf.data file (or "-") like assemble_recording(), and prints one line with
 * the end of the recording and its missing parts. `output`: path of the profile, or NULL (in memory). The caller
 * opens and closes `symbols`. `no_cache` has the meaning of --no-cache. While prof downloads debug files, Ctrl+C ends
 * only the download. Returns 0 or the exit status, after a message. */
int spool_input_assemble(const char *spool, const char *output, const struct symbol_options *symbols, bool no_cache,
                         struct assemble_result *result);

/* Reads a profile, or makes the profile of a recording. If the addresses have no symbols yet, opens `symbols` and
 * symbolizes the profile. The caller destroys the profile. Returns 0 or the exit status, after a message. */
int spool_input_load(const char *path, struct symbol_options *symbols, struct profile *profile);
