/*
 * The files with a library's symbols and debug info: the mapped file itself, a separate debug file, the dwz file that
 * several debug files share, the symbols in .gnu_debugdata.
 *
 * prof uses a file only if the file certainly belongs to the mapped file, because it has the library's build id. If the
 * library has no build id, prof uses only the unchanged mapped file itself, or a file with the checksum in
 * .gnu_debuglink. prof reports any other file, and does not use it.
 */
#pragma once

#include "elf/elf_file.h"
#include "symbol/debug_search.h"
#include "symbol/symbol.h"

/* The files of one library. Each may be missing. */
struct debug_files {
    struct elf_file mapped, separate, alternate, mini;
    bool has_mapped, has_separate, has_alternate, has_mini;
    uint64_t base; /* vaddr of rva 0 */
    const struct symbol_lib *lib;
    const struct debug_search *search;
    enum missing_symbols_reason missing_symbols; /* reason why prof cannot use the mapped file */
    char problem[256];                           /* the reason, or the name of another missing file, as a sentence */
};

/* Finds and opens the files of an ELF library or of the kernel image, which has no mapped file but may have a debug
 * file. If no file has debug info and `search` has servers, requests debug info from the servers. If `search` is NULL,
 * searches the system's directories. `lib` and `search` must outlive the files. */
void debug_files_open(struct debug_files *files, const struct symbol_lib *lib, const struct debug_search *search);
void debug_files_close(struct debug_files *files);

/* Returns the file with .debug_info, or NULL. */
const struct elf_file *debug_files_get_dwarf(const struct debug_files *files);

/* Whether the library's path no longer leads to the mapped file: somebody deleted or replaced it. Returns false if prof
 * cannot check the path (in the root directory of a container). */
bool debug_file_is_replaced(const struct symbol_lib *lib);

/* Opens the file with the machine code of a library: the mapped file, a copy in a directory of the user, or the file of
 * a server. The file of the kernel is vmlinux (the kernel patches some of its code at boot). Opens debug info only if
 * the same file contains the debug info. Returns 0, or a negative errno value with a sentence. */
int debug_file_open_code(struct elf_file *file, const struct symbol_lib *lib, const struct debug_search *search,
                         struct error *err);
