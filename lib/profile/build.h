/*
 * From the tables of a file to a profile: see build.c.
 */
#ifndef PROF_PROFILE_BUILD_H
#define PROF_PROFILE_BUILD_H

#include "profile/raw.h"

/* Takes columns out of `raw`, converts what older versions have differently, and checks the result. `out` is zeroed by
 * the caller, who owns it if this succeeds; it is empty if not. */
int profile_build(struct raw_profile *raw, struct profile *out, struct error *err);

#endif
