/*
 * The DWARF sections of one ELF file, and the list of its units. Read-only, and shared by all threads.
 *
 * Why libdw (libdw_reader.h) is not the first reader: a Dwarf handle serves one thread, and keeps all decoded data
 * until the handle is closed. So several threads need several handles, each with a copy of the sections. With this
 * reader, a thread reads one unit with pread(), walks its DIEs for the requested addresses, and frees the unit. In one
 * run on 120 MB of .debug_info, with one thread each: libdw 1.4 s and 347 MB for ranges and line tables; this reader
 * 0.4 s and 31 MB for names, inlines and lines of 10,000 addresses (four threads: 0.2 s; llvm-symbolizer: 1.7 s).
 *
 * Formats: DWARF 2 to 5 (dwarfstd.org); section numbers below refer to version 5.
 */
#pragma once

#include "base/error.h"
#include "elf/elf_file.h"
#include "symbol/dwarf_sections.h"

/* Reads section headers and unit headers. `file` must stay open. A file without .debug_info has 0 units. Returns
 * -EINVAL when a section cannot be read, or -ENOTSUP when the file is big-endian, each with a sentence. */
int dwarf_file_open(struct dwarf_file *dwarf, const struct elf_file *file, struct error *err);
void dwarf_file_close(struct dwarf_file *dwarf);

/* Finds the sections of a file, and decompresses them if needed. The caller frees the memory in `owned`. `split`: reads
 * the sections of a .dwo or .dwp file, whose names end with ".dwo". */
int dwarf_sections_load(struct bytes sections[DWARF_SECTIONS], unsigned char *owned[DWARF_SECTIONS],
                        const struct elf_file *file, bool split, struct error *err);

/* Reads the unit headers of split debug info: of a .dwo file, or of one unit in a package. `sections` are the sections
 * of the file with split debug info, and `linked` is the file with the skeletons. `sections` and `linked` must outlive
 * `dwarf`. */
int dwarf_file_open_split(struct dwarf_file *dwarf, const struct bytes sections[DWARF_SECTIONS],
                          const struct dwarf_file *linked, struct error *err);

/* Returns the unit that contains this offset of .debug_info, or NULL. */
const struct dwarf_unit *dwarf_file_find_unit(const struct dwarf_file *dwarf, uint64_t offset);

enum { DWARF_NO_UNIT = UINT32_MAX };

/* Finds for each of `count` sorted vaddrs the index of the compile unit with code there, or DWARF_NO_UNIT. Reads
 * .debug_aranges, and the ranges of root DIEs for units that .debug_aranges does not list (clang and rustc write none)
 * and for addresses without a unit. */
void dwarf_file_find_units(struct dwarf_file *dwarf, const uint64_t *vaddrs, size_t count, uint32_t *units);
