/*
 * Processes that run already when their recording begins: what they are, which threads they have, and when they end.
 *
 * Threads: all functions may be called from any thread.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ARRAY_TYPE(tid_array, pid_t); /* or pids */

/* Appends the ids of all processes that /proc shows. */
int attach_list_processes(struct tid_array *pids, struct error *err);

/* Appends the ids of the child processes that these processes have, of the children of those, and so on, but not those
 * of `pids`, nor zombies. */
int attach_list_children(const pid_t *pids, size_t count, struct tid_array *children, struct error *err);

/* Appends the ids of the threads that the process has now. -ESRCH if there is no such process, with a sentence. */
int attach_list_threads(pid_t pid, struct tid_array *tids, struct error *err);

/* The name of a thread; "" if it has ended. */
void attach_thread_name(pid_t pid, pid_t tid, char *name, size_t size);

/* Which program the process runs: another number after it has called exec. 0 if it has none (a kernel thread), has
 * ended, or we may not look. */
uint64_t attach_program(pid_t pid);

/* The words of the command line of a process, NULL at the end; its name alone if it has none or has overwritten it. One
 * block of memory, the caller's. NULL if memory ran out. */
char **attach_command(pid_t pid);

/* False for a kernel thread, a zombie, and in the middle of exec. */
bool attach_has_command(pid_t pid);

/* A file descriptor that becomes readable (poll) when the process ends. -ESRCH if it has ended, with a sentence. */
int attach_watch(pid_t pid, struct error *err);
