/*
 * Makes a profile of a query: its threads, the samples and markers of its range, and the stacks after its transforms
 * and its search.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/sink.h"
#include "export/export_view.h"

/* Writes it as processed JSON; if the query removes nothing, the original profile. */
int export_profile_json(const struct export_view *view, const struct byte_sink *sink, struct error *err);

/* Previews view->sanitize: what the export keeps and removes. The texts of the summary are in `memory`. */
int export_preview(const struct export_view *view, struct arena *memory, struct sanitize_summary *summary,
                   struct error *err);
