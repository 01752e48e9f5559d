/*
 * What `prof symbolicate` and `prof load` share: to look up the names of a profile that was read, and to say what was
 * found.
 */
#ifndef PROF_CMD_SYMBOLICATING_H
#define PROF_CMD_SYMBOLICATING_H

#include "symbol_options.h"

#include "profile/profile.h"

#include <stdbool.h>

/* Gives the profile the names that this machine has for it, and says, after `subject`, how many of its addresses have
 * one now, and which libraries stay without and why. `symbols`
 * is open and stays so; `no_cache`: see --no-cache. Returns 0, or 1 after a sentence about
 * what failed. */
int symbolicate_and_say(struct profile *profile, const char *subject, struct symbol_options *symbols, bool no_cache);

#endif
