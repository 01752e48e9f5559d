/*
 * Starts the target. The child waits before exec until the recorder is ready, so that the recording includes the
 * program's first instruction.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/error.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

struct launch {
    pid_t pid;
    int go_fd;    /* write end: a byte lets the child call exec; closing the pipe ends the child */
    int error_fd; /* read end: the errno of a failed exec, or nothing */
};

/* Searches `program` as execvp() does, and checks that the file can run. -ENOENT, or -EACCES if the file is not
 * executable. */
int launch_check_program(const char *program, struct error *err);

/* Settings of the child, which inherits prof's standard streams and environment. */
struct launch_options {
    char *const *argv;           /* NULL at the end */
    const sigset_t *mask;        /* blocked signals */
    struct rlimit files_limit;   /* RLIMIT_NOFILE */
    const char *marks_directory; /* value of PROF_MARKS (include/prof/marks.h), or NULL if inherited */
    bool is_traced;       /* prof traces the child by ptrace; disables LeakSanitizer, which needs ptrace itself */
    bool output_to_error; /* redirect the child's standard output to standard error, because prof writes the profile to
                             the standard output */
};

/* Forks the child, which then waits. */
int launch_fork(struct launch *launch, const struct launch_options *options, struct error *err);

/* Lets the child call exec, and waits for the result. After a failed exec, the child has ended. */
int launch_exec(struct launch *launch, const char *program, struct error *err);

/* Ends a child that still waits for launch_exec(). */
void launch_cancel(struct launch *launch);
