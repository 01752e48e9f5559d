/*
 * Shared by `prof symbolicate` and `prof load`: symbolicates a loaded profile, and reports the result.
 */
#pragma once

#include "cmd/common/symbol_options.h"

#include "profile/profile.h"

/* Symbolicates the profile with the files on this machine. Prints `subject`, the number of addresses with symbols, and
 * the libraries without symbols with the reason. The caller opens and closes `symbols`. `no_cache` has the meaning of
 * --no-cache. Returns 0, or 1 after a message. */
int symbolicate_and_report(struct profile *profile, const char *subject, struct symbol_options *symbols, bool no_cache);
