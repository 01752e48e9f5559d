/*
 * Adds one note for each limit of ptrace that a recording meets: a program has one tracer, set-user-ID programs lose
 * their rights, and ptrace cannot read the memory of programs that are not dumpable.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "record/record_result.h"

/* The limits that already have a note. Zero it to start. */
struct ptrace_limits {
    bool privilege, leak_sanitizer, tracer, unreadable;
    unsigned checks; /* programs searched for LeakSanitizer so far */
};

/* Adds notes for a program that a process has just started to run. Returns true if the program traces its own children:
 * prof must not trace its children. `has_command`: the recorder starts the program, and disables LeakSanitizer in the
 * program. */
bool ptrace_limits_check_program(struct ptrace_limits *limits, struct record_result *result, bool has_command,
                                 uint32_t pid, const char *name);

/* Adds a note that prof may not read the memory of a process. */
void ptrace_limits_add_unreadable_note(struct ptrace_limits *limits, struct record_result *result, uint32_t pid);
