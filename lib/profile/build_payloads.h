/*
 * Marker payloads refer to strings and stacks by index. Before version 56 the string indexes, and before version 60 the
 * stack indexes, belong to tables of a thread; some files also repeat equal strings in one table. This module rewrites
 * such payloads with the indexes of the profile's tables.
 */
#pragma once

#include "profile/build_tables.h"

/* Adds the strings that payloads refer to, so their indexes stay valid. Call this function before building any
 * payload. */
int build_payload_strings(struct build *build);

/* Replaces the payload of a thread's marker by a string of the profile; PROFILE_NONE stays unchanged. */
int build_payload(struct build *build, const struct raw_thread *thread, uint32_t *data);

void build_payloads_end(struct build *build);
