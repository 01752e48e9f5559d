/*
 * The payloads of markers of a profile that is appended to another: marker payloads are JSON that refers to strings and
 * stacks by index.
 */
#pragma once

#include "profile/profile.h"

/* Maps indexes of the appended profile. */
struct payload_numbers {
    uint32_t (*string)(void *context, uint32_t string); /* PROFILE_NONE: no such string */
    void *context;
    uint32_t first_stack; /* index of the appended profile's first stack */
};

/* Rewrites the payloads of `from` as strings of `into` that refer to strings and stacks of `into`, and adds the
 * marker schemas of `from` to `into`. */
int payloads_merge(struct profile *into, struct profile *from, const struct payload_numbers *numbers,
                   struct error *err);
