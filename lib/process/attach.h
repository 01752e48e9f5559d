/*
 * Finds processes that run before the recording: their programs, threads and ends.
 *
 * Threads: all functions may be called from any thread.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"

#include <sys/types.h>

struct ARRAY_TYPE(tid_array, pid_t); /* tids or pids */

/* Appends the pids of all processes in /proc. */
int attach_list_processes(struct tid_array *pids, struct error *err);

/* Appends the pids of all descendants of these processes, without `pids` and without zombies. */
int attach_list_children(const pid_t *pids, size_t count, struct tid_array *children, struct error *err);

/* Appends the tids of the current threads of a process. -ESRCH with a sentence if the process does not exist. */
int attach_list_threads(pid_t pid, struct tid_array *tids, struct error *err);

/* Reads the name of a thread; "" if it has ended. */
void attach_read_thread_name(pid_t pid, pid_t tid, char *name, size_t size);

/* Returns a number that identifies the program of a process, and changes with exec. 0 for a kernel thread, an ended
 * process, or a process that this user may not read. */
uint64_t attach_identify_program(pid_t pid);

/* Returns the arguments of a process, NULL at the end; only its name if the process has no arguments or has overwritten
 * them. The result is one block of memory, owned by the caller. NULL if memory ran out. */
char **attach_read_command(pid_t pid);

/* False for a kernel thread, a zombie, and during exec. */
bool attach_has_command(pid_t pid);

/* Returns a file descriptor that becomes readable (poll) when the process ends. -ESRCH with a sentence if it has
 * ended. */
int attach_watch(pid_t pid, struct error *err);
