/*
 * Shared by `prof symbolicate` and `prof load`: symbolicates a loaded profile, and reports the result.
 */
#pragma once

#include "cmd/common/symbol_options.h"

#include "profile/profile.h"

#include <stdbool.h>

/* Symbolicates the profile on this machine, and prints, after `subject`, how many of its addresses have names, and
 * which libraries lack names and why. `symbols` is open and stays open; `no_cache`: see --no-cache. Returns 0, or 1
 * after a message. */
int symbolicate_and_report(struct profile *profile, const char *subject, struct symbol_options *symbols, bool no_cache);
