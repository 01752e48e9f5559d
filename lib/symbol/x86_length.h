/* How long an x86 instruction is that the disassembler does not know. */
#ifndef PROF_SYMBOL_X86_LENGTH_H
#define PROF_SYMBOL_X86_LENGTH_H

#include <stdbool.h>
#include <stddef.h>

/* The length in bytes of the instruction at `code` if it belongs to the opcode maps that processors are extended with
 * (0F, 0F 38, 0F 3A, VEX, EVEX); 0 if it does not, or if `size` bytes are too few for it. */
size_t x86_length(const unsigned char *code, size_t size, bool is_64);

#endif
