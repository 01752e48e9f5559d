/*
 * Warns once of each limit of ptrace: a program has one tracer, set-user-ID programs lose their rights, and the memory
 * of programs that are not dumpable cannot be read.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "record/recording.h"

#include <stdbool.h>
#include <stdint.h>

/* Adds notes for a program that a process has just begun to run. Returns whether it traces the programs that it starts:
 * these must not be traced by prof then. */
bool ptrace_limits_note_program(struct recording *recording, uint32_t pid, const char *name);

/* Adds a note that the memory of a process may not be read. */
void ptrace_limits_note_unreadable(struct recording *recording, uint32_t pid);
