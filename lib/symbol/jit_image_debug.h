/*
 * The debug info of an image of JIT code (jit_image.c): a unit, a subprogram and a line program for each code.
 */
#pragma once

#include "base/text_buffer.h"
#include "symbol/jit_image_code.h"

enum { JIT_IMAGE_ABBREVIATIONS_SIZE = 25 };

/* .debug_abbrev, the same in all images. */
extern const unsigned char jit_image_abbreviations[JIT_IMAGE_ABBREVIATIONS_SIZE];

/* Starts zeroed. */
struct jit_image_debug {
    struct text_buffer info, lines; /* .debug_info, .debug_line */
};

/* Adds a placed code. Returns false if memory ran out. */
bool jit_image_debug_add(struct jit_image_debug *debug, const struct jit_image_code *code);

void jit_image_debug_destroy(struct jit_image_debug *debug);
