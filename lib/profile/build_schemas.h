/*
 * Converts the marker schemas of a file to the written version (PROFILE_VERSION).
 */
#pragma once

#include "profile/build_tables.h"

/* Converts the file's markerSchema to the current form. An empty list, or a value that is no list, becomes
 * PROFILE_NONE. Call this function before building the strings. Returns a negative errno value if memory runs out. */
int build_schemas(struct build *build);
