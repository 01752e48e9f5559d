/*
 * `prof record --push URL --every 60s`: pushes the newest samples each minute during the recording. Without --every,
 * pushes the saved profile while the page is open.
 *
 * A child process of low priority reads the spool while the recorder writes it, and puts a profile of each window into
 * the queue; one of its threads sends the queue. The process shares only the file with the recorder: a slow or
 * unreachable server costs the recorder nothing, and fills the queue.
 *
 * Threads: the recording thread.
 */
#pragma once

#include "base/error.h"
#include "cmd/push/push_options.h"
#include "cmd/common/symbol_options.h"

#include <stdbool.h>
#include <stdint.h>

struct push_windows;

struct push_windows_options {
    const char *spool;               /* of the recording */
    const struct push_options *push; /* resolved */
    struct symbol_options *symbols;
    uint64_t every; /* ns */
    bool no_cache, quiet;
};

/* Starts the process, before the recording, with the signals of record_signals() blocked. `options` and what it points
 * to must stay as they are until this returns. */
int push_windows_start(struct push_windows **out, const struct push_windows_options *options, struct error *err);

/* Starts the process when the recording has been saved: it pushes the file `path`. */
int push_windows_start_saved(struct push_windows **out, const struct push_windows_options *options, const char *path,
                             struct error *err);

/* The recording has ended: has the process make the last window, and returns when it has read the spool. `rest_fd`: see
 * struct record_result. */
void push_windows_take_last(struct push_windows *windows, int rest_fd);

/* Waits until all is sent, or until the process gives up or SIGINT, SIGTERM or SIGHUP ends it; with `is_last_call` it
 * ends what it is at. Frees. NULL is allowed. Returns EXIT_FAILURE, after messages, if something is neither sent nor
 * waits in the queue. */
int push_windows_end(struct push_windows *windows, bool is_last_call);
