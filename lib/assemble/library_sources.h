/*
 * Which source files belong to native code, as debug info names them: the others are those of scripts and JIT code.
 */
#pragma once

#include "profile/profile.h"

/* Sets the elements of `is_in_library`, one for each source, of the files of the frames from `first_frame` on. */
void library_sources_mark(const struct profile *profile, size_t first_frame, bool *is_in_library);
