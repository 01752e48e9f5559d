/*
 * `prof record --live`: a page that follows the recording while it goes on.
 *
 * A process of its own, of low priority, reads the spool that the recorder writes, goes on with a profile of it
 * (assemble/live_assembly.h), and serves that; the page takes what was added as soon as it is told of it. It shares
 * nothing with the recorder but the file: a page that stalls, and one that is gone, cost the recorder nothing. While no
 * page follows, nothing is read. The next step is begun a second after the last one, or later: when LIVE_REST times the
 * CPU time of that has passed.
 *
 * Of a flight recorder the whole profile is made each time: its oldest samples go.
 *
 * The page has all samples in its memory: with more than LIVE_MOST_SAMPLES it has the last ones at the end.
 *
 * Threads: the one that records.
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
