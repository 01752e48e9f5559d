/*
 * The libraries of a saved profile, as those who look for their files know them.
 */
#ifndef PROF_ASSEMBLE_SAVED_LIBRARY_H
#define PROF_ASSEMBLE_SAVED_LIBRARY_H

#include "profile/profile.h"
#include "symbol/named_library.h"

/* Its texts are the profile's. */
static inline struct named_library saved_library(const struct profile *profile, uint32_t lib)
{
    const struct library *row = &profile->libs.data[lib];
    return (struct named_library){.debug_name = profile_text(profile, row->debug_name),
                                  .breakpad_id = profile_text(profile, row->breakpad_id),
                                  .code_id = profile_text(profile, row->code_id),
                                  .path = profile_text(profile, row->path)};
}

#endif
