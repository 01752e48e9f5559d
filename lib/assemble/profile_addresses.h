/*
 * Collects the addresses of a saved profile's frames, and identifies their libraries on this machine, ready for the
 * symbolizer.
 */
#pragma once

#include "assemble/address_batches.h"
#include "profile/profile.h"
#include "symbol/named_library.h"

struct profile_addresses {
    struct identified_library *libraries; /* by row of the profile's libs */
    struct error *problems;               /* missing-symbols reason of each library, or empty */
    struct address_batches batches;       /* `lib` is a row of libs, and `requester` is a row of the frames */
};

/* A library of a saved profile, described for the search for its file. The profile owns the strings. */
struct named_library get_saved_library(const struct profile *profile, uint32_t lib);

/* `frames` belong to the profile, which must outlive the result. Fails only when memory runs out. Destroy the result
 * also after a failure. */
int profile_addresses_make(struct profile_addresses *addresses, const struct profile *profile,
                           const struct frame_table *frames, struct error *err);

void profile_addresses_destroy(struct profile_addresses *addresses);
