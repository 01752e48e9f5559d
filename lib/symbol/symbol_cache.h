/*
 * What is known already of the addresses of libraries: from earlier lookups of this symbolizer, and from the files of
 * earlier runs. Used by symbolizer.c alone, from several threads.
 */
#ifndef PROF_SYMBOL_SYMBOL_CACHE_H
#define PROF_SYMBOL_SYMBOL_CACHE_H

#include "symbol/debug_file.h"
#include "symbol/symbol.h"

struct kallsyms;
struct symbol_cache;

/* `folder` is where files are kept ("/home/me/.cache/prof"); NULL, or a folder that cannot be used, for a cache in
 * memory alone. NULL with `err` filled if memory runs out. */
struct symbol_cache *symbol_cache_new(const char *folder, struct error *err);

/* Writes the libraries that have grown to files; that one cannot be written is no failure. NULL is allowed. */
void symbol_cache_free(struct symbol_cache *cache);

/* The functions of a kernel (`lib`, of kind SYMBOL_LIB_KERNEL) that were saved: reading them anew from /proc/kallsyms
 * takes the kernel 40 ms. False if there are none; else the caller destroys `kallsyms`. */
bool symbol_cache_load_kernel(const struct symbol_cache *cache, const struct symbol_lib *lib,
                              struct kallsyms *kallsyms);
void symbol_cache_save_kernel(const struct symbol_cache *cache, const struct symbol_lib *lib,
                              const struct kallsyms *kallsyms);

/* What is known of one library, for the time of one lookup. All zero: nothing, and nothing can be added. */
struct cached_library {
    struct symbol_cache *cache;
    struct cache_entry *entry;
    uint64_t sources;          /* the files that are open */
    bool has_files, has_dwarf; /* any; one with DWARF */
};

/* Before any file of the library is opened: by the build id that was recorded. Only answers from DWARF count, which
 * no file that could be there by now can make better. */
struct cached_library symbol_cache_open(struct symbol_cache *cache, const struct symbol_lib *lib);

/* Once its files are open (none, for the kernel's symbols): answers count if they came from the same files, or from
 * better ones than there are now. */
void cached_library_set_files(struct cached_library *library, struct symbol_cache *cache, const struct symbol_lib *lib,
                              const struct debug_files *files);

/* Fills the zeroed `answers` with what is known of sorted rvas, and lists the indexes of the others in `missing`, which
 * has `count` elements. Sets is_found and has_debug_info if any is known. Fails only when memory runs out. */
int cached_library_answer(const struct cached_library *library, const uint64_t *rvas, size_t count,
                          struct symbol_answers *answers, uint32_t *missing, size_t *missing_count, struct error *err);

/* Adds what was looked up in the library's files, as cache_table_add() does; nothing if the table is of others. */
void cached_library_add(const struct cached_library *library, const uint64_t *rvas, const uint32_t *sizes,
                        const struct symbol_answers *answers);

void cached_library_close(struct cached_library *library);

#endif
