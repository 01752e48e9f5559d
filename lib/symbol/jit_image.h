/*
 * An ELF file with the machine code of JIT-compiled functions. JIT code is in no file, and the jitdump file may be gone
 * when a user views the code. Every tool that shows the code of libraries (disassemble.h, objdump, gdb) reads this
 * file.
 *
 * Each function has a section, a symbol and a unit of debug info (DWARF 4) with its lines. Functions that were in
 * memory at the same time keep their distances, so that relative calls between them lead to the right function.
 * Functions that were at the same address one after the other are in separate layers of the file, at different
 * addresses.
 */
#pragma once

#include "base/error.h"
#include "base/text_buffer.h"
#include "symbol/jit_image_code.h"

#define JIT_IMAGE_NONE UINT64_MAX

/* The most codes in one file, and the first address after them. Addresses of a profile have 31 bits. */
enum { JIT_IMAGE_CODES_MAX = 16384, JIT_IMAGE_ID_SIZE = 20 };
#define JIT_IMAGE_END (UINT64_C(1) << 31)

/* Chooses the addresses of the codes. -ENOMEM. */
int jit_image_assign_addresses(struct jit_image_code *codes, size_t count, struct error *err);

/* Appends the file to `out`, with the placed codes, at most JIT_IMAGE_CODES_MAX. `machine` is a machine of <elf.h>,
 * such as EM_X86_64. Sets the build id, which is a hash of the file. Returns -ENOMEM on failure. */
int jit_image_write(struct text_buffer *out, const struct jit_image_code *codes, size_t count, uint16_t machine,
                    unsigned char build_id[JIT_IMAGE_ID_SIZE], struct error *err);
