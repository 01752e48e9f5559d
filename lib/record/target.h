/*
 * The target of a recording: a command that the recorder starts, with options.control.iterations several times, or
 * processes that run already. Knows whether it has ended.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/error.h"
#include "record/record_options.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct target;

/* `options` must outlive the target. NULL if memory ran out. */
struct target *target_new(const struct record_options *options);
void target_free(struct target *target);

/* Changes settings of this process: raises its limit of open files, and ignores SIGXFSZ, which would kill prof at a
 * file-size limit. The command keeps the settings before. */
void target_change_settings(struct target *target);
void target_restore_settings(struct target *target);

/* Starts the command, which then waits for target_exec() or target_cancel(). `marks_directory`, `is_traced`: as in
 * launch.h. */
int target_start(struct target *target, const char *marks_directory, bool is_traced, struct error *err);
int target_exec(struct target *target, struct error *err);
void target_cancel(struct target *target);

/* Finds the command line of the processes. -ENOMEM if memory ran out. */
int target_attach(struct target *target, struct error *err);

/* Reads the CPU clocks of options.pids at the start of the recording; then returns that of number `i`, ns. */
int target_read_clocks(struct target *target, struct error *err);
uint64_t target_clock(const struct target *target, size_t i);

/* Returns a file descriptor that is readable when a process of options.pids has ended. */
int target_watch(struct target *target, pid_t pid, struct error *err);

/* Closes `fd` if it is one of target_watch(). True if now all these processes have ended. */
bool target_take_end(struct target *target, int fd);

/* Whether the command has ended and is not reaped. */
bool target_has_ended(const struct target *target);

/* Reaps the command: fills in what wait4() reports. False if it has not ended. */
bool target_reap(struct target *target, int *status, struct rusage *usage);

/* Notes that the command was reaped, also by the sampler of ptrace. True if it is to run again. */
bool target_note_end(struct target *target, int status);

/* Handles SIGINT: sends it to the command unless the terminal did. False if the recording shall end instead: the second
 * time, and without a command. */
bool target_interrupt(struct target *target, bool from_terminal);

pid_t target_pid(const struct target *target); /* of the command, or 0 for none */
bool target_is_reaped(const struct target *target);
bool target_runs_again(const struct target *target); /* target_note_end() has returned true; until target_start() */
uint32_t target_runs(const struct target *target);   /* so far */
char *const *target_command(const struct target *target); /* words of the command or the first process, or NULL for
                                                           * none */

/* CPU time (ns) of the command so far, all of it before exec, which is prof's own. Adds up that of all runs. */
uint64_t target_note_launch_clock(struct target *target);
uint64_t target_launch_clock(const struct target *target);
