/*
 * Starting the target: a child that waits until it is told to become the program, so that everything is in place when
 * its first instruction runs.
 */
#ifndef PROF_RECORD_LAUNCH_H
#define PROF_RECORD_LAUNCH_H

#include "base/error.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct launch {
    pid_t pid;
    int go_fd;    /* write end: a byte lets the child go on, closing it makes it give up */
    int error_fd; /* read end: the errno of a failed exec, or nothing */
};

/* Whether `program` can be run, found as execvp() does: 0, -ENOENT, or -EACCES if it is there but is not executable. */
int launch_check(const char *program, struct error *err);

/* Forks the child, which gets the standard streams, the environment and the given signal mask, and waits. With
 * `output_to_error` its standard output is the standard error: the output is the profile's. */
int launch_fork(struct launch *launch, char *const *argv, const sigset_t *mask, bool output_to_error,
                struct error *err);

/* Lets it call exec and waits until that is done. If it failed the child is gone, with the sentence in `err`. */
int launch_exec(struct launch *launch, const char *program, struct error *err);

/* Gives up a child that was not let go. */
void launch_cancel(struct launch *launch);

#endif
