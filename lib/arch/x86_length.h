/* Finds the length of x86 instructions that the disassembler does not know. */
#pragma once

#include "base/standard.h"

/* Returns the length in bytes of the instruction at `code` if it is in an extensible opcode map (0F, 0F 38, 0F 3A, VEX,
 * EVEX); otherwise, or if `size` is too short, returns 0. */
size_t x86_find_length(const unsigned char *code, size_t size, bool is_64);
