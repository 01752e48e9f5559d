/*
 * `prof record --live`: a page that follows the recording.
 *
 * A child process of low priority reads the spool while the recorder writes it, extends a profile of it
 * (assemble/live_assembly.h) and serves the profile. The child process notifies the page of new samples, and the page
 * fetches them. The process shares only the file with the recorder: a slow or closed page costs the recorder nothing.
 * While no page is open, the child process reads nothing. Between two steps, the process waits at least a second, and
 * at least LIVE_REST times the CPU time of the last step.
 *
 * For a flight recorder, whose oldest samples disappear, each step makes the whole profile.
 *
 * The page holds all samples in memory. Above LIVE_MOST_SAMPLES, the page gets the newest samples only when the
 * recording ends.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "cmd/common/companion.h"
#include "cmd/serving.h"

/* Starts the process, before the recording, with the signals of list_recorder_signals() blocked. `spool`: path of the
 * recording's spool file. `drops_samples`: the recording is a flight recorder. */
int live_view_start(struct companion **out, const char *spool, bool drops_samples,
                    const struct serving_options *options, struct symbol_options *symbols, struct error *err);

/* Shows the saved profile in the page, and waits for SIGINT, SIGTERM or SIGHUP. Returns false if the live process has
 * ended, so no page can show the profile. */
bool live_view_show_saved(struct companion *live, const char *profile_path);
