/*
 * Frames of kernel code outside the kernel's image and modules.
 */
#pragma once

#include "assemble/frame_builder.h"

/* Reads /proc/kallsyms if some address needs it. */
int kernel_frames_open(struct frame_builder *builder, struct symbolizer *symbolizer, struct error *err);

/* Return the profile's frame, or PROFILE_NONE if memory ran out. Generated code is code with a KSYMBOL record. */
uint32_t kernel_frames_add_unknown(struct frame_builder *builder, uint64_t address);
uint32_t kernel_frames_add_generated(struct frame_builder *builder, const struct spool_library *code);

/* Lists the unnamed addresses of kernel_frames_add_unknown(). False if memory ran out. */
bool kernel_frames_list_unnamed(struct frame_builder *builder);
