/*
 * The names of waits: of reasons, objects and wakers, and names that are equal in several recordings of a program.
 */
#pragma once

#include "tree/engine.h"
#include "tree/wait_groups.h"

/* Returns the name of a subcategory of "Idle", or "Not recorded" for PROFILE_NONE. */
const char *get_wait_reason_name(const struct engine *engine, uint32_t reason);

/* Whether the name of a reason is in a list, which ends with NULL. */
bool is_wait_reason_in(const struct engine *engine, uint32_t reason, const char *const *names);

/* Returns the name of the object of the longest wait of a group. */
const char *get_wait_object_name(const struct engine *engine, const struct wait_group *group);

/* Returns the name of the waker of the longest wait of a group. */
const char *get_wait_waker_name(const struct engine *engine, const struct wait_group *group);

/* Copies a name without the parts that differ between the runs of a program: numbers of pipes and sockets, addresses of
 * locks, tids, and ports that the kernel chose. "read pipe:[77]" becomes "read pipe", "mutex 0x7f12" becomes "mutex",
 * "thread reader (501)" becomes "thread reader". `size`: bytes of `out`, at least 1; a longer name is cut off. */
void strip_wait_name(const char *name, char *out, size_t size);
