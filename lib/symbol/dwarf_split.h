/*
 * Split debug info. With -gsplit-dwarf a linked file has only a skeleton of each compile unit: its addresses, its line
 * table, and the location of the rest. The DIEs are in .dwo files beside the object files, or in one package, a .dwp
 * file beside the program. Formats: DWARF 5, 3.1.2, 3.1.3 and 7.3; DWARF 4, https://gcc.gnu.org/wiki/DebugFission.
 *
 * A skeleton and its split unit share an id, which the compiler computes as a hash of the unit. prof ignores split
 * units with another id, because object files are rebuilt while old programs still run.
 */
#pragma once

#include "symbol/debug_search.h"
#include "symbol/dwarf_file.h"
#include "symbol/dwarf_unit.h"

/* A .dwo or .dwp file. Threads may share the struct, because nothing changes it. */
struct dwarf_split_file {
    struct elf_file elf;
    struct bytes sections[DWARF_SECTIONS];
    unsigned char *owned[DWARF_SECTIONS];
    struct bytes index; /* .debug_cu_index of a package */
    unsigned char *owned_index;
};

/* -EINVAL if the file has no split debug info or is damaged. */
int dwarf_split_file_open_image(struct dwarf_split_file *file, const void *image, size_t size, struct error *err);
void dwarf_split_file_close(struct dwarf_split_file *file);

/* Opens the split units inside `skeletons`, the file with the skeletons. If `skeletons` contains none, opens the
 * package of a library: its path plus ".dwp", this file name in one of the user's directories, or a package beside
 * `skeletons`, which may be a debug file: foo.debug.dwp, foo.dwp. Returns false if none exists. */
bool dwarf_split_find_package(struct dwarf_split_file *package, const struct symbol_lib *lib,
                              const struct elf_file *skeletons, const struct debug_search *search);

/* The split unit of one skeleton. Not to be moved. */
struct dwarf_split_unit {
    struct dwarf_split_file own; /* the .dwo file, if the unit is not in a package */
    bool has_own;
    struct dwarf_file dwarf;
    struct dwarf_unit_reader reader;
    uint64_t work_done; /* cost of the search for the unit, in steps of dwarf_count_work() */
};

/* Opens the skeleton's split unit in `file`. Returns -ENOENT if `file` lacks the unit. Adds to work_done. */
int dwarf_split_unit_open_in(struct dwarf_split_unit *split, const struct dwarf_split_file *file,
                             const struct dwarf_unit_reader *skeleton, struct error *err);

/* Searches for the skeleton's split unit
 *  - in `package` (may be NULL),
 *  - in the user's directories, under the name in the skeleton, with and without the directories of the name,
 *  - under the name in the compilation directory,
 *  - and beside the library, with and without the directories of the name.
 * -ENOENT if none exists, or only files with other ids; `err` names the missing file. Do not close the unit after a
 * failure. */
int dwarf_split_unit_open(struct dwarf_split_unit *split, struct dwarf_unit_reader *skeleton,
                          const struct dwarf_split_file *package, const struct symbol_lib *lib,
                          const struct debug_search *search, struct error *err);
void dwarf_split_unit_close(struct dwarf_split_unit *split);
