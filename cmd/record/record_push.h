/*
 * The options of `prof record --push URL`, which sends the saved profile or, with --every, a profile of each window
 * during the recording (push_windows.h).
 */
#pragma once

#include "cmd/push/push_options.h"

extern const struct option_row record_push_option_rows[];

/* The caller sets shared.command, and zeroes all other fields. */
struct record_push_options {
    char *address;  /* URL of --push, "env" for the URL in the environment, or NULL (push nothing) */
    uint64_t every; /* ns, interval of pushes, or 0 (push only the saved profile) */
    struct push_options shared;
};

/* Checks that the options fit together and to the rest of the command line, and finds the URL. `last`: ns of --last,
 * or 0 if not given. Returns 0 or the exit status after a message. */
int record_push_check(struct record_push_options *options, bool is_recovery, bool is_standard_output, uint64_t last);
