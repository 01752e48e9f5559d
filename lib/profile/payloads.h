/*
 * Finds, from the marker schemas, the payload fields whose values are indexes into the string table.
 */
#pragma once

#include "base/hash.h"
#include "profile/profile.h"

/* Adds the key hash_mix(hash_payload_type(), hash_bytes(name)) of each string field to `fields`. */
int list_string_fields(struct hash *fields, const struct profile *profile, struct error *err);

/* Returns the hash of the payload's type, or 0 without a type. */
uint64_t hash_payload_type(const char *text, size_t length);
