/*
 * Merges the tables of each thread, which files before version 60 have, into the shared tables; equal rows become one.
 */
#pragma once

#include "profile/build_tables.h"
#include "profile/intern.h"

/* Adds the tables of a thread to the profile, and converts its sample stacks to shared stacks. `strings` are the
 * thread's strings; `index` is the thread's index, for errors. */
int build_merge_thread(struct build *build, struct interner *interner, struct raw_thread *raw, size_t index,
                       const struct column *strings);
