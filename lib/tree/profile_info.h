/*
 * The metadata of a profile, as label and text, for the head of `prof report` and the info panel of the page.
 */
#pragma once

#include "base/arena.h"
#include "profile/profile.h"

struct metadata_entry {
    const char *label, *value; /* label and text, in the arena or literals */
};

ARRAY_TYPE(struct metadata, struct metadata_entry);

/* Lists the known entries in display order: command, system, CPU, cores, memory ... */
int list_profile_metadata(struct metadata *metadata, struct arena *arena, const struct profile *profile,
                          struct error *err);

/* Lists the entries of one section of meta.extra, formatted by their marker format (bytes, duration, percentage
 * ...). */
int list_section_metadata(struct metadata *metadata, struct arena *arena, const struct profile *profile,
                          const struct extra_section *section, struct error *err);

/* Lists the entries of all sections of meta.extra. */
int list_recording_metadata(struct metadata *metadata, struct arena *arena, const struct profile *profile,
                            struct error *err);

/* Returns the value of the first entry with one of these labels (NULL-terminated), or NULL. Older versions of prof
 * wrote other labels. */
const char *find_metadata(const struct metadata *metadata, const char *const *labels);

/* Parses the number at the start of a value: "1,234" or "3 (0.1 %)". 0 for NULL. */
double parse_metadata_number(const char *value);

/* Whether prof recorded the profile with ptrace. False if memory ran out. */
bool is_recorded_with_ptrace(const struct profile *profile);

/* Stores the number of samples that the recorder lost. */
int count_lost_samples(const struct profile *profile, double *lost, struct error *err);

struct address_counts {
    size_t all, resolved;
};

/* Counts the library addresses in the profile's frames, and the addresses with a symbol. The name of a function without
 * a symbol is its address: "0x1f0". */
struct address_counts count_symbolized_addresses(const struct profile *profile);

/* Returns the share (0 to 1) of the CPU time of all threads in functions without a symbol, of time without one where
 * the profile has no CPU time. Linear in the samples. */
double compute_unnamed_share(const struct profile *profile);
