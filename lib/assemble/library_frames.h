/*
 * Frames of addresses in libraries: makes the batches for the symbolizer, and adds the rows of its answers.
 */
#pragma once

#include "assemble/address_batches.h"
#include "assemble/frame_builder.h"
#include "process/open_files.h"

/* The libraries of a recording, for the symbolizer. */
struct recorded_libs {
    const struct replay *replay;
    struct symbol_origin *origins; /* per library */
};

/* Whether the frame is in a library that the symbolizer knows. */
bool library_frames_has(const struct replay *replay, const struct replay_frame *frame);

/* Describes a library of a struct recorded_libs (`context`). */
struct symbol_lib library_frames_describe_lib(const void *context, uint32_t lib);

/* Adds the addresses of the replay's frames, starting at `first`, to batches. Allocates libs->origins, which the caller
 * frees. False if memory ran out. */
bool library_frames_add_to_batches(struct address_batches *batches, struct recorded_libs *libs,
                                   const struct open_files *files, size_t first);

/* Adds rows for the symbolizer's answers to batch `index`. False if memory ran out. */
bool library_frames_add(struct frame_builder *builder, const struct address_batches *batches, size_t index);
