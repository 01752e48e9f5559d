/*
 * Statistics of intervals as JSON, for the page and `prof report --intervals --json`.
 */
#pragma once

#include "base/json_write.h"
#include "tree/engine.h"
#include "tree/interval_stats.h"

/* Writes an array with an object for each name. `engine` has the profile of the list. */
void interval_list_write(struct json_writer *json, const struct engine *engine, const struct interval_list *list);
