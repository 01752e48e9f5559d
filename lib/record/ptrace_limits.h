/*
 * Warns once of each limit of ptrace: a program has one tracer, set-user-ID programs lose their rights, and ptrace
 * cannot read the memory of programs that are not dumpable.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "record/recording.h"

#include <stdbool.h>
#include <stdint.h>

/* Adds notes for a program that a process has just started to run. Returns true if the program traces its own children:
 * prof must not trace these. */
bool ptrace_limits_note_program(struct recording *recording, uint32_t pid, const char *name);

/* Adds a note that prof may not read the memory of a process. */
void ptrace_limits_note_unreadable(struct recording *recording, uint32_t pid);
