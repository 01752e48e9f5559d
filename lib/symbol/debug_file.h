/*
 * The files with the symbols and debug info of a library: the mapped file itself, a separate debug file, the dwz file
 * that several debug files share, the symbols in .gnu_debugdata.
 *
 * A file counts only if it is certain to belong to what was mapped: its build id is that of the library; or, where the
 * library has none, it is the very file that was mapped, unchanged, or the one whose checksum .gnu_debuglink gives.
 * Everything else is noticed, said, and not used.
 */
#ifndef PROF_SYMBOL_DEBUG_FILE_H
#define PROF_SYMBOL_DEBUG_FILE_H

#include "elf/elf_file.h"
#include "symbol/debug_search.h"
#include "symbol/symbol.h"

/* The files of one library. Any of them may be missing. */
struct debug_files {
    struct elf_file mapped, separate, alternate, mini;
    bool has_mapped, has_separate, has_alternate, has_mini;
    uint64_t base; /* vaddr from which rvas count */
    const struct symbol_lib *lib;
    const struct debug_search *search;
    enum missing_symbols_reason missing_symbols; /* why the mapped file is not used */
    char problem[256];                           /* the same, or what else is missing, as a sentence */
};

/* Finds and opens what there is of an ELF library or the kernel's image (which has no mapped file, but may have a
 * separate one). Asks servers only if `search` (NULL: the system's folders) has one and there is no debug info here.
 * `lib` and `search` must outlive the files. */
void debug_files_open(struct debug_files *files, const struct symbol_lib *lib, const struct debug_search *search);
void debug_files_close(struct debug_files *files);

/* The file that has .debug_info, or NULL. */
const struct elf_file *debug_files_dwarf(const struct debug_files *files);

/* Whether the path of the library does not lead to the file any more that was kept open since it was mapped: it was
 * deleted, or another one took its place. False where that cannot be told (in the root folder of a container). */
bool debug_file_has_gone(const struct symbol_lib *lib);

/* Opens the file with the code of a library, and with no debug info unless that is in it: the mapped one, a copy in a
 * folder that the user names, the one of a server; the vmlinux of the kernel, which patches some of its code when it
 * starts. Returns 0 or a negative errno value with a sentence. */
int debug_file_open_code(struct elf_file *file, const struct symbol_lib *lib, const struct debug_search *search,
                         struct error *err);

#endif
