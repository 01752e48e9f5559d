/*
 * Where the symbols and debug info of a library are: in the mapped file itself, in a file of the build-id directories,
 * in the one that .gnu_debuglink names, in a dwz file, in .gnu_debugdata.
 */
#ifndef PROF_SYMBOL_DEBUG_FILE_H
#define PROF_SYMBOL_DEBUG_FILE_H

#include "symbol/elf_file.h"
#include "symbol/symbol.h"

#define DEBUG_ROOT "/usr/lib/debug"

/* The files of one library. Any of them may be missing. */
struct debug_files {
    struct elf_file mapped, separate, alternate, mini;
    bool has_mapped, has_separate, has_alternate, has_mini;
    uint64_t base; /* vaddr from which rvas count */
    const char *debug_root;
    char problem[256];
};

/* Finds and opens what there is. A file counts only if its build id is that of `lib`, or, for .gnu_debuglink without a
 * build id, if its CRC is right. Why something is missing is said in `problem`. `debug_root` is where distributions put
 * debug files: DEBUG_ROOT but in tests. */
void debug_files_open(struct debug_files *files, const struct symbol_lib *lib, const char *debug_root);
void debug_files_close(struct debug_files *files);

/* The file that has .debug_info, or NULL. */
const struct elf_file *debug_files_dwarf(const struct debug_files *files);

#endif
