/*
 * The order of funcs by name, computed once. Code that lays out siblings by name then compares numbers.
 */
#pragma once

#include "profile/profile.h"

/* Returns the rank of each func (including funcs that stand for a library, see get_resource_func()) by the bytes of its
 * name. Equal names rank by index. The caller frees the ranks. Takes time linear in the letters that distinguish names,
 * plus n log n. */
int rank_funcs_by_name(const struct profile *profile, uint32_t **ranks, struct error *err);
