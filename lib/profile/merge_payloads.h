/*
 * The payloads of markers of a profile that is appended to another: marker payloads are JSON that refers to strings and
 * stacks by index.
 */
#pragma once

#include "profile/payloads.h"

/* Rewrites the payloads of `from` as strings of `into` that refer to strings and stacks of `into`, and adds the
 * marker schemas of `from` to `into`. `indexes` has the callbacks and their context. */
int payloads_merge(struct profile *into, struct profile *from, const struct payload_rewriter *indexes,
                   struct error *err);
