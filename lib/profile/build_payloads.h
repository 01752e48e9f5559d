/*
 * Marker payloads name strings and stacks by index. Before versions 56 and 60 these are indexes into the tables of a
 * thread; some files also have equal strings in one table. Such payloads are rewritten with the indexes of the
 * profile's tables.
 */
#pragma once

#include "profile/build_tables.h"

/* Adds the strings that payloads name, so that they all keep their indexes. Call it before any payload is built. */
int build_payload_strings(struct build *build);

/* The string (of the profile) of the payload of a thread's marker; PROFILE_NONE stays what it is. */
int build_payload(struct build *build, const struct raw_thread *thread, uint32_t *data);

void build_payloads_end(struct build *build);
