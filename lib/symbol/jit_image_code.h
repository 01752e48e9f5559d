/*
 * The JIT-compiled functions of an image of JIT code (jit_image.h).
 */
#pragma once

#include "base/standard.h"

/* A source line, from this offset in the code to the offset of the next line. */
struct jit_image_line {
    uint32_t offset, line, column; /* 1-based, or 0 if unknown */
    const char *file;              /* NULL if unknown */
};

struct jit_image_code {
    uint64_t start, size;               /* address of the code in memory, and size in bytes */
    const char *name;                   /* name of the function */
    const unsigned char *bytes;         /* machine code of the function */
    const char *file;                   /* source file of the function, or NULL if unknown */
    const struct jit_image_line *lines; /* ascending */
    size_t line_count;
    uint64_t
        rva; /* address of the code in the image, set by jit_image_assign_addresses(), or JIT_IMAGE_NONE for no room */
};
