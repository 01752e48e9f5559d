/* The contents of a section, decompressed and relocated. */
#pragma once

#include "elf/elf_file.h"

/* The contents of a section, decompressed (zlib, zstd) and relocated (elf_relocate.h) if needed. `*owned` is the memory
 * of a decompressed or relocated section, which the caller frees after the last use, or NULL. Returns no bytes if the
 * section does not exist or cannot be decompressed (`err` has the reason). */
struct bytes elf_file_load_contents(const struct elf_file *file, const char *name, unsigned char **owned,
                                    struct error *err);

/* Returns the size of the decompressed section as the file claims, or 0 if the section does not exist. */
uint64_t elf_file_read_contents_size(const struct elf_file *file, const char *name);
