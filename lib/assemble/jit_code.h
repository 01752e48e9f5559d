/*
 * Saves the machine code of sampled JIT functions from jitdump files. The code of one file becomes an image
 * (jit_image.h) in the cache directory, and a library of the profile.
 */
#pragma once

#include "assemble/replay_state.h"
#include "base/hash.h"
#include "profile/intern.h"

/* A JIT function in the profile. */
struct jit_code_place {
    uint64_t rva;                /* offset of the function's first byte in the image */
    uint32_t lib, native_symbol; /* rows of the profile */
};

/* Starts zeroed. */
struct jit_code_places {
    ARRAY(struct jit_code_place) places;
    struct hash by_code; /* process and code -> index in `places` */
};

/* Writes the images, and adds their libraries and native symbols to the profile. `directory`: the cache directory,
 * or NULL (saves no code). Unreadable or unsaved code has no place. Call jit_code_places_destroy() also after a
 * failure. Fails only when memory runs out. */
int jit_code_places_make(struct jit_code_places *places, const struct replay *replay, const char *directory,
                         struct interner *interner, struct error *err);

/* Returns the place of a frame with REPLAY_LIB_DUMPED, or NULL for none. */
const struct jit_code_place *jit_code_places_find(const struct jit_code_places *places,
                                                  const struct replay_frame *frame);

void jit_code_places_destroy(struct jit_code_places *places);
