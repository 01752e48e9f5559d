/*
 * What a profile says about itself, as label and text: for the head of `prof report` and the info panel of the page.
 */
#pragma once

#include "base/arena.h"
#include "profile/profile.h"

struct metadata_entry {
    const char *label, *value; /* owned by the arena, or literals */
};

ARRAY_TYPE(struct metadata, struct metadata_entry);

/* The entries that are known, in the order in which they are shown: command, system, CPU, cores, memory ... */
int metadata_of_profile(struct metadata *metadata, struct arena *arena, const struct profile *profile,
                        struct error *err);

/* The entries of one section of meta.extra, each written as its marker format asks (bytes, duration, percentage ...).
 */
int metadata_of_section(struct metadata *metadata, struct arena *arena, const struct profile *profile,
                        const struct extra_section *section, struct error *err);

struct address_counts {
    size_t all, resolved;
};

/* Addresses in libraries that frames of the profile stand for, and those of them whose function has a name. A recorder
 * that found none names the function after its address: "0x1f0". */
struct address_counts address_counts_of_profile(const struct profile *profile);
