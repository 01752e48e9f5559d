/*
 * Opens ELF files for libdw, and refuses files that libdw cannot read in bounded time and memory. Private to
 * libdw_reader.c.
 */
#pragma once

#include "base/error.h"
#include "elf/elf_file.h"

#include <libelf.h>

enum { LIBDW_SECTIONS_MAX = 1 << 30 /* bytes of all debug sections, decompressed */ };

/* Opens the file that `file` was read from, or its copy in memory. The caller ends *elf and closes *fd, also after a
 * failure. -E2BIG if its debug info is larger than LIBDW_SECTIONS_MAX. */
int libdw_elf_open(const struct elf_file *file, Elf **elf, int *fd, struct error *err);

/* Whether each string section ends with a NUL: libdw 0.188 reads past the end of other sections. Call this function
 * after libdw has unpacked the sections. NULL: true. */
bool libdw_elf_has_terminated_texts(Elf *elf);
