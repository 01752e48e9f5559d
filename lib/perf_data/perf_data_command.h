/*
 * The command line of perf in the header of a perf.data file: "perf record -F 99 -g -- make -j8". The profile is a
 * profile of make. Thread safety: no shared state.
 */
#pragma once

#include "base/cursor.h"
#include "base/error.h"

struct perf_data_command {
    char *options, *target; /* words of the target's command line, quoted for a shell, or NULL if empty */
    char program[64];       /* the first word of the target, without its directory; may be empty */
};

/* Reads the feature: the number of words, then size and text of each word. `command` is empty or the result of an
 * earlier call. */
int perf_data_command_read(struct perf_data_command *command, struct cursor c, struct error *err);
void perf_data_command_destroy(struct perf_data_command *command);
