/*
 * Classifies the code of a frame by its function: by the JavaScript flag, else by the library, else by the name.
 * Ignores the profile's categories.
 */
#pragma once

#include "profile/profile.h"

enum frame_kind {
    FRAME_OTHER = 1,  /* no code: a placeholder such as "(truncated)", a label */
    FRAME_NATIVE = 2, /* in a library or program */
    FRAME_KERNEL = 4, /* in the kernel or a kernel module */
    FRAME_JIT = 8,    /* in no library: JIT code, or unknown */
    FRAME_JS = 16,
};

enum { FRAME_CODE = FRAME_NATIVE | FRAME_JIT | FRAME_JS }; /* kinds of code outside of the kernel */

/* Returns the kind of a func, or of a func that stands for a library. */
enum frame_kind get_frame_kind(const struct profile *profile, uint32_t func);

/* Returns the kinds of all funcs. */
unsigned get_frame_kinds(const struct profile *profile);
