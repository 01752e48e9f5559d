/*
 * Names of locks. A lock in a variable of a program or library gets the name of the variable: "lock cache" instead of
 * "lock 0x55d0c8a01040".
 */
#pragma once

#include "profile/profile.h"
#include "symbol/symbol.h"

struct recorded_libs;

struct lock_names {
    size_t first;    /* first frame with an element in `names` */
    uint32_t *names; /* for each frame of the replay, string of the profile, or STRING_NONE. NULL: no lock has a name */
};

/* Finds the names of the locks of new frames (`first` and later). Opens no file if the recording has no locks in
 * variables. The caller zeroes `names`, and calls lock_names_destroy() also after a failure. */
int lock_names_find(struct lock_names *names, const struct recorded_libs *libs, struct symbolizer *symbolizer,
                    struct profile *profile, size_t first, struct error *err);

/* Returns a text such as "lock cache+8", for a member at byte 8 of the variable, or "lock cache in libx.so". NULL: the
 * lock has no name. */
const char *lock_names_get(const struct lock_names *names, const struct profile *profile, size_t frame);

void lock_names_destroy(struct lock_names *names);
