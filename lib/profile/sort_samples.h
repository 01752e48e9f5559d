/*
 * Sorts samples by time: all consumers of a profile bisect the times.
 */
#pragma once

#include "profile/profile.h"

bool samples_are_sorted(const double *times, size_t length);

/* Sorts the rows of a table by time (finite); rows of one time keep their order. Call it before rows have partners.
 * False if memory ran out. */
bool samples_sort(struct sample_table *samples);
