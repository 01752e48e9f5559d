/*
 * Sorts samples by time: all consumers of a profile bisect the times.
 */
#pragma once

#include "profile/profile.h"

bool samples_are_sorted(const double *times, size_t length);

/* Puts the rows of a table in the order of their times (finite); rows of one time stay as they are. Partners of rows
 * are not there yet. False if memory ran out. */
bool samples_sort(struct sample_table *samples);
