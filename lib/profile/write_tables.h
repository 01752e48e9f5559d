/*
 * Writes the tables of a profile. write.c calls the functions in order; each writes one value.
 */
#pragma once

#include "base/json_write.h"
#include "profile/profile.h"
#include "profile/write_strings.h"

/* With `is_piece`, the rows are part of a larger table, and callers of stacks are rows of the whole table. */
void write_shared(struct json_writer *json, const struct profile *profile, const struct string_map *strings,
                  bool is_piece);
void write_markers(struct json_writer *json, const struct marker_table *markers, const struct profile *profile,
                   const struct string_map *strings);
void write_allocations(struct json_writer *json, const struct thread *thread); /* writes nothing without allocations */
void write_counters(struct json_writer *json, const struct profile *profile);
