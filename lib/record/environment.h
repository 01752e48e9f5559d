/*
 * Where a recording is made, so that it can be made again or compared: the machine, the system, how its CPUs are
 * clocked, what they are shared with, the folder, and the options. Written to the spool at the start (info.h), because
 * the profile may be made elsewhere.
 *
 * Values of environment variables are saved only of those that the user names: others may be secret.
 *
 * Threads: any.
 */
#pragma once

#include "base/error.h"
#include "spool/spool.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A part of struct record_options. */
struct environment_options {
    char *const *arguments;       /* prof's own options, NULL at the end; NULL: not known */
    const char *const *variables; /* the names of environment variables */
    size_t variable_count;
    bool no_host; /* not the name of the machine, nor the folder */
};

/* `pid`: a process that runs already, whose folder and variables are meant; 0: ours, which the command gets. */
int environment_write(struct spool_writer *spool, const struct environment_options *options, pid_t pid,
                      struct error *err);
