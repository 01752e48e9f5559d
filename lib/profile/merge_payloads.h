/*
 * The payloads of markers of a profile that is appended to another: JSON that names strings and stacks by number.
 */
#pragma once

#include "profile/profile.h"

/* What numbers of the appended profile become. */
struct payload_numbers {
    uint32_t (*string)(void *context, uint32_t string); /* PROFILE_NONE: there is no such string */
    void *context;
    uint32_t first_stack; /* that of the first one */
};

/* Makes the payloads of `from` strings of `into` that name strings and stacks of `into`, and adds the schemas of its
 * markers to those of `into`. */
int payloads_merge(struct profile *into, struct profile *from, const struct payload_numbers *numbers,
                   struct error *err);
