/*
 * Writes the texts of a profile: in place, or as indexes into the file's string table.
 */
#pragma once

#include "base/json_write.h"
#include "profile/profile.h"

/* The strings that the file's tables use, with their numbers. Texts that are written in place (names of threads and
 * libraries, marker payloads) need no row in the file's string table. */
struct string_map {
    uint32_t *number; /* for each string, index in the file's table, or PROFILE_NONE (not in the table) */
    uint32_t count;
};

/* False if memory ran out. */
bool string_map_init(struct string_map *map, const struct profile *profile);
void string_map_destroy(struct string_map *map);

/* Writes a string of the profile as text; null for PROFILE_NONE. */
void write_string(struct json_writer *json, const struct profile *profile, uint32_t string);

/* Writes a key, and a string of the profile as its value. */
void write_string_member(struct json_writer *json, const char *key, const struct profile *profile, uint32_t string);

/* Writes a string of the profile that is already JSON text; null for PROFILE_NONE. */
void write_json_string(struct json_writer *json, const struct profile *profile, uint32_t string);
