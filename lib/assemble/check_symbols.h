/*
 * The two readers of DWARF against each other: looks up all addresses of a profile with our own reader and with libdw
 * (symbol/libdw_reader.h), and tells every difference.
 */
#ifndef PROF_ASSEMBLE_CHECK_SYMBOLS_H
#define PROF_ASSEMBLE_CHECK_SYMBOLS_H

#include "profile/profile.h"
#include "symbol/symbol.h"

/* Two readers disagree on a frame, or on the number of frames. Texts are valid during the call. */
struct symbol_difference {
    const char *library;
    uint64_t rva;
    const char *what; /* "function", "file", "line", "column", "number of frames" */
    size_t depth;     /* of the frame: 0 is the innermost */
    const char *own, *libdw;
};

struct symbol_check {
    uint64_t addresses; /* of the profile, distinct */
    uint64_t compared;  /* of these: have frames from both readers, or from one alone */
    uint64_t declined;  /* our reader declines their units, so that libdw answers alone */
    uint64_t differing;
};

struct symbol_check_listener {
    void (*differs)(void *context, const struct symbol_difference *difference);
    void (*skipped)(void *context, const char *library, const char *why); /* a library that was not compared */
    void *context;
};

/* `search` is NULL or where debug files are. What our reader calls damaged is not given to libdw, and skipped. Fails
 * only when memory runs out. */
int profile_check_symbols(const struct profile *profile, const struct debug_search *search,
                          const struct symbol_check_listener *listener, struct symbol_check *check, struct error *err);

#endif
