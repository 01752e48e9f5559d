/*
 * The marker schemas of a file, in the form of the version that is written (PROFILE_VERSION).
 */
#pragma once

#include "profile/build_tables.h"

/* Replaces the file's markerSchema by the same schemas in today's form. An empty list, and what is no list, becomes
 * PROFILE_NONE. Call it before the strings are built. A negative errno value if memory ran out. */
int build_schemas(struct build *build);
