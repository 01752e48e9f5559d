/*
 * The target of a recording: a command that the recorder starts, with options.control.iterations several times, or
 * processes that run already. The target also records whether the command has ended.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/error.h"
#include "record/record_options.h"

#include <sys/resource.h>
#include <sys/types.h>

struct target;

/* `options` must outlive the target. NULL if memory ran out. */
struct target *target_new(const struct record_options *options);
void target_free(struct target *target);

/* Changes settings of this process: raises its limit of open files, and ignores SIGXFSZ, which would kill prof at a
 * file-size limit. The command gets the previous settings. */
void target_change_settings(struct target *target);
void target_restore_settings(struct target *target);

/* Starts the command, which then waits for target_exec_command() or target_cancel(). `marks_directory`, `is_traced`: as
 * in launch.h. */
int target_start(struct target *target, const char *marks_directory, bool is_traced, struct error *err);
int target_exec_command(struct target *target, struct error *err);
void target_cancel(struct target *target);

/* Finds the command line of the processes. -ENOMEM if memory ran out. */
int target_attach(struct target *target, struct error *err);

/* target_read_clocks() reads the CPU clocks of options.pids at the start of the recording. target_get_clock() returns
 * the clock (ns) of number `i`. */
int target_read_clocks(struct target *target, struct error *err);
uint64_t target_get_clock(const struct target *target, size_t i);

/* Returns a file descriptor that is readable when a process of options.pids has ended. */
int target_watch(struct target *target, pid_t pid, struct error *err);

/* Closes `fd` if target_watch() returned it. Returns true if all watched processes have now ended. */
bool target_handle_end(struct target *target, int fd);

/* Whether the command has ended and is not yet reaped. */
bool target_has_ended(const struct target *target);

/* Reaps the command: fills in the results of wait4(). Returns false if the command has not ended. */
bool target_reap(struct target *target, int *status, struct rusage *usage);

/* Notes that prof, or the ptrace sampler, has reaped the command. Returns true if the command runs again. */
bool target_note_end(struct target *target, int status);

/* Handles SIGINT: sends the signal to the command unless the terminal did. Returns false if the recording must end
 * instead, at the second SIGINT or without a command. */
bool target_interrupt(struct target *target, bool from_terminal);

pid_t target_get_pid(const struct target *target); /* pid of the command, or 0 for none */
bool target_is_reaped(const struct target *target);

/* Whether target_note_end() has returned true, and target_start() was not called since. */
bool target_is_to_run_again(const struct target *target);

/* Returns the number of runs that have started. */
uint32_t target_count_runs(const struct target *target);

/* Returns the words of the command or of the first process, or NULL for none. */
char *const *target_command(const struct target *target);

/* The CPU time (ns) of the command before its exec, which is prof's own. target_note_launch_clock() reads and returns
 * the time of one run, and adds the time to the sum of all runs. target_get_launch_clock() returns the sum. */
uint64_t target_note_launch_clock(struct target *target);
uint64_t target_get_launch_clock(const struct target *target);
