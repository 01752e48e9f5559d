/*
 * Starting the target: a child that waits until it is told to become the program, so that everything is in place when
 * its first instruction runs.
 */
#ifndef PROF_RECORD_LAUNCH_H
#define PROF_RECORD_LAUNCH_H

#include "base/error.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct launch {
    pid_t pid;
    int go_fd;    /* write end: a byte lets the child go on, closing it makes it give up */
    int error_fd; /* read end: the errno of a failed exec, or nothing */
};

/* Whether `program` can be run, found as execvp() does: 0, -ENOENT, or -EACCES if it is there but is not executable. */
int launch_check(const char *program, struct error *err);

/* What the child gets; the standard streams and the environment are ours. */
struct launch_options {
    char *const *argv;         /* NULL at the end */
    const sigset_t *mask;      /* blocked signals */
    struct rlimit files_limit; /* RLIMIT_NOFILE */
    bool output_to_error;      /* its standard output is the standard error: the output is the profile's */
};

/* Forks the child, which waits. */
int launch_fork(struct launch *launch, const struct launch_options *options, struct error *err);

/* Lets it call exec and waits until that is done. If it failed the child is gone, with the sentence in `err`. */
int launch_exec(struct launch *launch, const char *program, struct error *err);

/* Gives up a child that was not let go. */
void launch_cancel(struct launch *launch);

#endif
