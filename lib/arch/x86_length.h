/* Lengths of x86 instructions that the disassembler does not know. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The length in bytes of the instruction at `code` if it is in an extensible opcode map (0F, 0F 38, 0F 3A, VEX, EVEX);
 * 0 if it is not, or if `size` bytes are too few. */
size_t x86_length(const unsigned char *code, size_t size, bool is_64);
