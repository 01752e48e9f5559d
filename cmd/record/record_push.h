/*
 * `prof record --push URL`: sends the saved profile or, with --every, a profile of each window while the recording goes
 * on (push_windows.h).
 */
#pragma once

#include "cmd/push/push_options.h"
#include "cmd/push/push_windows.h"

#include <stdbool.h>
#include <stdint.h>

extern const struct option_row record_push_option_rows[];

/* Zero it, but for the command. */
struct record_push_options {
    char *address;  /* "env": that of the environment; NULL: nothing is pushed */
    uint64_t every; /* ns, interval of pushes; 0: push only the saved profile */
    struct push_options shared;
};

/* Whether they fit together and to the rest of the command line (`last`: ns of --last, 0: none), and where to push.
 * Returns 0 or the exit status after a message. */
int record_push_check(struct record_push_options *options, bool is_recovery, bool is_standard_output, uint64_t last);

/* Starts the process that pushes windows: *windows, NULL without --every. `spool`: of the recording, which is about to
 * begin. */
int record_push_start(struct push_windows **windows, const struct record_push_options *options, const char *spool,
                      struct symbol_options *symbols, bool no_cache, bool quiet, struct error *err);

/* Without --every: starts the process that sends the saved profile. What cannot be sent stays in the queue, as messages
 * say. */
void record_push_saved(struct push_windows **windows, const struct record_push_options *options, const char *path,
                       bool quiet);
