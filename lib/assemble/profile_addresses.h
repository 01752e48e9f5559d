/*
 * The addresses that the frames of a saved profile lie at, and the libraries of this machine that they belong to: ready
 * for the symbolizer.
 */
#ifndef PROF_ASSEMBLE_PROFILE_ADDRESSES_H
#define PROF_ASSEMBLE_PROFILE_ADDRESSES_H

#include "assemble/address_batches.h"
#include "profile/profile.h"
#include "symbol/named_library.h"

struct profile_addresses {
    struct identified_library *libraries; /* by row of the profile's libs */
    struct error *problems;               /* of those that could not be identified; else empty */
    struct address_batches batches;       /* `lib` is a row of libs, `asker` one of the frames */
};

/* A library of a saved profile, as a search for its file wants it. The strings belong to the profile. */
struct named_library saved_library(const struct profile *profile, uint32_t lib);

/* `frames` are those of the profile, which must outlive the result. Fails only when memory runs out. To be destroyed in
 * any case. */
int profile_addresses_make(struct profile_addresses *addresses, const struct profile *profile,
                           const struct frame_table *frames, struct error *err);

void profile_addresses_destroy(struct profile_addresses *addresses);

#endif
