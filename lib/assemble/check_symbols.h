/*
 * Compares prof's DWARF reader with libdw (symbol/libdw_reader.h): symbolizes all addresses of a profile with both, and
 * reports every difference.
 */
#pragma once

#include "profile/profile.h"
#include "symbol/symbol.h"

/* A difference in a frame, or in the number of frames. The texts are valid only during the callback. */
struct symbol_difference {
    const char *library;
    uint64_t rva;
    const char *property; /* "function", "file", "line", "column", "number of frames" */
    size_t depth;         /* depth of the frame: 0 is the innermost */
    const char *own, *libdw;
};

struct symbol_check {
    uint64_t addresses; /* distinct addresses of the profile */
    uint64_t compared;  /* addresses with frames from at least one reader */
    uint64_t declined;  /* addresses in units that prof's reader declines, so that only libdw answers */
    uint64_t differing;
};

struct symbol_check_listener {
    void (*differs)(void *context, const struct symbol_difference *difference);
    void (*skipped)(void *context, const char *library,
                    const char *why); /* callback for each library that is not compared */
    void *context;
};

/* `search`: directories of debug files; may be NULL. Skips libraries that prof's reader finds damaged: libdw must not
 * read them. Fails only when memory runs out. */
int profile_check_symbols(const struct profile *profile, const struct debug_search *search,
                          const struct symbol_check_listener *listener, struct symbol_check *check, struct error *err);
