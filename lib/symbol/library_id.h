/*
 * The two ids under which symbol servers know a library: the GNU build id in hex ("code id"), and Breakpad's form of it
 * ("debug id").
 */
#pragma once

#include "elf/elf_file.h"

enum { BREAKPAD_ID_SIZE = 34, CODE_ID_SIZE = 2 * 64 + 1 };

/* Writes the breakpad id, 33 characters and a NUL: the first 16 bytes of the build id, zero padded, as a GUID with
 * byte-swapped first three fields (4, 2 and 2 bytes: little-endian files), in upper-case hex, then "0" for the age. */
void write_breakpad_id(const unsigned char *build_id, size_t size, char out[BREAKPAD_ID_SIZE]);

/* Writes the build id as lower-case hex, truncated to 64 bytes. */
void write_code_id(const unsigned char *build_id, size_t size, char out[CODE_ID_SIZE]);

/* Computes an id for a file without a build id: the first 4096 bytes of .text, folded into 16 by XOR, as Breakpad's
 * dump_syms does. Returns false if the file has no .text. */
bool compute_text_id(const struct elf_file *file, unsigned char id[16]);
