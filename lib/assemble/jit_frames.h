/*
 * Frames of JIT code: of perf maps, of jitdump files, and without a symbol.
 */
#pragma once

#include "assemble/frame_builder.h"

/* Return the profile's frame; PROFILE_NONE if memory ran out. `index`: of the replay's frame. */
uint32_t jit_frames_anonymous(struct frame_builder *builder, size_t index);
uint32_t jit_frames_dumped(struct frame_builder *builder, const struct replay_frame *from);

/* List jitdump files that are incomplete or unreadable, and perf maps that are not used, or only in part. False if
 * memory ran out. */
bool jit_frames_tell_dumps(struct frame_builder *builder);
bool jit_frames_tell_maps(struct frame_builder *builder);
