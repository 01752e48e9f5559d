/* What a section holds once it is decompressed and relocated. */
#pragma once

#include "elf/elf_file.h"

/* The contents of a section, decompressed (zlib, zstd) and relocated (elf_relocate.h) where need be: then `*owned` is
 * memory that the caller frees after the last use, else it is NULL. Empty if there is no such section, or if it cannot
 * be decompressed (`err` says why). */
struct bytes elf_file_contents(const struct elf_file *file, const char *name, unsigned char **owned, struct error *err);

/* Bytes of these contents, as the file claims; 0 if there is no such section. */
uint64_t elf_file_contents_size(const struct elf_file *file, const char *name);
