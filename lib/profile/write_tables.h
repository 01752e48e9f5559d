/*
 * The parts of a profile file that come from memory as they are. write.c puts them in order; each of these writes one
 * value.
 */
#ifndef PROF_PROFILE_WRITE_TABLES_H
#define PROF_PROFILE_WRITE_TABLES_H

#include "base/json_write.h"
#include "profile/profile.h"

/* Which of the profile's strings the file's tables use, and as what number: a profile also holds texts that are written
 * in place (names of threads and libraries, marker payloads), which would only make the table bigger. */
struct string_map {
    uint32_t *number; /* string -> its index in the file, PROFILE_NONE: not in the file's table */
    uint32_t count;
};

/* False if memory ran out. */
bool string_map_init(struct string_map *map, const struct profile *profile);
void string_map_destroy(struct string_map *map);

void write_meta(struct json_writer *json, const struct profile *profile);
void write_libs(struct json_writer *json, const struct profile *profile);
void write_shared(struct json_writer *json, const struct profile *profile, const struct string_map *strings);
void write_markers(struct json_writer *json, const struct marker_table *markers, const struct profile *profile,
                   const struct string_map *strings);
void write_counters(struct json_writer *json, const struct profile *profile);

/* A string of the profile as text; null for PROFILE_NONE. */
void write_string(struct json_writer *json, const struct profile *profile, uint32_t string);

#endif
