/*
 * The order of funcs by name, computed once. Code that lays out siblings by name then compares numbers.
 */
#pragma once

#include "profile/profile.h"

/* The rank of each func (and of each that stands for a library, see func_of_resource()) among all by the bytes of its
 * name; equal names by index. The caller frees them. Linear in the letters that tell names apart, plus n log n. */
int name_ranks(const struct profile *profile, uint32_t **ranks, struct error *err);
