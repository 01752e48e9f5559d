/*
 * Writes the tables of a profile. write.c calls the functions in order; each writes one value.
 */
#pragma once

#include "base/json_write.h"
#include "profile/profile.h"
#include "profile/write_strings.h"

/* `is_piece`: the rows are part of a larger table, and stacks name their callers by the rows of the whole table. */
void write_shared(struct json_writer *json, const struct profile *profile, const struct string_map *strings,
                  bool is_piece);
void write_markers(struct json_writer *json, const struct marker_table *markers, const struct profile *profile,
                   const struct string_map *strings);
void write_allocations(struct json_writer *json, const struct thread *thread); /* writes nothing if it has none */
void write_counters(struct json_writer *json, const struct profile *profile);
