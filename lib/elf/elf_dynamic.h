/*
 * Sections of a file without section headers (sstrip, some packers, and files whose end is missing): what the dynamic
 * loader needs is in the segments all the same.
 */
#pragma once

#include "base/error.h"
#include "elf/elf_headers.h"

/* Adds sections to `file`, which has its segments and no sections: .dynsym and .dynstr, as PT_DYNAMIC says where they
 * are, and a .text for each executable segment. Adds none if there are no dynamic symbols. Section numbers of symbols
 * mean nothing then: file->are_sections_made is set. Returns 0, or -ENOMEM. */
int elf_dynamic_make_sections(struct elf_file *file, struct error *err);
