/*
 * The order of funcs by name, found once: whoever lays out siblings by name compares numbers.
 */
#ifndef PROF_TREE_NAME_ORDER_H
#define PROF_TREE_NAME_ORDER_H

#include "profile/profile.h"

/* The rank of each func (and of each that stands for a library, see func_of_resource()) among all by the bytes of its
 * name; equal names by index. The caller frees them. Linear in the letters that tell names apart, and n log n. */
int name_ranks(const struct profile *profile, uint32_t **ranks, struct error *err);

#endif
