/*
 * Writes the environment of a recording (machine, operating system, CPU frequencies, hypervisor and container, working
 * directory, options) to the spool (info.h), so that a user can repeat or compare the recording. Another machine may
 * make the profile, so the recorder writes these values at the start.
 *
 * Saves only the environment variables that the user names: others may be secret.
 *
 * Threads: any.
 */
#pragma once

#include "base/error.h"
#include "spool/spool.h"

#include <sys/types.h>

/* A member of struct record_options. */
struct environment_options {
    char *const *arguments;       /* prof's own options, NULL at the end, or NULL if unknown */
    const char *const *variables; /* names of environment variables to record */
    size_t variable_count;
    bool no_machine_name; /* omit host name and working directory */
};

/* `pid`: the running process whose working directory and variables are saved, or 0 (prof's own, which the command
 * inherits). */
int write_environment(struct spool_writer *spool, const struct environment_options *options, pid_t pid,
                      struct error *err);
