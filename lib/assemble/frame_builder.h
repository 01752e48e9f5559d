/*
 * Builds the rows of a profile for all kinds of frames (symbolize_frames.c).
 */
#pragma once

#include "assemble/jit_code.h"
#include "assemble/replay_state.h"
#include "assemble/process_perf_map.h"
#include "assemble/symbolization.h"

struct kallsyms;
struct lock_names;

/* The categories of a recording, in the page's order. */
enum { CATEGORY_OTHER, CATEGORY_USER, CATEGORY_LIBRARY, CATEGORY_JIT, CATEGORY_KERNEL, CATEGORY_IDLE, CATEGORY_COUNT };

struct frame_builder {
    struct symbolization *symbolization;
    const struct replay *replay;
    struct profile *profile;
    struct interner *interner;
    struct perf_map_names perf_map_names;
    struct jit_code_places jit_code;
    const struct lock_names *lock_names;
    const struct kallsyms *kallsyms; /* if NULL, kallsyms has no symbols for these addresses */
    uint64_t kernel_unnamed;         /* distinct addresses in the kernel */
    uint64_t kernel_samples;         /* samples in these addresses */
    size_t first;                    /* the first frame of the replay without rows in the profile */
};

/* Returns the index of a string of the profile, or STRING_NONE if memory ran out. */
uint32_t frame_builder_add_text(struct frame_builder *builder, const char *text);

/* Return the profile's frame of a func without an address, or PROFILE_NONE if memory ran out. A frame of
 * frame_builder_add_plain_frame() has no subcategory. `resource`: PROFILE_NONE for a placeholder frame, and for an
 * address outside libraries. */
uint32_t frame_builder_add_frame(struct frame_builder *builder, const char *name, uint32_t resource, uint32_t category,
                                 uint32_t subcategory);
uint32_t frame_builder_add_plain_frame(struct frame_builder *builder, const char *name, uint32_t resource,
                                       uint32_t category);

/* Adds the categories, and if the recording has waits, their category with a subcategory per reason. False if memory
 * ran out. */
bool frame_builder_add_categories(struct frame_builder *builder);

/* Add a missing-symbols reason of a library, each reason once. frame_builder_add_missing() merges the reason with the
 * reasons of earlier frames. False if memory ran out. */
bool frame_builder_add_problem(struct frame_builder *builder, const char *library, const char *reason);
bool frame_builder_add_missing(struct frame_builder *builder, const struct missing_symbols *missing);
