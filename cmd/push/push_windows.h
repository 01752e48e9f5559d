/*
 * `prof record --push URL --every 60s`: pushes the newest samples each minute during the recording. Without --every,
 * pushes the saved profile while the page is open.
 *
 * A child process of low priority reads the spool while the recorder writes it, and puts a profile of each window into
 * the queue; one of its threads sends the queue. The process shares only the file with the recorder: a slow or
 * unreachable server costs the recorder nothing, and fills the queue.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "cmd/common/companion.h"
#include "cmd/push/push_options.h"
#include "cmd/common/symbol_options.h"

struct push_windows_options {
    const char *spool;               /* spool of the recording */
    const struct push_options *push; /* resolved */
    struct symbol_options *symbols;
    uint64_t every; /* ns */
    bool no_cache, quiet;
};

/* Starts the process, before the recording, with the signals of list_recorder_signals() blocked. If `saved` is not
 * NULL, the process pushes only the saved profile at this path. The caller must not change `options`, or the data that
 * it points to, until this function returns. */
int push_windows_start(struct companion **out, const struct push_windows_options *options, const char *saved,
                       struct error *err);

/* Call this function after the recording has ended. Makes the process queue the last window, and returns when the
 * process has read the spool file. `rest_fd`: see struct record_result. */
void push_windows_send_last(struct companion *windows, int rest_fd);

/* Waits until the process has sent all profiles, has given up, or was ended by SIGINT, SIGTERM or SIGHUP. With
 * `is_last_call`, the process ends after its current request. Frees the struct, and accepts NULL. Returns EXIT_FAILURE,
 * after printing messages, if a profile is neither sent nor queued. */
int push_windows_end(struct companion *windows, bool is_last_call);
