/*
 * The options of `prof record` that limit or pause a recording: --last, --max-size, --paused, --delay, --iterations.
 * The messages and snapshots of a running recording are here, too.
 */
#pragma once

#include "cmd/common/options.h"
#include "cmd/common/symbol_options.h"

#include "record/record_options.h"
#include "process/open_files.h"

#include <stdbool.h>

extern const struct option_row control_option_rows[];

/* Whether they fit together and to the rest of the command line. Returns 0 or the exit status after a message. */
int control_check(const struct control_options *options, bool has_command, bool is_recovery);

/* What the snapshots of a recording are made of. */
struct snapshot_source {
    const char *output; /* of the recording: snapshots are called after it */
    const char *spool;
    struct symbol_options *symbols;
    const struct open_files *files;
    bool no_cache;
};

/* Has the recording tell the user what happens and, with a `source`, make snapshots; both must outlive it. */
void control_connect(struct control_options *options, struct snapshot_source *source);
