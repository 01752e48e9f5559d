/*
 * The two names that symbol servers know a library by: its GNU build id in hex ("code id"), and the same id in the form
 * of Breakpad ("debug id").
 */
#ifndef PROF_SYMBOL_LIBRARY_ID_H
#define PROF_SYMBOL_LIBRARY_ID_H

#include "elf/elf_file.h"

#include <stddef.h>

enum { BREAKPAD_ID_SIZE = 34, CODE_ID_SIZE = 2 * 64 + 1 };

/* Writes the breakpad id (33 characters and a NUL): the first 16 bytes of the build id, zero padded, as a GUID whose
 * first three fields are byte-swapped (4, 2 and 2 bytes: little-endian files), upper-case hex, then "0" for the age. */
void library_breakpad_id(const unsigned char *build_id, size_t size, char out[BREAKPAD_ID_SIZE]);

/* Writes the whole build id as lower-case hex; an id longer than 64 bytes is cut. */
void library_code_id(const unsigned char *build_id, size_t size, char out[CODE_ID_SIZE]);

/* The id that stands for the build id of a file that has none: its first 4096 bytes of .text, folded into 16 by XOR, as
 * Breakpad's dump_syms does. False if it has no .text. */
bool library_text_id(const struct elf_file *file, unsigned char id[16]);

#endif
