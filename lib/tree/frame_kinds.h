/*
 * What kind of code a frame is, by its function: the flag that it is JavaScript, else the library that it is in, else
 * its name. What categories a profile has, and what they are called, does not matter.
 */
#pragma once

#include "profile/profile.h"

enum frame_kind {
    FRAME_OTHER = 1,  /* no code: "(truncated)", a label */
    FRAME_NATIVE = 2, /* in a library or program */
    FRAME_KERNEL = 4, /* in the kernel or a module of it */
    FRAME_JIT = 8,    /* in no library: made by a JIT compiler, or unknown */
    FRAME_JS = 16,
};

/* Of a func, or of one that stands for a whole library. */
enum frame_kind frame_kind_of(const struct profile *profile, uint32_t func);

/* Those that any func has. */
unsigned frame_kinds_of_profile(const struct profile *profile);
