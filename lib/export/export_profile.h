/*
 * Makes a profile of a query: its threads, the samples and markers of its range, and the stacks after its transforms
 * and its search.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/sink.h"
#include "export/export_view.h"

/* Writes the query's profile as processed JSON; if the query removes nothing, the original profile. */
int export_profile_json(const struct export_view *view, const struct byte_sink *sink, struct error *err);

/* Previews view->sanitize: a summary of kept and removed data. `memory` holds the texts of the summary. */
int export_preview(const struct export_view *view, struct arena *memory, struct sanitize_summary *summary,
                   struct error *err);
