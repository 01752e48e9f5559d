/*
 * Findings as JSON: headline, parts and list, the same for scripts and the page.
 */
#pragma once

#include "base/json_write.h"
#include "tree/finding_list.h"

/* Writes the members of the open object. `most`: findings at most. `longest`: bytes of a name at most; a sentence has
 * at most eight times as many. */
void write_findings(struct json_writer *json, const struct engine *engine, const struct findings *findings, size_t most,
                    size_t longest);
