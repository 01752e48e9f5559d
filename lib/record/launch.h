/*
 * Starts the target. The child waits before exec until the recorder is ready, so that the recording has the first
 * instruction of the program.
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#pragma once

#include "base/error.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct launch {
    pid_t pid;
    int go_fd;    /* write end: a byte lets the child call exec, closing it ends the child */
    int error_fd; /* read end: the errno of a failed exec, or nothing */
};

/* Checks that `program` can be run, and searches it as execvp() does. -ENOENT, or -EACCES if it is not executable. */
int launch_check(const char *program, struct error *err);

/* What the child gets. It inherits our standard streams and environment. */
struct launch_options {
    char *const *argv;         /* NULL at the end */
    const sigset_t *mask;      /* blocked signals */
    struct rlimit files_limit; /* RLIMIT_NOFILE */
    const char *marks_folder;  /* of PROF_MARKS (include/prof/marks.h); NULL: as in our environment */
    bool is_traced;            /* by ptrace, which LeakSanitizer needs for itself: it is turned off */
    bool output_to_error;      /* its standard output goes to our standard error, because our output is the profile */
};

/* Forks the child, which then waits. */
int launch_fork(struct launch *launch, const struct launch_options *options, struct error *err);

/* Lets the child call exec, and waits for the result. If exec fails, the child has ended. */
int launch_exec(struct launch *launch, const char *program, struct error *err);

/* Ends a child that still waits. */
void launch_cancel(struct launch *launch);
