/*
 * Frames of JIT code: with symbols from perf maps or jitdump files, and without a symbol.
 */
#pragma once

#include "assemble/frame_builder.h"

/* Return the profile's frame, or PROFILE_NONE if memory ran out. `index`: frame of the replay. */
uint32_t jit_frames_add_anonymous(struct frame_builder *builder, size_t index);
uint32_t jit_frames_add_dumped(struct frame_builder *builder, const struct replay_frame *from);

/* List incomplete or unreadable jitdump files, and perf maps that prof does not use, or uses only in part. False if
 * memory ran out. */
bool jit_frames_list_dump_problems(struct frame_builder *builder);
bool jit_frames_list_map_problems(struct frame_builder *builder);
