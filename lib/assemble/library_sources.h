/*
 * Finds the source files of native code, which debug info names. All other source files belong to scripts and JIT code.
 */
#pragma once

#include "profile/profile.h"

/* Sets is_in_library[source] for the files of frames of native code, starting at `first_frame`. */
void mark_library_sources(const struct profile *profile, size_t first_frame, bool *is_in_library);
