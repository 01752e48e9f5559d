/*
 * Sorts samples by time, because consumers of a profile use binary search on the times.
 */
#pragma once

#include "profile/profile.h"

bool samples_are_sorted(const double *times, size_t length);

/* Sorts the rows of a table by time (finite); rows with equal times keep their order. Call this function before
 * matching allocations and deallocations, which refer to rows. False if memory ran out. */
bool samples_sort(struct sample_table *samples);
