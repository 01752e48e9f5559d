/*
 * Makes sections for a file without section headers (sstrip, some packers, truncated files): the segments still have
 * everything that the dynamic loader needs.
 */
#pragma once

#include "base/error.h"
#include "elf/elf_headers.h"

/* Adds sections to `file`, which has its segments and no sections: .dynsym and .dynstr from PT_DYNAMIC, and a .text for
 * each executable segment. A file without dynamic symbols gets no sections. Sets file->are_sections_made, after which
 * section numbers in symbols have no meaning. Returns 0, or -ENOMEM. */
int elf_dynamic_make_sections(struct elf_file *file, struct error *err);
