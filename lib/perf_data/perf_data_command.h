/*
 * The command line of perf in the header of a perf.data file: "perf record -F 99 -g -- make -j8". The profile is that
 * of make.
 * Threads: any; nothing is shared.
 */
#pragma once

#include "base/cursor.h"
#include "base/error.h"

struct perf_data_command {
    char *options, *target; /* words, quoted for a shell; NULL if empty */
    char program[64];       /* the first word of the target, without its directory; may be empty */
};

/* Reads the number of words, and each as its size and its text. `command` is empty or was read before. */
int perf_data_command_read(struct perf_data_command *command, struct cursor c, struct error *err);
void perf_data_command_destroy(struct perf_data_command *command);
