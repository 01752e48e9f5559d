/*
 * Parses the options that select a time range, and threads by name or number.
 */
#pragma once

#include "profile/profile.h"

/* Parses a range such as "1.5,3", in seconds, for an option of `command`. Returns 0, or the exit status after a
 * message. */
int selection_parse_range(const char *command, const char *text, double *from, double *to);

/* Appends the threads that match --thread NAME. Returns an exit status, after a message if it is not 0. */
int selection_find_threads(const struct profile *profile, const char *path, const char *wanted,
                           struct thread_list *found);
