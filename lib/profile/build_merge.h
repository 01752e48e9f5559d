/*
 * Merges the tables of each thread, which files before version 60 have, into the shared ones; equal rows become one.
 */
#pragma once

#include "profile/build_tables.h"
#include "profile/intern.h"

/* Adds the tables of a thread to the profile, and turns its sample stacks into shared ones. `strings`: the thread's
 * strings; `index`: the thread's index, for errors. */
int build_merge_thread(struct build *build, struct interner *interner, struct raw_thread *raw, size_t index,
                       const struct column *strings);
