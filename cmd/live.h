/*
 * `prof record --live`: a page that follows the recording.
 *
 * A child process of low priority reads the spool while the recorder writes it, extends a profile of it
 * (assemble/live_assembly.h) and serves the profile. It notifies the page of each addition, and the page fetches it.
 * The process shares only the file with the recorder: a slow or closed page costs the recorder nothing. Without a page,
 * it reads nothing. It waits at least a second between two steps, and at least LIVE_REST times the CPU time of the last
 * one.
 *
 * For a flight recorder, whose oldest samples disappear, each step makes the whole profile.
 *
 * The page holds all samples in memory. If they exceed LIVE_MOST_SAMPLES, it gets the newest ones at the end.
 *
 * Threads: the recording thread.
 */
#pragma once

#include "base/error.h"
#include "cmd/serving.h"

#include <stdbool.h>

struct live_view;

/* Starts the process, before the recording, with the signals of record_signals() blocked. `spool`: of the recording,
 * which `drops_samples` if it is a flight recorder. */
int live_view_start(struct live_view **out, const char *spool, bool drops_samples,
                    const struct serving_options *options, struct symbol_options *symbols, struct error *err);

/* Has the page show the saved profile, and waits for SIGINT, SIGTERM or SIGHUP. False if there is no page to show it:
 * the process has ended. */
bool live_view_show_saved(struct live_view *live, const char *profile_path);

/* Ends the process and frees. NULL is allowed. */
void live_view_end(struct live_view *live);
