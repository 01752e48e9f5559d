/*
 * Whether a JSON object that was read is a profile, and of which version.
 */
#pragma once

#include "base/error.h"
#include "profile/raw.h"

/* Sets the version of the profile's meta. -EINVAL with a sentence that says what the file is, if it is no profile that
 * prof reads. */
int raw_profile_check(struct raw_profile *raw, struct error *err);
