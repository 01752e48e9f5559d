/*
 * Builds a profile from the tables of a file: see build.c.
 */
#pragma once

#include "profile/raw.h"

/* Moves columns out of `raw`, converts columns of older versions, and checks the result. The caller zeroes `out` and
 * owns it on success; on failure `out` is empty. */
int profile_build(struct raw_profile *raw, struct profile *out, struct error *err);
