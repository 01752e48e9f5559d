/*
 * Checks whether a JSON object is a profile, and its version.
 */
#pragma once

#include "base/error.h"
#include "profile/raw.h"

/* Sets the version of the profile's meta. If prof cannot read the file, returns -EINVAL with a sentence that describes
 * the file. */
int raw_profile_check(struct raw_profile *raw, struct error *err);
