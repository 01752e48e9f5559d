/*
 * The first answers of a profile: one headline, the parts of the run's time, and findings, each one sentence about a
 * cause of the length of the run. `prof report` and the page show the same sentences. A finding that the data do not
 * prove is not written. Findings cover the engine's query.
 */
#pragma once

#include "tree/finding_list.h"

/* Fills the zeroed struct. Linear in the samples, plus n log n for n functions. Call findings_destroy() also after a
 * failure. The findings of a comparison are empty. */
int findings_find_all(struct findings *findings, struct engine *engine, struct error *err);

/* Like findings_find_all(), for the threads and the range of the query alone, with the default weight of the profile.
 */
int findings_find_of_threads(struct findings *findings, const struct engine *engine, struct error *err);
