/*
 * The options of `prof record` that limit or pause a recording: --last, --max-size, --paused, --delay, --iterations.
 * Also prints the messages and saves the snapshots of a running recording.
 */
#pragma once

#include "cmd/common/options.h"
#include "cmd/common/symbol_options.h"

#include "record/record_options.h"
#include "process/open_files.h"

extern const struct option_row control_option_rows[];

/* Checks that these options fit together and to the rest of the command line. Returns 0 or the exit status after a
 * message. */
int control_options_check(const struct control_options *options, bool has_command, bool is_recovery);

/* The data from which a recording makes snapshots. */
struct snapshot_source {
    const char *output; /* the output of the recording, from which snapshots get their names */
    const char *spool;
    struct symbol_options *symbols;
    const struct open_files *files;
    bool no_cache;
};

/* Sets the callbacks with which the recording prints messages and saves snapshots. `options` and `source` must outlive
 * the recording. */
void control_connect(struct control_options *options, struct snapshot_source *source);
